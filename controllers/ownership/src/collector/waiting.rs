//! Letting an owner go once no dependent blocks it.
//!
//! Upstream, `garbagecollector.go`, `processDeletingDependentsItem`.

use flyball_plan::{Answers, Step};

use super::finalizers::{FOREGROUND, take_off};
use super::item::Item;
use super::observe::Seen;
use super::status;

/// Takes the finalizer off an owner that nothing blocks any more.
pub(super) fn release(object: &Seen, blocking: Option<&Item>, answers: &Answers) -> Step {
    if let Some(dependent) = blocking {
        return Step::rest(status::blocked(dependent));
    }
    take_off(FOREGROUND, object, answers, status::unblocked())
}
