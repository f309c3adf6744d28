//! Which objects a quota concerns: its scopes.
//!
//! Upstream: `pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go`.

use serde_json::Value;

use super::usage::{Counted, has_deadline};
use crate::object::{Object, at};

/// Whether an object is in all scopes of a quota. What has no scopes is in none.
pub(super) fn all_match(counted: &Counted, quota: &Object, object: &Object) -> bool {
    let named = at(quota, "spec.scopes").as_array().into_iter().flatten();
    let mut named = named.filter_map(Value::as_str);
    let selected = at(quota, "spec.scopeSelector.matchExpressions").as_array();
    let mut selected = selected.into_iter().flatten();
    named.all(|scope| is_in(counted, scope, &Value::Null, object))
        && selected.all(|one| {
            let scope = one["scopeName"].as_str().unwrap_or_default();
            is_in(counted, scope, one, object)
        })
}

/// Whether an object is in one scope; without a selector, whether the scope says anything of it.
fn is_in(counted: &Counted, scope: &str, selector: &Value, object: &Object) -> bool {
    match (counted, scope) {
        (Counted::Pods, "Terminating") => has_deadline(object),
        (Counted::Pods, "NotTerminating") => !has_deadline(object),
        (Counted::Pods, "BestEffort") => is_best_effort(object),
        (Counted::Pods, "NotBestEffort") => !is_best_effort(object),
        (Counted::Pods, "PriorityClass") => {
            let class = at(object, "spec.priorityClassName")
                .as_str()
                .unwrap_or_default();
            selects(selector, &[class])
        }
        (Counted::Pods, "CrossNamespacePodAffinity") => looks_across_namespaces(object),
        (Counted::Claims, "VolumeAttributesClass") => {
            let names = [
                "spec.volumeAttributesClassName",
                "status.currentVolumeAttributesClassName",
                "status.modifyVolumeStatus.targetVolumeAttributesClassName",
            ];
            let names = names.map(|path| at(object, path).as_str().unwrap_or_default());
            selects(selector, &names)
        }
        _ => false,
    }
}

fn is_best_effort(pod: &Object) -> bool {
    at(pod, "status.qosClass") == "BestEffort"
}

/// Whether a selector chooses one of these names, of which empty ones are none.
fn selects(selector: &Value, names: &[&str]) -> bool {
    let mut names = names.iter().filter(|name| !name.is_empty()).peekable();
    let values = selector["values"].as_array();
    let listed = |name: &str| values.into_iter().flatten().any(|value| value == name);
    let is_none = names.peek().is_none();
    match selector["operator"].as_str().unwrap_or("Exists") {
        "Exists" => !is_none,
        "DoesNotExist" => is_none,
        "In" => names.any(|name| listed(name)),
        "NotIn" => is_none || names.any(|name| !listed(name)),
        _ => false,
    }
}

/// Whether where a pod goes depends on pods of other namespaces.
fn looks_across_namespaces(pod: &Object) -> bool {
    let looks = |term: &Value| {
        let namespaces = term["namespaces"].as_array();
        namespaces.is_some_and(|all| !all.is_empty()) || term["namespaceSelector"].is_object()
    };
    ["podAffinity", "podAntiAffinity"].into_iter().any(|kind| {
        let affinity = &at(pod, "spec.affinity")[kind];
        let terms = |when: &str| affinity[when].as_array().into_iter().flatten();
        terms("requiredDuringSchedulingIgnoredDuringExecution").any(looks)
            || terms("preferredDuringSchedulingIgnoredDuringExecution")
                .any(|weighted| looks(&weighted["podAffinityTerm"]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Object {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is not an object"),
        }
    }

    #[test]
    fn a_quota_concerns_what_is_in_all_its_scopes() {
        let pod = object(json!({
            "spec": {"activeDeadlineSeconds": 5, "priorityClassName": "high"},
            "status": {"qosClass": "BestEffort"},
        }));
        let selector = |operator: &str, values: Value| {
            json!({"scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": operator, "values": values},
            ]}})
        };
        for (spec, expected) in [
            (json!({}), true),
            (json!({"scopes": ["Terminating", "BestEffort"]}), true),
            (json!({"scopes": ["Terminating", "NotBestEffort"]}), false),
            (json!({"scopes": ["NotTerminating"]}), false),
            (json!({"scopes": ["CrossNamespacePodAffinity"]}), false),
            (json!({"scopes": ["PriorityClass"]}), true),
            (selector("In", json!(["high", "low"])), true),
            (selector("NotIn", json!(["high"])), false),
            (selector("Exists", json!(null)), true),
            (selector("DoesNotExist", json!(null)), false),
        ] {
            let quota = object(json!({"spec": spec}));
            assert_eq!(all_match(&Counted::Pods, &quota, &pod), expected, "{spec}");
            let is_plain = spec == json!({});
            assert_eq!(
                all_match(&Counted::Services, &quota, &pod),
                is_plain,
                "{spec}"
            );
        }
    }
}
