use flyball_api::Object;
use serde_json::{Value, json};

use super::*;

fn affinity(spec: Value) -> NodeAffinity {
    let pod = json!({"metadata": {"name": "a"}, "spec": spec});
    NodeAffinity::of(&Pod::decode(pod.to_string().as_bytes()).unwrap()).unwrap()
}

fn node(name: &str, labels: Value) -> Node {
    let node = json!({"metadata": {"name": name, "labels": labels}});
    Node::decode(node.to_string().as_bytes()).unwrap()
}

fn required(terms: Value) -> Value {
    let required = json!({"nodeSelectorTerms": terms});
    json!({"affinity": {"nodeAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution": required}}})
}

/// Ideas from upstream's `plugins/nodeaffinity/node_affinity_test.go`, TestNodeAffinity.
#[test]
fn a_node_must_have_what_the_pod_needs() {
    let expression = |key: &str, operator: &str, values: Value| {
        required(json!([{"matchExpressions":
            [{"key": key, "operator": operator, "values": values}]}]))
    };
    let name = |operator: &str, value: &str| {
        required(json!([{"matchFields":
            [{"key": "metadata.name", "operator": operator, "values": [value]}]}]))
    };
    let cases = [
        ("no selector", json!({}), true),
        (
            "missing labels",
            json!({"nodeSelector": {"disk": "ssd"}}),
            false,
        ),
        ("same labels", json!({"nodeSelector": {"foo": "bar"}}), true),
        (
            "some labels missing",
            json!({"nodeSelector": {"foo": "bar", "a": "b"}}),
            false,
        ),
        ("in", expression("foo", "In", json!(["bar", "baz"])), true),
        ("not in", expression("mem", "NotIn", json!(["large"])), true),
        (
            "not in, but is",
            expression("foo", "NotIn", json!(["bar"])),
            false,
        ),
        ("exists", expression("foo", "Exists", json!([])), true),
        (
            "does not exist",
            expression("foo", "DoesNotExist", json!([])),
            false,
        ),
        ("greater", expression("kernel", "Gt", json!(["0204"])), true),
        (
            "not greater",
            expression("kernel", "Gt", json!(["0206"])),
            false,
        ),
        ("less", expression("kernel", "Lt", json!(["0207"])), true),
        ("not a number", expression("foo", "Gt", json!(["1"])), false),
        (
            "an operator of the future",
            expression("foo", "Near", json!(["bar"])),
            false,
        ),
        (
            "an impossible value",
            expression("foo", "NotIn", json!(["{{}}"])),
            false,
        ),
        ("no terms", required(json!([])), false),
        ("an empty term", required(json!([{}])), false),
        (
            "one of two terms",
            required(
                json!([{"matchExpressions": [{"key": "a", "operator": "Exists"}]},
                {"matchExpressions": [{"key": "foo", "operator": "Exists"}]}]),
            ),
            true,
        ),
        (
            "both conditions of one term",
            required(
                json!([{"matchExpressions": [{"key": "a", "operator": "Exists"},
                {"key": "foo", "operator": "Exists"}]}]),
            ),
            false,
        ),
        ("by name", name("In", "node1"), true),
        ("by another name", name("In", "node2"), false),
        ("not by name", name("NotIn", "node2"), true),
        (
            "selector and affinity",
            {
                let mut both = expression("foo", "Exists", json!([]));
                both["nodeSelector"] = json!({"foo": "other"});
                both
            },
            false,
        ),
    ];
    let node = node("node1", json!({"foo": "bar", "kernel": "0206"}));
    for (what, spec, expected) in cases {
        assert_eq!(affinity(spec).admits(&node), expected, "{what}");
    }
}

#[test]
fn named_nodes_are_known_beforehand() {
    let named = |terms: Value| {
        let names = affinity(required(terms)).named();
        names.map(|names| names.into_iter().collect::<Vec<_>>().join(" "))
    };
    let field = |name: &str| json!({"key": "metadata.name", "operator": "In", "values": [name]});
    let one = |name: &str| json!({"matchFields": [field(name)]});
    assert_eq!(named(json!([one("a"), one("b")])), Some("a b".into()));
    assert_eq!(
        named(json!([{"matchFields": [field("a"), field("b")]}])),
        Some("".into())
    );
    assert_eq!(named(json!([one("a"), {"matchExpressions": []}])), None);
    assert_eq!(affinity(json!({"nodeSelector": {"a": "b"}})).named(), None);
}

/// Ideas from upstream's TestNodeAffinityPriority.
#[test]
fn each_preference_that_holds_adds_its_weight() {
    let preference = |weight: i64, key: &str| {
        json!({"weight": weight, "preference":
            {"matchExpressions": [{"key": key, "operator": "Exists"}]}})
    };
    let preferred = json!([preference(2, "foo"), preference(4, "key"), preference(5, "az"),
        {"weight": 9, "preference": {}}]);
    let spec = json!({"affinity": {"nodeAffinity":
        {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}});
    let affinity = affinity(spec);
    assert!(affinity.has_preferences());
    assert_eq!(
        affinity.preference(&node("a", json!({"foo": "x", "az": "y"}))),
        7
    );
    assert_eq!(affinity.preference(&node("a", json!({}))), 0);
}

#[test]
fn nonsense_is_an_error() {
    let pod = json!({"metadata": {"name": "a"}, "spec": {"affinity": {"nodeAffinity": "near"}}});
    let error = NodeAffinity::of(&Pod::decode(pod.to_string().as_bytes()).unwrap()).unwrap_err();
    assert!(error.starts_with("nodeAffinity: "), "{error}");
}
