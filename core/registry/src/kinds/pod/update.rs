//! What an update of a pod may change.
//!
//! Upstream: `ValidatePodUpdate` in `pkg/apis/core/validation/validation.go`.

use serde_json::{Map, Value};

use super::{containers, placement};
use crate::kinds::checks::{self, same};
use crate::kinds::spot::{Errors, Spot};
use crate::object::{Object, at};

/// Upstream adds a difference of the two specs in Go's notation; ours ends here.
const CHANGEABLE: &str = "pod updates may not change fields other than `spec.containers[*].image`,\
                          `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                          `spec.tolerations` (only additions to existing tolerations),\
                          `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// The mistakes in an update of a pod.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    let (spec, before) = (Spot::of(new, "spec"), at(old, "spec"));
    for field in ["containers", "initContainers"] {
        let (containers, before) = (spec.get(field), &before[field]);
        if containers.items().count() != before.as_array().map_or(0, Vec::len) {
            errors.push(containers.forbidden("pod updates may not add or remove containers"));
            return;
        }
        for container in containers.items() {
            checks::required(&container.get("image"), errors);
            containers::check_image(&container, errors);
        }
    }
    if !check_deadline(
        &spec.get("activeDeadlineSeconds"),
        &before["activeDeadlineSeconds"],
        errors,
    ) {
        return;
    }
    check_tolerations(&spec.get("tolerations"), &before["tolerations"], errors);
    let gates = spec.get("schedulingGates");
    let gates_before = before["schedulingGates"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    for gate in gates.items() {
        let name = gate.get("name");
        if !gates_before
            .iter()
            .any(|gate| &gate["name"] == name.value())
        {
            errors.push(name.forbidden(format!(
                "only deletion is allowed, but found new scheduling gate '{}'",
                name.text()
            )));
        }
    }
    let mut rest = spec.value().as_object().cloned().unwrap_or_default();
    keep_changeable(&mut rest, before);
    if !gates_before.is_empty() {
        keep_changeable_while_gated(&mut rest, before, &spec, errors);
    }
    if !same(&Value::Object(rest), before) {
        errors.push(spec.forbidden(CHANGEABLE));
    }
}

/// Answers whether the rest is worth a look.
fn check_deadline(new: &Spot, old: &Value, errors: &mut Errors) -> bool {
    match (new.int(), old.as_i64()) {
        (Some(seconds), _) if !(0..=i64::from(i32::MAX)).contains(&seconds) => {
            errors.push(new.invalid("must be between 0 and 2147483647, inclusive"));
            return false;
        }
        (Some(seconds), Some(before)) if before < seconds => {
            errors.push(new.invalid("must be less than or equal to previous value"));
            return false;
        }
        (None, Some(_)) => {
            errors.push(new.invalid("must not update from a positive integer to nil value"));
        }
        _ => {}
    }
    true
}

/// Tolerations may be added, and the old ones may last longer or shorter.
fn check_tolerations(new: &Spot, old: &Value, errors: &mut Errors) {
    let timeless = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Value::Object(fields) = &mut toleration {
            fields.remove("tolerationSeconds");
        }
        toleration
    };
    for before in old.as_array().into_iter().flatten() {
        let before = timeless(before);
        if !new
            .items()
            .any(|after| same(&timeless(after.value()), &before))
        {
            errors.push(
                new.forbidden(
                    "existing toleration can not be modified except its tolerationSeconds",
                ),
            );
            return;
        }
    }
    placement::check_tolerations(new, errors);
}

/// Sets what may change to what it was, so that any difference left is one that may not be.
fn keep_changeable(spec: &mut Map<String, Value>, before: &Value) {
    for field in ["containers", "initContainers"] {
        let old = before[field].as_array().into_iter().flatten();
        if let Some(Value::Array(new)) = spec.get_mut(field) {
            for (new, old) in new.iter_mut().zip(old) {
                new["image"] = old["image"].clone();
            }
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        spec.insert(field.to_owned(), before[field].clone());
    }
    let grace = "terminationGracePeriodSeconds";
    let was_negative = before[grace].as_i64().is_some_and(|seconds| seconds < 0);
    if was_negative && spec.get(grace).and_then(Value::as_i64) == Some(1) {
        spec.insert(grace.to_owned(), before[grace].clone());
    }
}

/// While a gate holds a pod back, where it may run can be narrowed.
fn keep_changeable_while_gated(
    rest: &mut Map<String, Value>,
    before: &Value,
    spec: &Spot,
    errors: &mut Errors,
) {
    let selector = spec.get("nodeSelector");
    let kept = before["nodeSelector"].as_object().into_iter().flatten();
    if kept
        .into_iter()
        .any(|(key, value)| &selector.value()[key.as_str()] != value)
    {
        errors.push(selector.invalid(
            "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
        ));
    }
    rest.insert("nodeSelector".to_owned(), before["nodeSelector"].clone());
    let affinity = spec.get("affinity");
    let nodes = affinity.get("nodeAffinity");
    let nodes_before = &before["affinity"]["nodeAffinity"];
    if same(nodes.value(), nodes_before) {
        return;
    }
    check_nodes_are_narrowed(&nodes, nodes_before, errors);
    match rest.get_mut("affinity") {
        Some(Value::Object(affinity)) => {
            affinity.insert("nodeAffinity".to_owned(), nodes_before.clone());
        }
        _ if !nodes_before.is_null() => {
            let mut whole = Map::new();
            whole.insert("nodeAffinity".to_owned(), nodes_before.clone());
            rest.insert("affinity".to_owned(), whole.into());
        }
        _ => {}
    }
}

/// Alternatives of nodes stay, and each may ask for more.
fn check_nodes_are_narrowed(nodes: &Spot, before: &Value, errors: &mut Errors) {
    let required = nodes.get("requiredDuringSchedulingIgnoredDuringExecution");
    let before = &before["requiredDuringSchedulingIgnoredDuringExecution"];
    let terms = required.get("nodeSelectorTerms");
    let Some(old) = before["nodeSelectorTerms"]
        .as_array()
        .filter(|all| !all.is_empty())
    else {
        return;
    };
    if terms.items().count() != old.len() {
        let why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        errors.push(terms.invalid(why));
        return;
    }
    for (term, old) in terms.items().zip(old) {
        if !has_only_additions(term.value(), old) {
            errors.push(term.invalid("only additions are allowed (no mutations or deletions)"));
        }
    }
}

fn has_only_additions(new: &Value, old: &Value) -> bool {
    let list = |term: &Value, field: &str| term[field].as_array().cloned().unwrap_or_default();
    let fields = ["matchExpressions", "matchFields"];
    if fields.iter().all(|field| list(old, field).is_empty()) {
        return fields.iter().all(|field| list(new, field).is_empty());
    }
    fields.iter().all(|field| {
        let (new, old) = (list(new, field), list(old, field));
        new.len() >= old.len() && new.iter().zip(&old).all(|(new, old)| same(new, old))
    })
}
