//! Pausing and resuming, as the Progressing condition tells it.
//!
//! While a Deployment is paused its clock must not run: the condition says so, and resuming says
//! it anew, so that the deadline counts from there. Upstream: `checkPausedConditions`.

use flyball_api::ConditionStatus;

use flyball_plan::Flow;

use super::Sync;
use super::conditions::{self, PROGRESSING, condition, reason};
use super::draft::Draft;
use super::progress::deadline;

/// Notes a pause in the draft; a resumption is written at once, because the roll-out that goes on
/// from here soon overwrites it and whoever watches is to see it.
pub(super) fn note(sync: &Sync<'_>, draft: &mut Draft) -> Flow<()> {
    let deployment = sync.deployment();
    if deadline(deployment).is_none() {
        return Ok(());
    }
    let current = draft
        .condition(PROGRESSING)
        .map(|condition| condition.reason.as_str());
    // A roll-out that failed stays failed: pausing it does not make it better.
    if current == Some(reason::TIMED_OUT) {
        return Ok(());
    }
    let said_paused = current == Some(reason::PAUSED);
    let say = |reason, message| {
        condition(
            PROGRESSING,
            ConditionStatus::Unknown,
            reason,
            message,
            sync.now,
        )
    };
    match (deployment.spec.paused, said_paused) {
        (true, false) => {
            conditions::set(
                &mut draft.status,
                say(reason::PAUSED, "Deployment is paused"),
            );
        }
        (false, true) => {
            conditions::set(
                &mut draft.status,
                say(reason::RESUMED, "Deployment is resumed"),
            );
            draft.write_now(sync, "resume")?;
        }
        (true, true) | (false, false) => {}
    }
    Ok(())
}
