//! Mistakes in the counts that controllers report.
//!
//! Upstream: the functions `Validate…Status` in `pkg/apis/apps/validation/validation.go`.

use super::checks;
use super::spot::{Errors, Spot};
use crate::object::{Object, at};

/// What a kind counts, in the order in which upstream looks at it.
pub(super) struct Counts {
    /// Numbers that are not below zero.
    pub(super) all: &'static [&'static str],
    /// Those of them that are parts of all replicas.
    pub(super) parts: &'static [&'static str],
    /// How upstream names the replicas that are ready.
    pub(super) ready: &'static str,
}

impl Counts {
    /// None below zero, none above all replicas, and none available that is not ready.
    pub(super) fn check(&self, new: &Object, old: &Object, errors: &mut Errors) {
        let status = Spot::of(new, "status");
        for field in self.all {
            checks::not_negative(&status.get(field), errors);
        }
        let count = |field| status.get(field).number();
        for field in self.parts {
            if count(field) > count("replicas") {
                let why = "cannot be greater than status.replicas";
                errors.push(status.get(field).invalid_number(why));
            }
        }
        let (available, ready) = (status.get("availableReplicas"), self.ready);
        if !ready.is_empty() && available.number() > count("readyReplicas") {
            errors.push(available.invalid_number(format!("cannot be greater than {ready}")));
        }
        let collisions = status.get("collisionCount");
        let before = at(old, "status.collisionCount").as_i64();
        if self.all.contains(&"collisionCount")
            && before.is_some_and(|before| collisions.int().is_none_or(|now| now < before))
        {
            errors.push(collisions.invalid_number("cannot be decremented"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const COUNTS: Counts = Counts {
        all: &["replicas", "collisionCount"],
        parts: &["updatedReplicas"],
        ready: "readyReplicas",
    };

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
            let object = object.as_object().unwrap();
            COUNTS.check(object, object, &mut errors);
            // A negative total is below everything else.
            let first = errors.first().map(ToString::to_string).unwrap_or_default();
            assert_eq!(first, expected);
        }
    }
}
