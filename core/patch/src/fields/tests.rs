use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::testing::any_json;

fn key(value: Value) -> Step {
    Step::Key(value.as_object().unwrap().clone())
}

fn set(fields: Value) -> FieldSet {
    FieldSet::from_fields_v1(&fields).unwrap()
}

/// The ideas of structured-merge-diff's `serialize_test.go`.
#[test]
fn fields_are_written_as_they_are_read() {
    let fields = json!({
        "f:spec": {
            "f:replicas": {},
            "f:ports": {
                ".": {},
                "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}},
            },
            "f:finalizers": {"v:\"a\\u003cb\"": {}, "v:1": {}, "v:true": {}, "v:null": {}},
            "f:args": {"i:0": {}, "i:-1": {}},
        },
    });
    let set = set(fields.clone());
    assert_eq!(set.to_fields_v1(), fields);
    let ports = key(json!({"containerPort": 80, "protocol": "TCP"}));
    let port = [Step::field("spec"), Step::field("ports"), ports];
    assert!(set.contains(&port));
    assert!(!set.contains(&[Step::field("spec")]));
    assert!(!set.contains(&[]));
}

#[test]
fn a_step_reads_like_a_path_in_messages() {
    for (step, text) in [
        (Step::field("spec"), ".spec"),
        (key(json!({"name": "a\"b"})), r#"[name="a\"b"]"#),
        (
            key(json!({"protocol": "TCP", "port": 80})),
            r#"[port=80,protocol="TCP"]"#,
        ),
        (Step::Value(json!("x")), r#"[="x"]"#),
        (Step::Value(json!(null)), "[=null]"),
        (Step::Index(3), "[3]"),
    ] {
        assert_eq!(step.to_string(), text);
    }
}

#[test]
fn numbers_are_the_same_however_they_are_written() {
    assert_eq!(Step::Value(json!(1)), Step::Value(json!(1.0)));
    assert_ne!(Step::Value(json!(1)), Step::Value(json!(1.5)));
    assert_ne!(Step::Value(json!(1)), Step::Value(json!("1")));
    assert_ne!(
        Step::Value(json!(9_007_199_254_740_993_i64)),
        Step::Value(json!(9_007_199_254_740_992_i64))
    );
    assert!(Step::Value(json!(-0.5)) < Step::Value(json!(0)));
}

#[test]
fn what_the_future_writes_is_skipped() {
    assert_eq!(
        set(json!({"z:new": {"f:a": {}}, "f:a": {}})),
        set(json!({"f:a": {}}))
    );
}

#[test]
fn nonsense_is_told_from_fields() {
    for fields in [
        json!([]),
        json!("f:a"),
        json!({"f:a": 5}),
        json!({"f": {}}),
        json!({"": {}}),
        json!({"fa": {}}),
        json!({"k:5": {}}),
        json!({"k:{": {}}),
        json!({"v:": {}}),
        json!({"i:x": {}}),
        json!({"ü": {}}),
    ] {
        assert!(FieldSet::from_fields_v1(&fields).is_err(), "{fields}");
    }
}

/// structured-merge-diff's `set_test.go`: what is gone takes along what is within it, or does not.
#[test]
fn a_difference_may_reach_into_what_is_gone() {
    let all = set(json!({"f:a": {".": {}, "f:b": {".": {}, "f:c": {}}}, "f:d": {}}));
    let gone = set(json!({"f:a": {"f:b": {}}}));
    assert_eq!(
        all.difference(&gone),
        set(json!({"f:a": {".": {}, "f:b": {"f:c": {}}}, "f:d": {}}))
    );
    assert_eq!(
        all.recursive_difference(&gone),
        set(json!({"f:a": {}, "f:d": {}}))
    );
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        "[ab]{1,2}".prop_map(|name| Step::field(&name)),
        any_json().prop_map(Step::Value),
        "[ab]".prop_map(|name| key(json!({"name": name, "port": 1}))),
        (0i64..3).prop_map(Step::Index),
    ]
}

fn path() -> impl Strategy<Value = Path> {
    proptest::collection::vec(step(), 1..4)
}

/// The naive model: the paths themselves.
fn paths() -> impl Strategy<Value = BTreeSet<Path>> {
    proptest::collection::btree_set(path(), 0..8)
}

fn tree(paths: &BTreeSet<Path>) -> FieldSet {
    let mut set = FieldSet::new();
    for path in paths {
        set.insert(path);
    }
    set
}

fn model(set: &FieldSet) -> BTreeSet<Path> {
    set.paths().into_iter().collect()
}

proptest! {
    #[test]
    fn a_set_is_the_paths_in_it(a in paths(), b in paths()) {
        let (set_a, set_b) = (tree(&a), tree(&b));
        prop_assert_eq!(model(&set_a), a.clone());
        prop_assert!(a.iter().all(|path| set_a.contains(path)));
        prop_assert_eq!(model(&set_a.union(&set_b)), a.union(&b).cloned().collect());
        prop_assert_eq!(
            model(&set_a.intersection(&set_b)),
            a.intersection(&b).cloned().collect()
        );
        prop_assert_eq!(
            model(&set_a.difference(&set_b)),
            a.difference(&b).cloned().collect()
        );
        let within = |path: &&Path| {
            !(1..=path.len()).any(|length| b.contains(&path[..length]))
        };
        prop_assert_eq!(
            model(&set_a.recursive_difference(&set_b)),
            a.iter().filter(within).cloned().collect()
        );
    }

    #[test]
    fn equal_sets_are_equal_trees(a in paths(), b in paths()) {
        let (set_a, set_b) = (tree(&a), tree(&b));
        prop_assert_eq!(set_a.union(&set_b), set_b.union(&set_a));
        let rest = set_a.difference(&set_b);
        prop_assert!(rest.intersection(&set_b).is_empty());
        prop_assert_eq!(rest.union(&set_a.intersection(&set_b)), set_a.clone());
        prop_assert_eq!(set_a.difference(&set_a), FieldSet::new());
    }

    #[test]
    fn sets_survive_the_wire(a in paths()) {
        let set = tree(&a);
        prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), Ok(set));
    }

    #[test]
    fn steps_have_one_order(a in step(), b in step(), c in step()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        if a <= b && b <= c {
            prop_assert!(a <= c);
        }
    }

    #[test]
    fn any_value_is_fields_or_is_not(value in any_json()) {
        if let Ok(set) = FieldSet::from_fields_v1(&value) {
            prop_assert_eq!(FieldSet::from_fields_v1(&set.to_fields_v1()), Ok(set));
        }
    }
}
