use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fields::FieldSet;
use crate::testing::{any_json, kind};

fn set(fields: Value) -> FieldSet {
    FieldSet::from_fields_v1(&fields).unwrap()
}

fn pod(spec: Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

/// The field set of [`pod`].
fn pod_fields(fields: Value) -> FieldSet {
    set(json!({"f:spec": {"f:template": {"f:spec": fields}}}))
}

/// The ideas of structured-merge-diff's `toset_test.go`.
#[test]
fn a_value_sets_its_leaves() {
    let kind = kind();
    for (value, fields) in [
        (json!({}), json!({})),
        (
            json!({"spec": {"replicas": 1, "paused": null}}),
            json!({"f:spec": {"f:replicas": {}, "f:paused": {}}}),
        ),
        (
            json!({"spec": {"strategy": {}, "template": null}}),
            json!({"f:spec": {"f:strategy": {}, "f:template": {}}}),
        ),
        (
            json!({"metadata": {"labels": {"a": "b"}, "finalizers": ["x", "y"], "ownerReferences": []}}),
            json!({"f:metadata": {
                "f:labels": {"f:a": {}},
                "f:finalizers": {"v:\"x\"": {}, "v:\"y\"": {}},
            }}),
        ),
        (
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}}}),
            json!({"f:spec": {"f:selector": {}}}),
        ),
        (
            json!({"spec": {"carried": {"a": {"b": 1}}, "free": {"a": {"b": 1, "c": [1]}}}}),
            json!({"f:spec": {
                "f:carried": {},
                "f:free": {"f:a": {".": {}, "f:b": {}, "f:c": {}}},
            }}),
        ),
    ] {
        let found = leaves(TypeRef::Of(kind.schema()), &value);
        assert_eq!(found.to_fields_v1(), fields, "{value}");
    }
}

#[test]
fn items_are_told_apart_by_their_keys_and_defaults() {
    let kind = kind();
    let value = pod(json!({"containers": [
        {"name": "a", "ports": [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]},
        {"image": "nameless", "command": ["x"]},
    ]}));
    let found = leaves(TypeRef::Of(kind.schema()), &value);
    assert_eq!(
        found,
        pod_fields(json!({"f:containers": {
            "k:{\"name\":\"a\"}": {
                ".": {},
                "f:name": {},
                "f:ports": {
                    "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}},
                    "k:{\"containerPort\":80,\"protocol\":\"UDP\"}": {
                        ".": {}, "f:containerPort": {}, "f:protocol": {},
                    },
                },
            },
            "k:{\"name\":\"\"}": {".": {}, "f:image": {}, "f:command": {}},
        }}))
    );
}

#[test]
fn of_items_that_cannot_be_told_apart_nothing_within_is_owned() {
    let kind = kind();
    let value =
        pod(json!({"containers": [{"name": "a", "image": "1"}, {"name": "a"}, {"name": "b"}]}));
    let found = leaves(TypeRef::Of(kind.schema()), &value);
    assert_eq!(
        found,
        pod_fields(json!({"f:containers": {
            "k:{\"name\":\"a\"}": {},
            "k:{\"name\":\"b\"}": {".": {}, "f:name": {}},
        }}))
    );
}

/// What kube-apiserver v1.36.4 says of these, and the ideas of `validate_test.go`.
#[test]
fn mistakes_are_told_with_their_path() {
    let kind = kind();
    for (value, message) in [
        (
            json!({"spec": {"bogus": 5}}),
            ".spec.bogus: field not declared in schema",
        ),
        (
            json!({"spec": {"replicas": "x", "paused": 5}}),
            "errors:\n  .spec.paused: expected boolean, got &{5}\n  .spec.replicas: expected \
             numeric (int or float), got string",
        ),
        (json!({"spec": 5}), ".spec: expected map, got &{5}"),
        (
            json!({"kind": 5}),
            ".kind: expected string, got &value.valueUnstructured{Value:5}",
        ),
        (
            pod(json!({"tolerations": 5, "nodeSelector": [1], "hostNetwork": "x"})),
            "errors:\n  .spec.template.spec.hostNetwork: expected boolean, got &{x}\n  \
             .spec.template.spec.nodeSelector: expected map, got &{[1]}\n  \
             .spec.template.spec.tolerations: expected list, got &{5}",
        ),
        (
            pod(json!({"containers": [{"name": "c"}, {"name": "c"}]})),
            ".spec.template.spec.containers: duplicate entries for key [name=\"c\"]",
        ),
        (
            pod(json!({"containers": [5]})),
            ".spec.template.spec.containers: element 0: associative list with keys may not have \
             non-map elements",
        ),
        (
            pod(json!({"containers": [{"name": "a"}, null]})),
            ".spec.template.spec.containers: element 1: associative list with keys may not have \
             a null element",
        ),
        (
            json!({"status": {"conditions": [{"status": "True"}]}}),
            ".status.conditions: element 0: associative list with keys has an element that omits \
             all key fields [\"type\"] (and doesn't have default values for any key fields)",
        ),
        (
            json!({"metadata": {"finalizers": [[1]]}}),
            ".metadata.finalizers: element 0: not supported: associative list with lists as \
             elements",
        ),
        (
            json!({"metadata": {"finalizers": [null]}}),
            ".metadata.finalizers: element 0: associative list without keys has an element \
             that's an explicit null",
        ),
        (
            json!({"metadata": {"finalizers": [{}]}}),
            ".metadata.finalizers: element 0: associative list without keys has an element \
             that's a map type",
        ),
        (
            json!({"metadata": {"creationTimestamp": {}}}),
            ".metadata.creationTimestamp: expected any scalar, got &{map[]}",
        ),
    ] {
        let found = validate(TypeRef::Of(kind.schema()), &value, Duplicates::Refused);
        assert_eq!(found, Err(message.to_owned()), "{value}");
    }
    let twice = pod(json!({"containers": [{"name": "c"}, {"name": "c"}]}));
    let allowed = validate(TypeRef::Of(kind.schema()), &twice, Duplicates::Allowed);
    assert_eq!(allowed, Ok(()));
}

/// The ideas of structured-merge-diff's `symdiff_test.go`.
#[test]
fn differences_are_removed_modified_or_added() {
    let kind = kind();
    for (before, after, removed, modified, added) in [
        (json!({}), json!({}), json!({}), json!({}), json!({})),
        (
            json!({"spec": {"replicas": 1}}),
            json!({"spec": {"replicas": 2}}),
            json!({}),
            json!({"f:spec": {"f:replicas": {}}}),
            json!({}),
        ),
        // The same number, written otherwise.
        (
            json!({"spec": {"replicas": 1}}),
            json!({"spec": {"replicas": 1.0}}),
            json!({}),
            json!({}),
            json!({}),
        ),
        // What was not there at all is added with everything in it.
        (
            json!({}),
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({}),
            json!({}),
            json!({"f:metadata": {".": {}, "f:labels": {".": {}, "f:a": {}}}}),
        ),
        (
            json!({"metadata": {"labels": {"a": "b"}}}),
            json!({"metadata": {}}),
            json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}),
            json!({}),
            json!({}),
        ),
        (
            json!({"spec": {"selector": {"matchLabels": {"a": "b"}}}}),
            json!({"spec": {"selector": {"matchLabels": {"a": "c"}}}}),
            json!({}),
            json!({"f:spec": {"f:selector": {}}}),
            json!({}),
        ),
        // Null and empty differ.
        (
            json!({"spec": {"strategy": null}, "metadata": {"finalizers": null}}),
            json!({"spec": {"strategy": {}}, "metadata": {"finalizers": []}}),
            json!({}),
            json!({"f:spec": {"f:strategy": {}}, "f:metadata": {"f:finalizers": {}}}),
            json!({}),
        ),
        (
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"metadata": {"finalizers": ["b", "c"]}}),
            json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}}}}),
            json!({}),
            json!({"f:metadata": {"f:finalizers": {"v:\"c\"": {}}}}),
        ),
        // An untyped value of another kind.
        (
            json!({"spec": {"free": 5}}),
            json!({"spec": {"free": {"a": 1}}}),
            json!({}),
            json!({"f:spec": {"f:free": {}}}),
            json!({"f:spec": {"f:free": {"f:a": {}}}}),
        ),
    ] {
        let found = compare(TypeRef::Of(kind.schema()), &before, &after);
        assert_eq!(found.removed.to_fields_v1(), removed, "{before} → {after}");
        assert_eq!(
            found.modified.to_fields_v1(),
            modified,
            "{before} → {after}"
        );
        assert_eq!(found.added.to_fields_v1(), added, "{before} → {after}");
    }
}

/// structured-merge-diff's `duplicates_test.go`.
#[test]
fn items_that_cannot_be_told_apart_differ_as_a_whole() {
    let kind = kind();
    let containers = |items: Value| pod(json!({"containers": items}));
    let of = TypeRef::Of(kind.schema());
    let one = containers(json!([{"name": "a", "image": "1"}]));
    let two = containers(json!([{"name": "a", "image": "1"}, {"name": "a"}]));
    let item = |fields: Value| pod_fields(json!({"f:containers": {"k:{\"name\":\"a\"}": fields}}));

    let changed = compare(of, &two, &containers(json!([{"name": "a"}, {"name": "a"}])));
    assert_eq!(changed.modified, item(json!({})));
    let more = compare(of, &one, &two);
    assert_eq!(more.added, item(json!({})));
    assert_eq!(
        more.removed,
        item(json!({".": {}, "f:image": {}, "f:name": {}}))
    );
    let fewer = compare(of, &two, &one);
    assert_eq!(fewer.removed, item(json!({})));
    assert_eq!(
        fewer.added,
        item(json!({".": {}, "f:image": {}, "f:name": {}}))
    );
}

/// The ideas of structured-merge-diff's `merge_test.go`.
#[test]
fn a_configuration_is_merged_into_what_is_there() {
    let kind = kind();
    let values = |items: Value| json!({"metadata": {"finalizers": items}});
    for (live, config, expected) in [
        (json!({}), json!({"kind": "x"}), json!({"kind": "x"})),
        (json!({"kind": "x"}), json!({}), json!({"kind": "x"})),
        (
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": {"b": "2"}}}),
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
        ),
        // Null does not remove: only its owner can, by not mentioning it.
        (
            json!({"metadata": {"labels": {"a": "1"}}}),
            json!({"metadata": {"labels": null}}),
            json!({"metadata": {"labels": {"a": "1"}}}),
        ),
        (
            json!({"spec": {"selector": {"matchLabels": {"a": "1"}}}}),
            json!({"spec": {"selector": {"matchLabels": {"b": "1"}}}}),
            json!({"spec": {"selector": {"matchLabels": {"b": "1"}}}}),
        ),
        (
            values(json!(["a", "b"])),
            values(json!(["c"])),
            values(json!(["a", "b", "c"])),
        ),
        (
            values(json!(["a", "b"])),
            values(json!(["b", "a"])),
            values(json!(["b", "a"])),
        ),
        (
            values(json!(["a", "b", "c", "d", "e"])),
            values(json!(["e", "c", "x"])),
            values(json!(["a", "b", "d", "e", "c", "x"])),
        ),
        (
            values(json!(["1", "2", "3", "4", "5"])),
            values(json!(["2", "a", "4", "b"])),
            values(json!(["1", "2", "3", "a", "4", "5", "b"])),
        ),
        (
            pod(json!({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})),
            pod(json!({"containers": [{"name": "a", "command": ["x"]}]})),
            pod(json!({"containers": [
                {"name": "a", "image": "1", "command": ["x"]}, {"name": "b"},
            ]})),
        ),
        (
            json!({"spec": {"free": {"a": 1}}}),
            json!({"spec": {"free": [1]}}),
            json!({"spec": {"free": [1]}}),
        ),
    ] {
        let found = merge(TypeRef::Of(kind.schema()), &live, &config);
        assert_eq!(found, expected, "{live} with {config}");
    }
}

/// The ideas of structured-merge-diff's `remove_test.go`.
#[test]
fn fields_are_taken_out_with_what_is_within_them() {
    let kind = kind();
    for (value, fields, expected) in [
        (
            json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
            json!({"f:metadata": {"f:labels": {"f:a": {}}}}),
            Some(json!({"metadata": {"labels": {"b": "2"}}})),
        ),
        (
            json!({"kind": "x", "metadata": {"labels": {"a": "1"}}}),
            json!({"f:metadata": {"f:labels": {"f:a": {}}}}),
            Some(json!({"kind": "x", "metadata": {}})),
        ),
        (json!({"kind": "x"}), json!({"f:kind": {}}), None),
        (
            json!({"metadata": {"finalizers": ["a", "b"]}}),
            json!({"f:metadata": {"f:finalizers": {"v:\"a\"": {}}}}),
            Some(json!({"metadata": {"finalizers": ["b"]}})),
        ),
        (
            pod(json!({"containers": [{"name": "a", "image": "1"}, {"name": "b"}]})),
            json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {
                "k:{\"name\":\"a\"}": {"f:image": {}}, "k:{\"name\":\"b\"}": {},
            }}}}}),
            Some(pod(json!({"containers": [{"name": "a"}]}))),
        ),
    ] {
        let found = remove(
            TypeRef::Of(kind.schema()),
            &value,
            &set(fields),
            Emptied::Absent,
        );
        assert_eq!(found, expected, "{value}");
    }
}

/// structured-merge-diff's `reconcile_schema_test.go`.
#[test]
fn who_owned_a_part_of_what_has_become_atomic_owns_all_of_it() {
    let kind = kind();
    let written = set(json!({"f:spec": {
        "f:replicas": {},
        "f:selector": {"f:matchLabels": {".": {}, "f:a": {}}},
        "f:free": {"f:a": {}},
        "f:template": {"f:spec": {"f:tolerations": {".": {}, "i:0": {}}}},
        "f:bogus": {"f:a": {}},
    }}));
    assert_eq!(
        reconcile(TypeRef::Of(kind.schema()), &written),
        set(json!({"f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:free": {"f:a": {}},
            "f:template": {"f:spec": {"f:tolerations": {}}},
            "f:bogus": {"f:a": {}},
        }}))
    );
    let whole = set(json!({"f:spec": {"f:selector": {}}}));
    assert_eq!(reconcile(TypeRef::Of(kind.schema()), &whole), whole);
}

#[test]
fn declared_fields_go_with_what_is_within_them() {
    let kind = kind();
    let fields = set(
        json!({"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:free": {"f:a": {"f:b": {}}}}}),
    );
    assert_eq!(
        with_named_fields(Some(TypeRef::Of(kind.schema())), &fields),
        set(json!({
            "f:metadata": {".": {}, "f:labels": {".": {}, "f:a": {}}},
            "f:spec": {".": {}, "f:free": {".": {}, "f:a": {"f:b": {}}}},
        }))
    );
}

proptest! {
    #[test]
    fn any_value_has_answers(a in any_json(), b in any_json(), fields in any_json()) {
        let kind = kind();
        let fields = FieldSet::from_fields_v1(&fields).unwrap_or_default();
        for (a, b) in [
            (a.clone(), b.clone()),
            (json!({"spec": {"free": a, "carried": b}}), json!({"spec": {"free": b, "carried": a}})),
            (pod(json!({"containers": a})), pod(json!({"containers": b}))),
        ] {
            let of = TypeRef::Of(kind.schema());
            let _ = validate(of, &a, Duplicates::Refused);
            let _ = leaves(of, &a);
            let _ = merge(of, &a, &b);
            let _ = remove(of, &a, &leaves(of, &b), Emptied::Null);
            let _ = reconcile(of, &fields);
            prop_assert_eq!(compare(of, &a, &a), Comparison::default());
            let there = compare(of, &a, &b);
            let back = compare(of, &b, &a);
            prop_assert_eq!(there.added, back.removed);
            prop_assert_eq!(there.removed, back.added);
            prop_assert_eq!(there.modified, back.modified);
        }
    }

    #[test]
    fn lists_merge_without_loss(
        live in proptest::sample::subsequence(vec!["a", "b", "c", "d", "e"], 0..5).prop_shuffle(),
        config in proptest::sample::subsequence(vec!["a", "b", "c", "x", "y"], 0..5).prop_shuffle(),
    ) {
        let kind = kind();
        let values = |items: &[&str]| json!({"metadata": {"finalizers": items}});
        let merged = merge(TypeRef::Of(kind.schema()), &values(&live), &values(&config));
        let merged: Vec<&str> = merged["metadata"]["finalizers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item.as_str().unwrap())
            .collect();
        let of = |names: &[&str]| -> std::collections::BTreeSet<String> {
            names.iter().map(|name| (*name).to_owned()).collect()
        };
        prop_assert_eq!(of(&merged), &of(&live) | &of(&config));
        prop_assert_eq!(merged.len(), of(&merged).len());
        let in_config: Vec<&str> =
            merged.iter().filter(|item| config.contains(item)).copied().collect();
        prop_assert_eq!(in_config, config.clone());
        let only_live: Vec<&str> =
            live.iter().filter(|item| !config.contains(item)).copied().collect();
        let others: Vec<&str> =
            merged.iter().filter(|item| !config.contains(item)).copied().collect();
        prop_assert_eq!(others, only_live);
    }
}
