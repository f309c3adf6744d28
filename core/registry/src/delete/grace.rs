//! How long an object has to go: only pods take their time.
//!
//! Upstream: `apiserver/pkg/registry/rest/delete.go`, `pkg/registry/core/pod/strategy.go`.

use std::time::Duration;

use flyball_api::Timestamp;

use crate::meta::stamp;
use crate::object::{Meta, Object, at};
use crate::registry::Call;

/// What a delete means for the time that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grace {
    /// The kind knows no grace, or the object had it.
    None,
    /// It is on its way out already, and nothing shortens it.
    Pending,
    /// So many seconds from now, or from when it was told to go first.
    Seconds(i64),
}

/// What a delete that asks for so many seconds means for an object.
pub(super) fn of(call: &Call<'_>, asked: Option<i64>, object: &Object) -> Grace {
    if call.resource.plural != "pods" || !call.resource.group.is_empty() {
        return Grace::None;
    }
    if object.is_deleting() {
        let left = object.meta()["deletionGracePeriodSeconds"].as_i64();
        return match (left.unwrap_or_default(), asked) {
            (0, _) => Grace::None,
            (left, Some(asked)) if asked < left => Grace::Seconds(asked),
            _ => Grace::Pending,
        };
    }
    let runs = at(object, "spec.nodeName")
        .as_str()
        .is_some_and(|node| !node.is_empty());
    let phase = at(object, "status.phase").as_str();
    if !runs || matches!(phase, Some("Succeeded" | "Failed")) {
        return Grace::Seconds(0);
    }
    let own = at(object, "spec.terminationGracePeriodSeconds").as_i64();
    Grace::Seconds(match asked.or(own).unwrap_or_default() {
        ..0 => 1,
        seconds => seconds,
    })
}

/// So many seconds later. Upstream counts in nanoseconds, which run over after some centuries.
fn later(moment: Timestamp, seconds: i64) -> Timestamp {
    let nanoseconds = seconds.wrapping_mul(1_000_000_000);
    let by = Duration::from_nanos(nanoseconds.unsigned_abs());
    match nanoseconds < 0 {
        true => moment.saturating_sub(by),
        false => moment.saturating_add(by),
    }
}

/// Marks the object as on its way out.
pub(super) fn mark(now: Timestamp, object: &mut Object, seconds: i64) {
    let first = !object.is_deleting();
    let before = object.meta()["deletionGracePeriodSeconds"].as_i64();
    let generation = object.generation();
    let told: Option<Timestamp> = object.meta_text("deletionTimestamp").parse().ok();
    let (end, seconds) = match (told, before) {
        // It is counted from when it was told to go first, but never ends in the past.
        (Some(told), Some(before)) => {
            let end = later(later(told, before.wrapping_neg()), seconds);
            match end < now && seconds != 0 {
                true => (now, 1),
                false => (end.max(now).min(told), seconds),
            }
        }
        (Some(told), None) => (told.min(now), seconds),
        (None, _) => (later(now, seconds), seconds),
    };
    let meta = object.meta_mut();
    meta.insert("deletionTimestamp".to_owned(), stamp(end));
    meta.insert("deletionGracePeriodSeconds".to_owned(), seconds.into());
    if first && generation > 0 {
        meta.insert("generation".to_owned(), (generation + 1).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grace_of_centuries_runs_over() {
        let told: Timestamp = "2026-11-16T14:50:03Z".parse().unwrap();
        assert_eq!(later(told, 30).to_string(), "2026-11-16T14:50:33Z");
        let end = later(told, 99_999_999_999).to_string();
        assert!(end.starts_with("2272-12-24T"), "{end}");
    }
}
