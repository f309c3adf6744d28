//! Whether the expanded tables are the objects of the real server, field by field.

use std::collections::BTreeMap;

use flyball_rbac::bootstrap::{Policy, policy};
use flyball_rbac::{ClusterRole, ClusterRoleBinding, Role, RoleBinding, aggregate};
use serde_json::Value;

const GOLDEN: &str = include_str!("v1.36.4.jsonl");

type Place = (String, String, String);

fn place(object: &Value) -> Place {
    let text = |pointer| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let texts = (
        text("/kind"),
        text("/metadata/namespace"),
        text("/metadata/name"),
    );
    (texts.0.to_owned(), texts.1.to_owned(), texts.2.to_owned())
}

fn golden() -> BTreeMap<Place, Value> {
    let objects = GOLDEN
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    objects
        .map(|object: Value| (place(&object), object))
        .collect()
}

fn documents(policy: &Policy) -> Vec<Value> {
    let mut documents = Vec::new();
    documents.extend(policy.cluster_roles.iter().map(ClusterRole::document));
    documents.extend(policy.roles.iter().map(Role::document));
    documents.extend(
        policy
            .cluster_role_bindings
            .iter()
            .map(ClusterRoleBinding::document),
    );
    documents.extend(policy.role_bindings.iter().map(RoleBinding::document));
    documents
}

/// Lets every role that collects rules collect until nothing changes, as the controller does.
fn settle(roles: &mut [ClusterRole]) {
    for _ in 0..roles.len() {
        let before = roles.to_vec();
        for role in roles.iter_mut() {
            if let Some(rules) = aggregate(role, &before).unwrap() {
                role.rules = rules;
            }
        }
    }
}

#[test]
fn the_tables_expand_to_exactly_what_kube_apiserver_creates() {
    let golden = golden();
    assert_eq!(golden.len(), 133);
    let mut policy = policy();
    settle(&mut policy.cluster_roles);
    let documents = documents(&policy);
    assert_eq!(documents.len(), golden.len());
    for document in documents {
        let place = place(&document);
        let expected = golden.get(&place);
        assert_eq!(Some(&document), expected, "{place:?}");
    }
}

#[test]
fn roles_that_collect_rules_start_without() {
    let policy = policy();
    let collects = |role: &&ClusterRole| role.aggregation_rule.is_some();
    let mut names = Vec::new();
    for role in policy.cluster_roles.iter().filter(collects) {
        assert!(role.rules.is_empty());
        names.push(role.metadata.name.as_str());
    }
    assert_eq!(names, ["admin", "edit", "view"]);
}

#[test]
fn the_views_hold_every_field_of_every_object() {
    for (place, object) in golden() {
        let text = object.to_string();
        let again = match place.0.as_str() {
            "Role" => serde_json::from_str::<Role>(&text).unwrap().document(),
            "ClusterRole" => serde_json::from_str::<ClusterRole>(&text)
                .unwrap()
                .document(),
            "RoleBinding" => serde_json::from_str::<RoleBinding>(&text)
                .unwrap()
                .document(),
            _ => serde_json::from_str::<ClusterRoleBinding>(&text)
                .unwrap()
                .document(),
        };
        assert_eq!(again, object, "{place:?}");
    }
}
