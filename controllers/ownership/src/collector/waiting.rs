//! Letting an owner go once no dependent blocks it.
//!
//! Upstream, `garbagecollector.go`, `processDeletingDependentsItem`.

use std::time::Duration;

use flyball_plan::{Flow, Step};

use super::finalizers::{FOREGROUND, take_off};
use super::observe::{Blocker, Seen};
use super::plan::Sync;
use super::report;

/// When to look again at an owner that waits for the list of a kind.
const UNLISTED: Duration = Duration::from_secs(1);

/// Takes the finalizer off an owner that nothing blocks any more.
pub(super) fn release(sync: &Sync<'_>, object: &Seen, blocking: Option<&Blocker>) -> Flow<Step> {
    if let Some(dependent) = blocking {
        return Ok(Step::rest(report::blocked(dependent)));
    }
    if let Some(wait) = unlisted(object) {
        return Ok(wait);
    }
    take_off(sync, FOREGROUND, object, report::unblocked())
}

/// Waits while a kind is not listed that could hold a dependent. An owner that is released too
/// early cannot be taken back.
pub(super) fn unlisted(object: &Seen) -> Option<Step> {
    let report = report::unlisted(&object.unlisted)?;
    Some(Step::rest_for(UNLISTED, report))
}
