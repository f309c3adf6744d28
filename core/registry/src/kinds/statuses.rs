//! Mistakes in the counts that controllers report.
//!
//! Upstream: the functions `Validate…Status` in `pkg/apis/apps/validation/validation.go`.

use super::checks;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::Object;

/// Counts of replicas: none below zero, none above all replicas, and none available that is not
/// ready.
pub(super) fn check_replicas(object: &Object, ready: &str, errors: &mut Errors) {
    let status = Spot::of(object, "status");
    check_counts(&status, errors);
    let count = |field| status.get(field).int().unwrap_or(0);
    for field in [
        "updatedReplicas",
        "fullyLabeledReplicas",
        "currentReplicas",
        "readyReplicas",
        "availableReplicas",
    ] {
        if count(field) > count("replicas") {
            let why = "cannot be greater than status.replicas";
            let place = status.get(field).path();
            errors.push(FieldError::invalid(place, count(field), why));
        }
    }
    if count("availableReplicas") > count("readyReplicas") {
        let available = status.get("availableReplicas");
        errors.push(available.invalid(format!("cannot be greater than {ready}")));
    }
}

/// Numbers that only count: none below zero.
pub(super) fn check_counts(status: &Spot, errors: &mut Errors) {
    for (name, value) in status.entries() {
        if value.is_number() {
            checks::not_negative(&status.field_named(name), errors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn counts_are_whole_and_parts_are_smaller() {
        for (status, expected) in [
            (
                json!({"replicas": 2, "readyReplicas": 2, "availableReplicas": 1}),
                "",
            ),
            (
                json!({"replicas": -1}),
                "status.replicas: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                json!({"replicas": 1, "updatedReplicas": 2}),
                "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas",
            ),
            (
                json!({"replicas": 1, "availableReplicas": 1}),
                "status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas",
            ),
        ] {
            let object = json!({"status": status});
            let mut errors = Vec::new();
            check_replicas(object.as_object().unwrap(), "readyReplicas", &mut errors);
            // A negative total is below everything else.
            let first = errors.first().map(ToString::to_string).unwrap_or_default();
            assert_eq!(first, expected);
        }
    }
}
