//! Conditions: what a Deployment says of its state, and when each was last said anew.
//!
//! Upstream: `pkg/controller/deployment/util` (`SetDeploymentCondition` and its siblings).

use flyball_api::views::DeploymentStatus;
use flyball_api::{Condition, ConditionStatus, Timestamp};

/// Whether enough pods are available.
pub(super) const AVAILABLE: &str = "Available";
/// Whether the roll-out moves on.
pub(super) const PROGRESSING: &str = "Progressing";
/// Whether a ReplicaSet fails to create or delete pods.
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The reasons of [`PROGRESSING`] and [`AVAILABLE`]: ids that people and tools match on.
pub(super) mod reason {
    pub(in super::super) const UPDATED: &str = "ReplicaSetUpdated";
    pub(in super::super) const CREATE_FAILED: &str = "ReplicaSetCreateError";
    pub(in super::super) const CREATED: &str = "NewReplicaSetCreated";
    pub(in super::super) const FOUND: &str = "FoundNewReplicaSet";
    pub(in super::super) const COMPLETE: &str = "NewReplicaSetAvailable";
    pub(in super::super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";
    pub(in super::super) const PAUSED: &str = "DeploymentPaused";
    pub(in super::super) const RESUMED: &str = "DeploymentResumed";
    pub(in super::super) const ENOUGH: &str = "MinimumReplicasAvailable";
    pub(in super::super) const TOO_FEW: &str = "MinimumReplicasUnavailable";
}

/// A condition said now.
pub(super) fn condition(
    kind: &str,
    status: ConditionStatus,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> Condition {
    let now = now.floor_to_second();
    Condition {
        kind: kind.into(),
        status,
        last_update_time: Some(now),
        last_transition_time: Some(now),
        reason: reason.into(),
        message: message.into(),
    }
}

/// The condition of this type.
pub(super) fn get<'a>(status: &'a DeploymentStatus, kind: &str) -> Option<&'a Condition> {
    let mut all = status.conditions.iter();
    all.find(|condition| condition.kind == kind)
        .map(|found| &**found)
}

/// Says a condition, unless it says nothing new: the same status for the same reason. The time
/// of transition is that of the last change of status.
pub(super) fn set(status: &mut DeploymentStatus, mut condition: Condition) {
    if let Some(current) = get(status, &condition.kind)
        && current.status == condition.status
    {
        if current.reason == condition.reason {
            return;
        }
        condition.last_transition_time = current.last_transition_time;
    }
    remove(status, &condition.kind);
    status.conditions.push(condition.into());
}

/// Says a condition anew even if status and reason stay: its update time counts as progress.
pub(super) fn renew(status: &mut DeploymentStatus, mut condition: Condition) {
    if let Some(current) = get(status, &condition.kind)
        && current.status == condition.status
    {
        condition.last_transition_time = current.last_transition_time;
    }
    remove(status, &condition.kind);
    status.conditions.push(condition.into());
}

/// Says nothing more of this type.
pub(super) fn remove(status: &mut DeploymentStatus, kind: &str) {
    status.conditions.retain(|condition| condition.kind != kind);
}
