//! Conditions of a definition's status.
//!
//! Upstream: `apiextensions-apiserver/pkg/apihelpers/helpers.go`.

use flyball_api::Timestamp;
use serde_json::{Value, json};

use crate::meta::stamp;
use crate::object::{Object, at};

/// A condition as it is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition<'a> {
    pub(super) kind: &'a str,
    pub(super) status: &'a str,
    pub(super) reason: &'a str,
    pub(super) message: &'a str,
}

/// The condition of this type.
pub(super) fn find<'a>(definition: &'a Object, kind: &str) -> Option<&'a Value> {
    let all = at(definition, "status.conditions").as_array()?;
    all.iter().find(|one| one["type"] == kind)
}

/// Whether the condition of this type is true.
pub(super) fn is_true(definition: &Object, kind: &str) -> bool {
    find(definition, kind).is_some_and(|one| one["status"] == "True")
}

/// Whether the condition is there as it is to be.
pub(super) fn is(definition: &Object, wanted: &Condition<'_>) -> bool {
    find(definition, wanted.kind).is_some_and(|one| {
        one["status"] == wanted.status
            && one["reason"] == wanted.reason
            && one["message"] == wanted.message
    })
}

/// Sets a condition. Its time moves only if its status does.
pub(super) fn set(definition: &mut Object, wanted: &Condition<'_>, now: Timestamp) {
    let status = definition.entry("status").or_insert_with(|| json!({}));
    let conditions = &mut status["conditions"];
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Value::Array(all) = conditions else {
        return;
    };
    let mut condition = json!({
        "type": wanted.kind,
        "status": wanted.status,
        "lastTransitionTime": stamp(now),
        "reason": wanted.reason,
        "message": wanted.message,
    });
    match all.iter_mut().find(|one| one["type"] == wanted.kind) {
        Some(found) => {
            if found["status"] == wanted.status {
                condition["lastTransitionTime"] = found["lastTransitionTime"].clone();
            }
            if let Some(generation) = found.get("observedGeneration") {
                condition["observedGeneration"] = generation.clone();
            }
            *found = condition;
        }
        None => all.push(condition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_condition_is_that_of_its_last_change() {
        let mut object = Object::new();
        let mut condition = Condition {
            kind: "Established",
            status: "False",
            reason: "Installing",
            message: "the initial names have been accepted",
        };
        let time =
            |object: &Object| find(object, "Established").unwrap()["lastTransitionTime"].clone();
        set(
            &mut object,
            &condition,
            "2026-01-01T00:00:00Z".parse().unwrap(),
        );
        condition.reason = "Other";
        set(
            &mut object,
            &condition,
            "2026-01-02T00:00:00Z".parse().unwrap(),
        );
        assert_eq!(time(&object), "2026-01-01T00:00:00Z");
        assert!(is(&object, &condition) && !is_true(&object, "Established"));
        condition.status = "True";
        set(
            &mut object,
            &condition,
            "2026-01-03T00:00:00Z".parse().unwrap(),
        );
        assert_eq!(time(&object), "2026-01-03T00:00:00Z");
        assert!(is_true(&object, "Established"));
    }
}
