//! What an update of a pod may change.
//!
//! Upstream: `ValidatePodUpdate` and `ValidatePodStatusUpdate` in
//! `pkg/apis/core/validation/validation.go`.

use serde_json::{Map, Value};

use super::spec;
use crate::field_error::FieldError;
use crate::kinds::NameRule;
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
            let image = container.get("image");
            if image.text().trim() != image.text() {
                errors.push(image.invalid("must not have leading or trailing whitespace"));
            }
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
    spec::check_tolerations(new, errors);
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
    // Narrowing a node affinity that is there already is not compared term by term, so only one that
    // was missing may be added.
    if before["affinity"]["nodeAffinity"].is_null()
        && let Some(Value::Object(affinity)) = rest.get_mut("affinity")
    {
        affinity.remove("nodeAffinity");
    }
}

/// The mistakes in an update of a pod's status.
pub(super) fn check_status(new: &Object, old: &Object, errors: &mut Errors) {
    let (status, before) = (Spot::of(new, "status"), at(old, "status"));
    let node = status.get("nominatedNodeName");
    let is_changed = !node.is_empty() && node.value() != &before["nominatedNodeName"];
    if is_changed {
        checks::name(&node, NameRule::Subdomain, errors);
    }
    if is_changed
        && at(old, "spec.nodeName")
            .as_str()
            .is_some_and(|name| !name.is_empty())
    {
        errors.push(node.forbidden("may not be set on pods that are already bound to a node"));
    }
    if status
        .get("observedGeneration")
        .int()
        .is_some_and(|seen| seen < 0)
    {
        errors.push(
            status
                .get("observedGeneration")
                .invalid("must be a non-negative integer"),
        );
    }
    checks::immutable(&status.get("qosClass"), &before["qosClass"], errors);
    check_restarts(&status, before, at(old, "spec.restartPolicy"), errors);
    let addresses = status.get("podIPs");
    for address in addresses.items() {
        let ip = address.get("ip");
        if ip.text().parse::<core::net::IpAddr>().is_err() {
            errors.push(FieldError::invalid(
                address.path(),
                ip.text(),
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            ));
        }
    }
}

/// A container that has ended for good stays ended.
fn check_restarts(status: &Spot, before: &Value, policy: &Value, errors: &mut Errors) {
    if policy == "Always" {
        return;
    }
    let statuses = status.get("containerStatuses");
    for (index, old) in before["containerStatuses"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let ended = &old["state"]["terminated"];
        if ended.is_null() || (policy == "OnFailure" && ended["exitCode"] != 0) {
            continue;
        }
        let runs_again = statuses.items().any(|new| {
            new.get("name").value() == &old["name"] && new.value()["state"]["terminated"].is_null()
        });
        if runs_again {
            let field = format!("{}[{index}].state", statuses.path());
            errors.push(FieldError::forbidden(
                field,
                "may not be transitioned to non-terminated state",
            ));
        }
    }
}
