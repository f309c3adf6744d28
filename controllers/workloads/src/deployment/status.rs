//! The status of a Deployment: sums over its ReplicaSets, and what they mean.
//!
//! Upstream: `calculateStatus` in `sync.go`, `syncRolloutStatus` in `progress.go`.

use flyball_api::views::DeploymentStatus;
use flyball_api::{Condition, ConditionStatus};

use super::Sync;
use super::conditions::{self, AVAILABLE, REPLICA_FAILURE, condition, reason};
use super::draft::Draft;
use super::limits::Limits;
use super::progress;
use super::sets::{Family, Set, sum};

/// Puts the counts and the Available condition into the draft.
pub(super) fn count(sync: &Sync<'_>, family: &Family, draft: &mut Draft) {
    let deployment = sync.deployment();
    let limits = Limits::of(deployment);
    let available = sum(family.all().map(Set::available));
    let mut status = draft.status.with(DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: sum(family.all().map(Set::actual)),
        updated_replicas: family.new.as_ref().map_or(0, Set::actual),
        ready_replicas: sum(family.all().map(|set| set.view.status.ready_replicas)),
        available_replicas: available,
        // Negative while scaling down: more pods are available than are to be.
        unavailable_replicas: family.replicas().saturating_sub(available).max(0),
        terminating_replicas: terminating(family).filter(|_| sync.settings.terminating_replicas),
        conditions: draft.status.conditions.clone(),
        collision_count: draft.status.collision_count,
    });
    let (holds, reason, message) = if available >= limits.least() {
        (
            ConditionStatus::True,
            reason::ENOUGH,
            "Deployment has minimum availability.",
        )
    } else {
        (
            ConditionStatus::False,
            reason::TOO_FEW,
            "Deployment does not have minimum availability.",
        )
    };
    conditions::set(
        &mut status,
        condition(AVAILABLE, holds, reason, message, sync.now),
    );
    draft.status = status;
}

/// Puts the counts into the draft, how the roll-out goes, and what keeps it from going.
pub(super) fn judge(sync: &Sync<'_>, family: &Family, draft: &mut Draft) {
    let deployment = sync.deployment();
    let before = draft.status.clone();
    count(sync, family, draft);
    let name = match &family.new {
        Some(new) => format!("ReplicaSet \"{}\"", new.name()),
        None => format!("Deployment \"{}\"", deployment.metadata.name),
    };
    progress::judge(deployment, &before, &mut draft.status, &name, sync.now);
    match replica_failure(family) {
        Some(failure) => conditions::set(&mut draft.status, failure),
        None => conditions::remove(&mut draft.status, REPLICA_FAILURE),
    }
}

/// Pods on their way out; `None` if a ReplicaSet that has been synced does not count them.
fn terminating(family: &Family) -> Option<i32> {
    family
        .all()
        .map(|set| &set.view.status)
        .try_fold(0i32, |total, status| match status.terminating_replicas {
            Some(count) => Some(total.saturating_add(count)),
            None if status.observed_generation == 0 => Some(total),
            None => None,
        })
}

/// What keeps a ReplicaSet from having its pods; the new one's trouble goes before that of others.
fn replica_failure(family: &Family) -> Option<Condition> {
    family.new.iter().chain(&family.old).find_map(|set| {
        let failure = set
            .view
            .status
            .conditions
            .iter()
            .find(|c| c.kind == REPLICA_FAILURE)?;
        // ReplicaSets do not say when they last said it, so the transition must do for both.
        Some(Condition {
            last_update_time: failure.last_transition_time,
            ..Condition::clone(failure)
        })
    })
}
