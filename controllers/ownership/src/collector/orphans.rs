//! Setting dependents free before their owner goes.
//!
//! Upstream, `garbagecollector.go`, `attemptToOrphanWorker`.

use std::time::Duration;

use flyball_plan::{Actions, Answers, Step};
use serde_json::{Value, json};

use super::finalizers::{ORPHAN, merge, without};
use super::observe::{Dependent, Seen};
use super::status;

/// Takes the owner off its dependents, then the finalizer off the owner.
pub(super) fn free(object: &Seen, dependents: &[Dependent], more: bool, answers: &Answers) -> Step {
    if !dependents.is_empty() {
        let Some(round) = answers.stage("free") else {
            let freed = dependents.iter().map(|dependent| {
                // Null takes the list away; an empty one would stay on some servers.
                let owners = match dependent.owners.as_slice() {
                    [] => Value::Null,
                    owners => json!(owners),
                };
                let owners = json!({"ownerReferences": owners});
                merge(&dependent.target, &dependent.precondition, owners)
            });
            return Step::Do(Actions::together("free", freed.collect()));
        };
        let mut errors = round.answers.iter().filter_map(|answer| answer.error());
        // One that is gone is free as well.
        if let Some(error) = errors.find(|error| !error.is_not_found()) {
            return Step::retry(error, status::freeing(dependents.len()));
        }
        if more {
            return Step::rest_for(Duration::ZERO, status::freeing(dependents.len()));
        }
    }
    let Some(round) = answers.stage("finalize") else {
        let action = without(
            ORPHAN,
            &object.finalizers,
            &object.target,
            &object.unchanged(),
        );
        return Step::Do(Actions::in_order("finalize", vec![action]));
    };
    match round.first_error() {
        None => Step::rest(status::freed()),
        Some(error) if error.is_not_found() => Step::rest(status::gone_already()),
        Some(error) => Step::retry(error, status::freed()),
    }
}
