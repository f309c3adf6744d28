//! Labels that a pod is compared by with others like it: `matchLabelKeys` and `mismatchLabelKeys`.
//!
//! When the pod is made, the values of its own labels become part of the selector that stands
//! beside the keys. Upstream: `pkg/registry/core/pod/strategy.go`.

use serde_json::{Value, json};

use crate::kinds::fill::{each, map_in};
use crate::object::{Meta, Object};

/// Adds the values to all selectors of a pod.
pub(super) fn resolve(pod: &mut Object) {
    let labels = pod.meta()["labels"].clone();
    let mut resolve_one = |term: &mut Object| {
        add(term, "matchLabelKeys", "In", &labels);
        add(term, "mismatchLabelKeys", "NotIn", &labels);
    };
    for kind in ["podAffinity", "podAntiAffinity"] {
        let required =
            format!("spec.affinity.{kind}.requiredDuringSchedulingIgnoredDuringExecution[]");
        each(pod, &required, &mut resolve_one);
        let preferred = format!(
            "spec.affinity.{kind}.preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm"
        );
        each(pod, &preferred, &mut resolve_one);
    }
    each(pod, "spec.topologySpreadConstraints[]", &mut resolve_one);
}

fn add(term: &mut Object, field: &str, operator: &str, labels: &Value) {
    let keys = term
        .get(field)
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    // Keys without a selector are a mistake, which validation tells.
    if !term.get("labelSelector").is_some_and(Value::is_object) {
        return;
    }
    let wanted = keys.iter().filter_map(|key| {
        let value = labels[key.as_str()?].as_str()?;
        Some(json!({"key": key, "operator": operator, "values": [value]}))
    });
    let wanted: Vec<Value> = wanted.collect();
    let Some(selector) = map_in(term, "labelSelector").filter(|_| !wanted.is_empty()) else {
        return;
    };
    let expressions = selector
        .entry("matchExpressions")
        .or_insert_with(|| json!([]));
    match expressions {
        Value::Array(all) => all.extend(wanted),
        other => *other = Value::Array(wanted),
    }
}
