//! Accounts: one sync (cases), which changes lead to one, and what becomes of any world.

use std::sync::Arc;

use flyball_api::views::Namespace;
use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{Controller, lint};
use flyball_testkit::laws::{self, verdict};
use flyball_testkit::{Moment, Runner, World, check_cases_in};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn prepared(world: World) -> World {
    world.knowing::<ServiceAccount>()
}

fn namespace(name: &str, phase: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "status": {"phase": phase}})
}

fn account(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": namespace}})
}

#[test]
fn namespaces_get_what_their_cases_say() {
    let folder = "src/default_account/cases";
    check_cases_in(&ServiceAccountController, folder, prepared);
}

#[test]
fn a_namespace_is_looked_at_when_it_changes_or_its_account_goes() {
    fn of<T: Object>(json: Value) -> Arc<T> {
        Arc::new(T::decode(json.to_string().as_bytes()).unwrap())
    }
    let keys = |change: &Change| {
        let keys = ServiceAccountController.route(change, &Snapshot::default());
        keys.iter().map(ObjectName::to_string).collect::<Vec<_>>()
    };
    let shop = || of::<Namespace>(namespace("shop", "Active"));
    assert_eq!(keys(&Change::added(shop())), ["shop"]);
    assert_eq!(keys(&Change::updated(shop(), shop())), ["shop"]);
    assert_eq!(keys(&Change::deleted(shop())), [""; 0]);
    let own = || of::<ServiceAccount>(account("shop", "default"));
    assert_eq!(keys(&Change::added(own())), [""; 0]);
    assert_eq!(keys(&Change::deleted(own())), ["shop"]);
    let other = of::<ServiceAccount>(account("shop", "other"));
    assert_eq!(keys(&Change::deleted(other)), [""; 0]);
}

/// Runs until nothing is left to do; the number of stages that were run.
fn run(world: &mut World) -> Result<usize, String> {
    let mut stages = 0;
    let mut runner = Runner::new(ServiceAccountController, world);
    runner.run(world, &mut |moment| {
        if let Moment::Stage { actions, .. } = moment {
            stages += 1;
            match lint(actions).as_slice() {
                [] if actions.items.len() == 1 => {}
                found => return Err(format!("{found:?} in {actions:?}")),
            }
        }
        Ok(())
    })?;
    Ok(stages)
}

fn settles(states: &[(u8, bool)]) -> Result<(), String> {
    let mut world = prepared(World::default());
    let mut missing = 0;
    for (at, (phase, has_account)) in states.iter().enumerate() {
        let name = format!("n{at}");
        let phase = ["Active", "Active", "Terminating"][usize::from(phase % 3)];
        world.put(namespace(&name, phase));
        if *has_account {
            world.put(account(&name, "default"));
        } else if phase == "Active" {
            missing += 1;
        }
    }
    let stages = run(&mut world)?;
    if stages != missing {
        return Err(format!("{stages} stages for {missing} accounts"));
    }
    for (at, (phase, had_account)) in states.iter().enumerate() {
        let has = world
            .get::<ServiceAccount>(&format!("n{at}"), NAME)
            .is_some();
        if has != (*had_account || phase % 3 != 2) {
            return Err(format!("n{at}: account {has}"));
        }
    }
    match run(&mut world)? {
        0 => Ok(()),
        more => Err(format!("all is settled, and yet {more} stages")),
    }
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn any_world_is_settled_and_then_left_alone(
        states in proptest::collection::vec((any::<u8>(), any::<bool>()), 0..6),
    ) {
        verdict(settles(&states))?;
    }
}
