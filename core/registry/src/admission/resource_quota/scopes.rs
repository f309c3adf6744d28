//! Which objects a quota concerns: its scopes.
//!
//! Upstream: `pkg/quota/v1/evaluator/core/{pods,persistent_volume_claims}.go`.

use serde_json::Value;

use super::usage::{Counted, has_deadline};
use crate::failure::Failure;
use crate::kinds::label_value_mistakes;
use crate::object::{Meta, Object, at};

/// Refuses everything as long as a quota is about classes that no object can name: upstream takes their names for
/// values of a label.
pub(super) fn check(counted: &Counted, quota: &Object) -> Result<(), Failure> {
    let selected = at(quota, "spec.scopeSelector.matchExpressions").as_array();
    for one in selected.into_iter().flatten() {
        let text = |field: &str| one[field].as_str().unwrap_or_default();
        let (scope, operator) = (text("scopeName"), text("operator"));
        let is_of_classes = matches!(
            (counted, scope),
            (Counted::Pods, "PriorityClass") | (Counted::Claims, "VolumeAttributesClass")
        );
        if !is_of_classes || operator == "Exists" {
            continue;
        }
        let values = one["values"].as_array().into_iter().flatten();
        let values: Vec<&str> = values.filter_map(Value::as_str).collect();
        let mistakes = values.iter().enumerate().filter_map(|(at, value)| {
            let why = label_value_mistakes(value).join("; ");
            (!why.is_empty())
                .then(|| format!("values[{at}][{scope}]: Invalid value: {value:?}: {why}"))
        });
        let mistakes: Vec<String> = mistakes.collect();
        let why = match mistakes.as_slice() {
            [] => continue,
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let (name, values) = (quota.name(), values.join(" "));
        let why = format!(
            "error matching scopes of quota {name}, err: error on matching scope {{{scope} {operator} [{values}]}}: \
             failed to parse and convert selector: {why}"
        );
        return Err(Failure::new(500, "", why));
    }
    Ok(())
}

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
    fn a_quota_about_what_cannot_be_a_class_refuses_everything() {
        let quota = |operator: &str, values: Value| {
            let one = json!({"scopeName": "PriorityClass", "operator": operator, "values": values});
            let selector = json!({"matchExpressions": [one]});
            object(json!({"metadata": {"name": "a"}, "spec": {"scopeSelector": selector}}))
        };
        let odd = quota("In", json!(["b", "a!"]));
        let refused = check(&Counted::Pods, &odd).expect_err("not a label");
        let told: Value = serde_json::from_slice(&refused.body()).expect("a status");
        assert_eq!(refused.code(), 500);
        let told = told["message"].as_str().unwrap_or_default();
        let expected = "error matching scopes of quota a, err: error on matching scope {PriorityClass In [b a!]}: \
                        failed to parse and convert selector: values[1][PriorityClass]: Invalid value: \"a!\": a valid";
        assert!(told.starts_with(expected), "{told}");
        assert!(check(&Counted::Services, &odd).is_ok());
        assert!(check(&Counted::Pods, &quota("In", json!(["b"]))).is_ok());
        assert!(check(&Counted::Pods, &quota("Exists", json!(["a!"]))).is_ok());
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
