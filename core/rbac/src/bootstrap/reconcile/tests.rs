use super::*;
use crate::bootstrap::{AUTOUPDATE, policy};
use crate::testing::{cluster_role, cluster_role_binding, role, role_binding, role_ref, rule};
use serde_json::json;

// The cases of upstream's reconcile_role_test.go and reconcile_rolebindings_test.go.

fn marked(mut role: ClusterRole, labels: &[(&str, &str)], notes: &[(&str, &str)]) -> ClusterRole {
    role.metadata.labels = labels.iter().copied().collect();
    role.metadata.annotations = notes.iter().copied().collect();
    role
}

#[track_caller]
fn update<T>(reconciliation: Reconciliation<T>) -> T {
    match reconciliation {
        Reconciliation::Update(object) => object,
        Reconciliation::Nothing => panic!("nothing"),
        Reconciliation::Protected => panic!("protected"),
        Reconciliation::Create(_) | Reconciliation::Recreate(_) => panic!("create"),
    }
}

#[test]
fn what_is_not_there_is_created() {
    let role = cluster_role("a", &["get core: pods"]);
    assert!(matches!(
        reconcile_cluster_role(None, &role),
        Reconciliation::Create(created) if created.rules == role.rules
    ));
    let binding = cluster_role_binding("a user=eve");
    assert!(matches!(
        reconcile_cluster_role_binding(None, &binding),
        Reconciliation::Create(created) if created.subjects == binding.subjects
    ));
}

#[test]
fn missing_rules_are_added_one_by_one_and_others_stay() {
    let existing = cluster_role("a", &["get core: pods", "get core: mine"]);
    let expected = cluster_role("a", &["get,list core: pods"]);
    let updated = update(reconcile_cluster_role(Some(&existing), &expected));
    let rules = ["get core: pods", "get core: mine", "list core: pods"];
    assert_eq!(updated.rules, rules.map(rule));

    let (existing, expected) = (
        role("ns/a", &["get core: b"]),
        role("ns/a", &["get core: c"]),
    );
    let updated = update(reconcile_role(Some(&existing), &expected));
    assert_eq!(updated.rules, ["get core: b", "get core: c"].map(rule));
}

#[test]
fn rules_that_say_the_same_otherwise_are_not_missing() {
    let existing = cluster_role("a", &["* core: *"]);
    let expected = cluster_role("a", &["get core: pods"]);
    let nothing = reconcile_cluster_role(Some(&existing), &expected);
    assert!(matches!(nothing, Reconciliation::Nothing));
}

#[test]
fn missing_labels_and_annotations_are_added_and_values_stay() {
    let plain = || cluster_role("a", &["get core: pods"]);
    let existing = marked(plain(), &[("a", "mine"), ("b", "2")], &[("x", "1")]);
    let expected = marked(
        plain(),
        &[("a", "1"), ("c", "3")],
        &[("x", "1"), ("y", "2")],
    );
    let updated = update(reconcile_cluster_role(Some(&existing), &expected)).metadata;
    let labels = [("a", "mine"), ("b", "2"), ("c", "3")];
    assert_eq!(updated.labels, Labels::from_iter(labels));
    assert_eq!(
        updated.annotations,
        Labels::from_iter([("x", "1"), ("y", "2")])
    );
}

#[test]
fn an_object_that_wants_to_be_left_alone_is() {
    let existing = marked(cluster_role("a", &[]), &[], &[(AUTOUPDATE, "false")]);
    let expected = cluster_role("a", &["get core: pods"]);
    let protected = reconcile_cluster_role(Some(&existing), &expected);
    assert!(matches!(protected, Reconciliation::Protected));

    let mut existing = role_binding("ns/Role:a");
    existing.metadata.annotations = Labels::from_iter([(AUTOUPDATE, "false")]);
    for expected in ["ns/Role:a user=eve", "ns/Role:b"] {
        let protected = reconcile_role_binding(Some(&existing), &role_binding(expected));
        assert!(matches!(protected, Reconciliation::Protected));
    }
    let nothing = reconcile_role_binding(Some(&existing), &existing);
    assert!(matches!(nothing, Reconciliation::Nothing));
}

#[test]
fn missing_selectors_are_added_and_an_unexpected_aggregation_goes() {
    let with = |selectors: serde_json::Value| ClusterRole {
        aggregation_rule: serde_json::from_value(json!({"clusterRoleSelectors": selectors})).ok(),
        ..cluster_role("a", &[])
    };
    let (one, two) = (
        json!({"matchLabels": {"a": "1"}}),
        json!({"matchLabels": {"b": "2"}}),
    );
    let plain = cluster_role("a", &[]);
    for (existing, expected, result) in [
        (
            with(json!([one])),
            with(json!([two])),
            Some(with(json!([one, two]))),
        ),
        (plain.clone(), with(json!([one])), Some(with(json!([one])))),
        (with(json!([one, two])), with(json!([two])), None),
        (with(json!([one])), plain.clone(), Some(plain.clone())),
        (with(json!([])), plain.clone(), Some(plain.clone())),
        (plain.clone(), plain.clone(), None),
    ] {
        match (reconcile_cluster_role(Some(&existing), &expected), result) {
            (Reconciliation::Update(updated), Some(result)) => {
                assert_eq!(updated.aggregation_rule, result.aggregation_rule);
            }
            (Reconciliation::Nothing, None) => {}
            (other, _) => panic!("{existing:?} {expected:?}: {other:?}"),
        }
    }
}

#[test]
fn missing_subjects_are_added_once_and_others_stay() {
    let existing = cluster_role_binding("a user=mine group=g");
    let expected = cluster_role_binding("a user=eve group=g user=eve");
    let updated = update(reconcile_cluster_role_binding(Some(&existing), &expected));
    let all = cluster_role_binding("a user=mine group=g user=eve");
    assert_eq!(updated.subjects, all.subjects);
}

#[test]
fn a_binding_of_another_role_is_made_anew() {
    let existing = cluster_role_binding("a user=mine");
    let mut expected = cluster_role_binding("a user=eve");
    expected.role_ref = role_ref("ClusterRole", "b");
    let anew = reconcile_cluster_role_binding(Some(&existing), &expected);
    assert!(matches!(
        anew,
        Reconciliation::Recreate(binding) if binding.subjects == expected.subjects
    ));
}

#[test]
fn a_second_start_finds_nothing_to_do() {
    let policy = policy();
    for role in &policy.cluster_roles {
        let again = reconcile_cluster_role(Some(role), role);
        assert!(matches!(again, Reconciliation::Nothing));
        // Whatever the aggregation has put into the role meanwhile.
        let mut filled = role.clone();
        filled.rules.push(rule("get core: more"));
        let again = reconcile_cluster_role(Some(&filled), role);
        assert!(matches!(again, Reconciliation::Nothing));
    }
    for role in &policy.roles {
        assert!(matches!(
            reconcile_role(Some(role), role),
            Reconciliation::Nothing
        ));
    }
    for binding in &policy.cluster_role_bindings {
        let again = reconcile_cluster_role_binding(Some(binding), binding);
        assert!(matches!(again, Reconciliation::Nothing));
    }
    for binding in &policy.role_bindings {
        let again = reconcile_role_binding(Some(binding), binding);
        assert!(matches!(again, Reconciliation::Nothing));
    }
}
