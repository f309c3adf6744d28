//! Labels of nodes that have other names by now, where classes and capacities choose nodes by them.
//!
//! Upstream: `pkg/api/{node,storage}/util.go`.

use serde_json::Value;

use super::node_label;
use crate::object::{Object, at};

/// What is told of where a storage class may have volumes.
pub(super) fn storage_class(class: &Object) -> Vec<String> {
    let mut told = Vec::new();
    let terms = class.get("allowedTopologies").and_then(Value::as_array);
    for (term, of) in terms.into_iter().flatten().enumerate() {
        let all = of["matchLabelExpressions"].as_array();
        for (one, key) in keys(all).enumerate() {
            if let Some(why) = node_label(key) {
                let place = format!("allowedTopologies[{term}].matchLabelExpressions[{one}].key");
                told.push(format!("{place}: {why}"));
            }
        }
    }
    told
}

/// What is told of the nodes for which a capacity holds.
pub(super) fn capacity(capacity: &Object) -> Vec<String> {
    let nodes = capacity.get("nodeTopology").unwrap_or(&Value::Null);
    let mut told = Vec::new();
    let all = nodes["matchExpressions"].as_array();
    for (one, key) in keys(all).enumerate() {
        if let Some(why) = node_label(key) {
            told.push(format!(
                "nodeTopology.matchExpressions[{one}].key: {key} is {why}"
            ));
        }
    }
    let labels = nodes["matchLabels"].as_object();
    for key in labels.into_iter().flatten().map(|(key, _)| key) {
        if let Some(why) = node_label(key) {
            told.push(format!("nodeTopology.matchLabels.{key}: {why}"));
        }
    }
    told
}

/// What is told of the nodes on which a runtime class runs.
pub(super) fn runtime_class(class: &Object) -> Vec<String> {
    let labels = at(class, "scheduling.nodeSelector").as_object();
    let keys = labels.into_iter().flatten().map(|(key, _)| key);
    keys.filter_map(|key| node_label(key))
        .map(|why| format!("scheduling.nodeSelector: {why}"))
        .collect()
}

fn keys(all: Option<&Vec<Value>>) -> impl Iterator<Item = &str> {
    let all = all.into_iter().flatten();
    all.map(|one| one["key"].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OS: &str = "beta.kubernetes.io/os";
    const WHY: &str = "deprecated since v1.14; use \"kubernetes.io/os\" instead";

    fn object(value: Value) -> Object {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn old_labels_of_nodes_are_told_with_their_places() {
        let class = json!({"allowedTopologies": [
            {"matchLabelExpressions": [{"key": "a", "values": ["b"]}, {"key": OS, "values": ["b"]}]},
        ]});
        assert_eq!(
            storage_class(&object(class)),
            [format!(
                "allowedTopologies[0].matchLabelExpressions[1].key: {WHY}"
            )]
        );
        let nodes = json!({"nodeTopology": {
            "matchExpressions": [{"key": OS, "operator": "Exists"}],
            "matchLabels": {"a": "b", OS: "linux"},
        }});
        assert_eq!(
            capacity(&object(nodes)),
            [
                format!("nodeTopology.matchExpressions[0].key: {OS} is {WHY}"),
                format!("nodeTopology.matchLabels.{OS}: {WHY}"),
            ]
        );
        let class = json!({"scheduling": {"nodeSelector": {OS: "linux", "a": "b"}}});
        assert_eq!(
            runtime_class(&object(class)),
            [format!("scheduling.nodeSelector: {WHY}")]
        );
    }
}
