use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::error::Class;
use crate::testing::{any_json, kind};

fn merged(object: Value, patch: Value) -> Result<Value, PatchRefused> {
    strategic_merge(object, patch, kind().schema())
}

/// An object with these members in the pod's spec.
fn pod(spec: Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

fn check(object: Value, patch: Value, expected: Value) {
    let found = merged(object.clone(), patch.clone());
    assert_eq!(found, Ok(expected), "{object} patched with {patch}");
}

/// The ideas of upstream's `patch_test.go` that are about maps.
#[test]
fn members_merge_replace_and_vanish() {
    for (object, patch, expected) in [
        (
            json!({}),
            json!({"spec": {"replicas": 1}}),
            json!({"spec": {"replicas": 1}}),
        ),
        (json!({"kind": "x"}), json!({"kind": null}), json!({})),
        (
            json!({"kind": "x"}),
            json!({"status": null}),
            json!({"kind": "x"}),
        ),
        (
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
            json!({"metadata": {"labels": {"b": null, "c": "3"}}}),
            json!({"metadata": {"labels": {"a": "1", "c": "3"}}}),
        ),
        // Nulls of what is added are not kept.
        (
            json!({"metadata": {}}),
            json!({"metadata": {"labels": {"a": null, "b": "1"}}}),
            json!({"metadata": {"labels": {"b": "1"}}}),
        ),
        (
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": {"$patch": "replace", "b": "2"}}}),
            json!({"metadata": {"labels": {"b": "2"}}}),
        ),
        (
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": {"$patch": "delete", "b": "2"}}}),
            json!({"metadata": {"labels": {}}}),
        ),
        // A directive for something that is not there leaves nothing.
        (
            json!({}),
            json!({"spec": {"$patch": "replace", "paused": true}}),
            json!({}),
        ),
        (
            json!({"spec": {"strategy": {"type": "a", "rollingUpdate": {"maxSurge": 1}}}}),
            json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "b"}}}),
            json!({"spec": {"strategy": {"type": "b"}}}),
        ),
        (json!({"kind": "x"}), json!(null), json!({"kind": "x"})),
        (
            json!({"kind": "x"}),
            json!({"kind": {"a": 1}}),
            json!({"kind": {"a": 1}}),
        ),
    ] {
        check(object, patch, expected);
    }
}

/// The ideas of upstream's `patch_test.go` that are about lists of maps.
#[test]
fn items_merge_by_their_key() {
    let two = || json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}]);
    for (patch, expected) in [
        (
            json!([{"name": "b", "image": "3"}]),
            json!([{"name": "a", "image": "1"}, {"name": "b", "image": "3"}]),
        ),
        (
            json!([{"name": "c"}, {"name": "a", "image": null}]),
            json!([{"name": "c"}, {"name": "a"}, {"name": "b", "image": "2"}]),
        ),
        (
            json!([{"name": "a", "$patch": "delete"}, {"name": "c"}]),
            json!([{"name": "c"}, {"name": "b", "image": "2"}]),
        ),
        (json!([{"name": "none", "$patch": "delete"}]), two()),
        (
            json!([{"$patch": "replace"}, {"name": "z"}]),
            json!([{"name": "z"}]),
        ),
        (json!([{"$patch": "replace"}]), json!([])),
        (json!([]), two()),
    ] {
        let named = |containers| pod(json!({"containers": containers}));
        check(named(two()), named(patch), named(expected));
    }
}

#[test]
fn lists_within_items_merge_too() {
    check(
        pod(json!({"containers": [{"name": "a", "env": [{"name": "x", "value": "1"}]}]})),
        pod(json!({"containers": [{"name": "a", "env": [{"name": "y"}], "command": ["c"]}]})),
        pod(json!({"containers": [
            {"name": "a", "env": [{"name": "y"}, {"name": "x", "value": "1"}], "command": ["c"]},
        ]})),
    );
}

#[test]
fn lists_without_strategy_are_replaced() {
    check(
        pod(json!({"tolerations": [{"key": "a"}]})),
        pod(json!({"tolerations": [{"key": "b"}]})),
        pod(json!({"tolerations": [{"key": "b"}]})),
    );
}

/// The ideas of upstream's `patch_test.go` that are about lists of scalars.
#[test]
fn values_are_added_and_deleted() {
    let named = |finalizers: Value| json!({"metadata": {"finalizers": finalizers}});
    check(
        named(json!(["a", "b"])),
        named(json!(["b", "c"])),
        named(json!(["a", "b", "c"])),
    );
    check(
        named(json!(["a", "b", "c"])),
        json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a", "c", "z"]}}),
        named(json!(["b"])),
    );
    check(
        named(json!(["a", "b"])),
        json!({"metadata": {
            "$deleteFromPrimitiveList/finalizers": ["a"],
            "$setElementOrder/finalizers": ["c", "b"],
            "finalizers": ["c"],
        }}),
        named(json!(["c", "b"])),
    );
    check(
        json!({}),
        json!({"$deleteFromPrimitiveList/finalizers": ["a"]}),
        json!({}),
    );
}

/// The examples of upstream's proposal to preserve order in strategic merge patches.
#[test]
fn a_patch_can_set_the_order() {
    let named = |names: &[&str]| -> Value {
        names
            .iter()
            .map(|name| json!({"name": name}))
            .collect::<Vec<_>>()
            .into()
    };
    let live = || pod(json!({"containers": named(&["a", "b", "c", "x"])}));
    for (order, patch, expected) in [
        (named(&["c", "b", "a"]), None, named(&["c", "b", "a", "x"])),
        (named(&["b", "a"]), None, named(&["b", "a", "c", "x"])),
        (
            named(&["d", "a"]),
            Some(named(&["d"])),
            named(&["d", "a", "b", "c", "x"]),
        ),
    ] {
        let mut spec = json!({"$setElementOrder/containers": order});
        if let Some(patch) = patch {
            spec["containers"] = patch;
        }
        check(live(), pod(spec), pod(json!({"containers": expected})));
    }
    // An item that takes the place of another comes behind those that stay.
    check(
        pod(json!({"containers": named(&["b", "c"])})),
        pod(json!({
            "$setElementOrder/containers": named(&["d", "a"]),
            "containers": [{"name": "c", "$patch": "delete"}, {"name": "d"}],
        })),
        pod(json!({"containers": named(&["b", "d"])})),
    );
    check(
        pod(json!({})),
        pod(json!({
            "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
            "containers": [{"name": "b"}, {"name": "a"}],
        })),
        pod(json!({"containers": [{"name": "b"}, {"name": "a"}]})),
    );
}

/// What kube-apiserver v1.36.4 answers to these.
#[test]
fn mistakes_are_told_in_the_words_of_upstream() {
    let live = || {
        json!({
            "metadata": {"finalizers": ["a"]},
            "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}},
        })
    };
    for (patch, class, message) in [
        (
            pod(json!({"containers": [{"image": "x"}]})),
            Class::Unclassified,
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            json!({"spec": {"$patch": "frob", "replicas": 2}}),
            Class::Unclassified,
            "unknown patch type: frob in map: map[$patch:frob replicas:2]",
        ),
        (
            json!({"spec": {"$patch": 5}}),
            Class::Unclassified,
            "unknown patch type: %!s(int64=5) in map: map[$patch:5]",
        ),
        (
            pod(json!({"containers": [{"$patch": "merge", "name": "c"}]})),
            Class::Unclassified,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            pod(json!({"containers": [{"$patch": "delete"}]})),
            Class::Unclassified,
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            pod(json!({"containers": ["x"]})),
            Class::Unclassified,
            "list element types are not identical: [[map[image:i name:c]] [x]]",
        ),
        (
            json!({"spec": {"$retainKeys": ["replicas"], "paused": true}}),
            Class::BadRequest,
            "invalid patch format of retainKeys",
        ),
        (
            json!({"spec": {"$retainKeys": 5}}),
            Class::BadRequest,
            "invalid patch format of retainKeys",
        ),
        (
            pod(json!({
                "$setElementOrder/containers": [{"name": "z"}],
                "containers": [{"name": "c", "image": "q"}],
            })),
            Class::Unclassified,
            "The order in patch list:\n[map[image:q name:c]]\n doesn't match $setElementOrder \
             list:\n[map[name:z]]\n",
        ),
        (
            pod(json!({"$setElementOrder/containers": 5})),
            Class::Unclassified,
            "expected a []interface {}, but received a int64",
        ),
        (
            pod(json!({"$setElementOrder/bogus": [{"a": 1}]})),
            Class::Unclassified,
            "unable to find api field in struct PodSpec for the json field \"bogus\"",
        ),
        (
            json!({"metadata": {"$deleteFromPrimitiveListfinalizers": ["x"]}}),
            Class::BadRequest,
            "invalid patch format of primitive list",
        ),
        (
            json!({"metadata": {"$setElementOrder": []}}),
            Class::BadRequest,
            "invalid patch format of setElementOrder list",
        ),
        (
            json!([]),
            Class::BadRequest,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
    ] {
        let refused = merged(live(), patch.clone()).unwrap_err();
        assert_eq!(
            (refused.class, refused.message.as_str()),
            (class, message),
            "{patch}"
        );
    }
}

#[test]
fn lists_of_lists_are_refused() {
    let live = json!({"metadata": {"finalizers": [["a"]]}});
    let refused = merged(live, json!({"metadata": {"finalizers": [["b"]]}})).unwrap_err();
    assert_eq!(refused.class, Class::Invalid);
    assert_eq!(refused.detail, "lists of lists are not supported");
}

/// The patch that leads from one object to another, in the simplest way there is.
fn difference(from: &Value, to: &Value) -> Value {
    let (Some(from), Some(to)) = (from.as_object(), to.as_object()) else {
        return to.clone();
    };
    let mut patch = Members::new();
    for name in from.keys().filter(|name| !to.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, wanted) in to {
        match (from.get(name), wanted) {
            (Some(there), wanted) if there == wanted => {}
            (Some(Value::Array(there)), Value::Array(wanted)) if name == "containers" => {
                let order: Vec<Value> = wanted
                    .iter()
                    .map(|item| json!({"name": item["name"]}))
                    .collect();
                let changed = wanted.iter().map(|item| {
                    let there = there.iter().find(|there| there["name"] == item["name"]);
                    let mut change = difference(there.unwrap_or(&Value::Null), item);
                    change["name"] = item["name"].clone();
                    change
                });
                let gone = there
                    .iter()
                    .filter(|there| wanted.iter().all(|item| item["name"] != there["name"]))
                    .map(|there| json!({"name": there["name"], "$patch": "delete"}));
                let items: Vec<Value> = changed.chain(gone).collect();
                patch.insert(format!("{SET_ORDER}/{name}"), order.into());
                patch.insert(name.clone(), items.into());
            }
            (Some(Value::Array(there)), Value::Array(wanted)) if name == "finalizers" => {
                let gone: Vec<Value> = there
                    .iter()
                    .filter(|value| !wanted.contains(value))
                    .cloned()
                    .collect();
                if !gone.is_empty() {
                    patch.insert(format!("{DELETE_FROM_LIST}/{name}"), gone.into());
                }
                patch.insert(format!("{SET_ORDER}/{name}"), wanted.clone().into());
                patch.insert(name.clone(), wanted.clone().into());
            }
            (there, wanted) => {
                let change = difference(there.unwrap_or(&Value::Null), wanted);
                patch.insert(name.clone(), change);
            }
        }
    }
    Value::Object(patch)
}

/// An object with some labels, finalizers and containers.
fn object() -> impl Strategy<Value = Value> {
    let labels = proptest::collection::btree_map("[a-d]", "[xy]", 0..4);
    let finalizers = proptest::sample::subsequence(vec!["a", "b", "c", "d"], 0..4).prop_shuffle();
    let names = proptest::sample::subsequence(vec!["a", "b", "c", "d"], 0..4).prop_shuffle();
    let container = (
        proptest::option::of("[xy]"),
        proptest::option::of(proptest::collection::vec("[xy]", 0..3)),
    );
    let containers = names.prop_flat_map(move |names| {
        let count = names.len();
        (
            Just(names),
            proptest::collection::vec(container.clone(), count),
        )
    });
    (labels, finalizers, containers).prop_map(|(labels, finalizers, (names, rest))| {
        let containers: Vec<Value> = names
            .iter()
            .zip(rest)
            .map(|(name, (image, command))| {
                let item = json!({"name": name, "image": image, "command": command});
                without_null_members(item)
            })
            .collect();
        let mut object = pod(json!({"containers": containers}));
        object["metadata"] = json!({"labels": labels, "finalizers": finalizers});
        object
    })
}

fn without_null_members(value: Value) -> Value {
    crate::merge_patch::without_nulls(&value)
}

/// The one object of Kubernetes that is marked so.
#[test]
fn the_selector_of_a_disruption_budget_is_set_as_a_whole() {
    let budget = flyball_schema::builtin().kind("policy", "v1", "PodDisruptionBudget");
    let selecting = |labels: Value| json!({"spec": {"selector": {"matchLabels": labels}}});
    let merged = strategic_merge(
        selecting(json!({"a": "1"})),
        selecting(json!({"b": "2"})),
        budget.unwrap(),
    );
    assert_eq!(merged, Ok(selecting(json!({"b": "2"}))));
}

proptest! {
    #[test]
    fn the_difference_between_two_objects_leads_from_one_to_the_other(
        from in object(),
        to in object(),
    ) {
        let patch = difference(&from, &to);
        prop_assert_eq!(merged(from, patch.clone()), Ok(to), "{}", patch);
    }

    #[test]
    fn merging_twice_is_merging_once(from in object(), to in object()) {
        let once = merged(from, to.clone());
        if let Ok(once) = once {
            prop_assert_eq!(merged(once.clone(), to), Ok(once));
        }
    }

    #[test]
    fn any_object_and_any_patch_have_an_answer(object in any_json(), patch in any_json()) {
        let _ = merged(object.clone(), patch.clone());
        let _ = merged(pod(json!({"containers": object})), pod(json!({"containers": patch})));
    }

    #[test]
    fn directives_may_hold_anything(
        value in any_json(),
        list in any_json(),
        name in proptest::sample::select(vec![
            "$patch", "$retainKeys", "$setElementOrder/containers", "$setElementOrder/",
            "$deleteFromPrimitiveList/containers", "$deleteFromPrimitiveList/",
        ]),
    ) {
        let mut spec = json!({"containers": list});
        spec[name] = value;
        let live = pod(json!({"containers": [{"name": "a"}]}));
        let _ = merged(live, pod(spec));
    }
}
