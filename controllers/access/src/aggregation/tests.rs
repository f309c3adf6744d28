//! The cases, the laws, and which changes wake whom.

use flyball_api::{Kind, Object};
use flyball_plan::Controller;
use flyball_rbac::{ClusterRole, aggregate};
use flyball_testkit::{Lawful, World, check_cases_in};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::ClusterRoleAggregationController;

fn prepared(world: World) -> World {
    world.knowing::<ClusterRole>()
}

#[test]
fn roles_do_what_their_cases_say() {
    check_cases_in(
        &ClusterRoleAggregationController,
        "src/aggregation/cases",
        prepared,
    );
}

fn role(name: &str, labels: Value, resources: &[u8], collects: Value) -> Value {
    let rules: Vec<Value> = resources
        .iter()
        .map(|one| json!({"verbs": ["get"], "apiGroups": [""], "resources": [format!("r{one}")]}))
        .collect();
    let mut role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": {"name": name, "labels": labels}, "rules": rules,
    });
    if !collects.is_null() {
        role["aggregationRule"] = json!({"clusterRoleSelectors": collects});
    }
    role
}

/// Roles with one of two labels, some of which collect those of a lower level, so that what one
/// writes can be what the next collects, but never in a circle.
fn worlds() -> impl Strategy<Value = World> {
    let one = (
        0..3_u8,
        any::<bool>(),
        proptest::collection::vec(0..4_u8, 0..3),
    );
    proptest::collection::vec(one, 0..6).prop_map(|roles| {
        let mut world = prepared(World::default());
        for (at, (level, collects, rules)) in roles.into_iter().enumerate() {
            let labels = json!({format!("level-{level}"): "yes"});
            let collected = match (collects, level) {
                (false, _) => Value::Null,
                (true, 0) => json!([]),
                (true, level) => {
                    let below = format!("level-{}", level - 1);
                    json!([{"matchLabels": {below: "yes"}}])
                }
            };
            world.put(role(&format!("role-{at}"), labels, &rules, collected));
        }
        world
    })
}

impl Lawful for ClusterRoleAggregationController {
    const KIND: Kind = Kind::cluster(
        "rbac.authorization.k8s.io",
        "v1",
        "ClusterRole",
        "clusterroles",
    );
    const STAGE_ACTIONS_MAX: usize = 1;

    fn subject() -> Self {
        Self
    }

    fn invariants(_: &World) -> Result<(), String> {
        Ok(())
    }

    fn reached(world: &World) -> Result<(), String> {
        let all = world.list::<ClusterRole>("");
        for role in &all {
            match aggregate(role, &all) {
                Ok(Some(rules)) if rules != role.rules => {
                    return Err(format!("{} has {:?}", role.name(), role.rules));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn others(_: &mut World) {}
}

flyball_testkit::laws!(ClusterRoleAggregationController, worlds);

#[test]
fn the_kind_is_the_one_that_is_watched() {
    assert_eq!(
        <ClusterRoleAggregationController as Lawful>::KIND,
        ClusterRole::kind()
    );
    let watches = ClusterRoleAggregationController::DESCRIPTOR.watches;
    assert_eq!(watches.len(), 1);
}
