//! Letting an owner go once no dependent blocks it.
//!
//! Upstream, `garbagecollector.go`, `processDeletingDependentsItem`.

use flyball_plan::{Actions, Answers, Step};

use super::finalizers::{FOREGROUND, without};
use super::item::Item;
use super::observe::Seen;
use super::status;

/// Takes the finalizer off an owner that nothing blocks any more.
pub(super) fn release(object: &Seen, blocking: Option<&Item>, answers: &Answers) -> Step {
    if let Some(dependent) = blocking {
        return Step::rest(status::blocked(dependent));
    }
    let Some(round) = answers.stage("finalize") else {
        let action = without(
            FOREGROUND,
            &object.finalizers,
            &object.target,
            &object.unchanged(),
        );
        return Step::Do(Actions::in_order("finalize", vec![action]));
    };
    match round.first_error() {
        None => Step::rest(status::unblocked()),
        Some(error) if error.is_not_found() => Step::rest(status::gone_already()),
        Some(error) => Step::retry(error, status::unblocked()),
    }
}
