//! Whether a roll-out is done, moves on, or has stood still for too long.
//!
//! Upstream: `pkg/controller/deployment/progress.go` and `DeploymentComplete`,
//! `DeploymentProgressing`, `DeploymentTimedOut` in its `util`.

use std::time::Duration;

use flyball_api::views::{Deployment, DeploymentStatus};
use flyball_api::{ConditionStatus, Timestamp};

use super::conditions::{self, PROGRESSING, condition, reason};
use super::limits::Limits;

/// Added to a wait for the deadline, so that a clock that is a little off does not wake too early.
const SKEW: Duration = Duration::from_secs(1);

/// How long a roll-out may stand still; `None` if for ever.
pub(super) fn deadline(deployment: &Deployment) -> Option<Duration> {
    let seconds = deployment
        .spec
        .progress_deadline_seconds
        .filter(|n| *n != i32::MAX)?;
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// Whether every desired pod is new and available and no old one is left.
pub(super) fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let replicas = Limits::of(deployment).replicas;
    status.updated_replicas == replicas
        && status.replicas == replicas
        && status.available_replicas == replicas
        && status.observed_generation >= deployment.metadata.generation
}

/// Whether `now` is closer to the end of a roll-out than `before`: more new pods, fewer old ones,
/// more ready or more available.
pub(super) fn has_progressed(before: &DeploymentStatus, now: &DeploymentStatus) -> bool {
    let old = |status: &DeploymentStatus| status.replicas - status.updated_replicas;
    now.updated_replicas > before.updated_replicas
        || old(now) < old(before)
        || now.ready_replicas > before.ready_replicas
        || now.available_replicas > before.available_replicas
}

/// Whether the roll-out has made no progress for longer than its deadline.
pub(super) fn is_timed_out(
    deployment: &Deployment,
    status: &DeploymentStatus,
    now: Timestamp,
) -> bool {
    let (Some(deadline), Some(current)) =
        (deadline(deployment), conditions::get(status, PROGRESSING))
    else {
        return false;
    };
    match current.reason.as_str() {
        // The last roll-out was a success; the one that is beginning has not been noted yet.
        reason::COMPLETE => false,
        reason::TIMED_OUT => true,
        _ => {
            current
                .last_update_time
                .unwrap_or(Timestamp::GO_ZERO)
                .saturating_add(deadline)
                < now
        }
    }
}

/// Says in `status` how the roll-out goes, given what was said `before`. `name` is what the
/// messages are about: `ReplicaSet "x"`, or the Deployment while there is none.
pub(super) fn judge(
    deployment: &Deployment,
    before: &DeploymentStatus,
    status: &mut DeploymentStatus,
    name: &str,
    now: Timestamp,
) {
    if deadline(deployment).is_none() {
        conditions::remove(status, PROGRESSING);
        return;
    }
    let was_complete = conditions::get(before, PROGRESSING)
        .is_some_and(|condition| condition.reason == reason::COMPLETE);
    // A finished roll-out is not judged again because a pod was lost or the Deployment scaled.
    if was_complete && status.replicas == status.updated_replicas {
        return;
    }
    let say = |status, reason, message: &str| condition(PROGRESSING, status, reason, message, now);
    if is_complete(deployment, status) {
        let message = format!("{name} has successfully progressed.");
        conditions::set(
            status,
            say(ConditionStatus::True, reason::COMPLETE, &message),
        );
    } else if has_progressed(before, status) {
        let message = format!("{name} is progressing.");
        conditions::renew(
            status,
            say(ConditionStatus::True, reason::UPDATED, &message),
        );
    } else if is_timed_out(deployment, status, now) {
        let message = format!("{name} has timed out progressing.");
        conditions::set(
            status,
            say(ConditionStatus::False, reason::TIMED_OUT, &message),
        );
    }
}

/// When time alone may change what [`judge`] says, provided nothing else does before.
///
/// Upstream: `requeueStuckDeployment`, which wakes up again and again in the last second; here
/// the wait ends when the deadline is over.
pub(super) fn judge_again_after(
    deployment: &Deployment,
    status: &DeploymentStatus,
    now: Timestamp,
) -> Option<Duration> {
    let deadline = deadline(deployment)?;
    let current = conditions::get(status, PROGRESSING)?;
    let settled = [reason::TIMED_OUT, reason::COMPLETE];
    if is_complete(deployment, status) || settled.contains(&current.reason.as_str()) {
        return None;
    }
    let end = current
        .last_update_time
        .unwrap_or(Timestamp::GO_ZERO)
        .saturating_add(deadline);
    let left = end.saturating_since(now);
    Some(if left < SKEW {
        left + Duration::from_millis(1)
    } else {
        left + SKEW
    })
}
