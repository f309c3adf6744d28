//! What the owner is told about its pods.

use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_api::{Condition, ConditionStatus, Lossless, Timestamp};
use flyball_plan::rules::pods::{is_available, is_ready};

use super::Owner;
use super::outcome::Refusal;

/// The condition that says pods could not be managed.
const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The status to be written, from the pods as they were before this sync created or deleted any:
/// what it did shows when the caches show it.
///
/// The conditions of others, and fields unknown here, stay as they are written.
pub(super) fn next(
    owner: &Owner<'_>,
    pods: &[&Pod],
    terminating: Option<usize>,
    refusal: Option<&Refusal>,
    now: Timestamp,
) -> Lossless<ReplicaSetStatus> {
    let labels = owner.template.labels();
    let ready: Vec<&Pod> = pods.iter().copied().filter(|pod| is_ready(pod)).collect();
    let available = ready
        .iter()
        .filter(|pod| is_available(pod, owner.min_ready_seconds, now));
    let labelled = pods
        .iter()
        .filter(|pod| pod.metadata.labels.contains_all(labels));
    owner.status.with(ReplicaSetStatus {
        replicas: count(pods.len()),
        fully_labeled_replicas: count(labelled.count()),
        ready_replicas: count(ready.len()),
        available_replicas: count(available.count()),
        terminating_replicas: terminating.map(count),
        observed_generation: owner.meta.generation,
        conditions: conditions(&owner.status.conditions, refusal, now),
    })
}

/// The first failure is said once and stands until all goes well again: repeating each new error
/// would make a write of every retry.
fn conditions(
    written: &[Lossless<Condition>],
    refusal: Option<&Refusal>,
    now: Timestamp,
) -> Vec<Lossless<Condition>> {
    let said = written
        .iter()
        .any(|condition| condition.kind == REPLICA_FAILURE);
    let mut conditions = written.to_vec();
    match refusal {
        Some(refusal) if !said => {
            let condition = Condition {
                kind: REPLICA_FAILURE.into(),
                status: ConditionStatus::True,
                last_update_time: None,
                last_transition_time: Some(now),
                reason: refusal.reason.into(),
                message: refusal.failure.text.as_str().into(),
            };
            conditions.push(condition.into());
        }
        Some(_) => {}
        None => conditions.retain(|condition| condition.kind != REPLICA_FAILURE),
    }
    conditions
}

/// Whether the owner's status must be written to say this.
pub(super) fn is_news(owner: &Owner<'_>, status: &Lossless<ReplicaSetStatus>) -> bool {
    *owner.status != *status
}

fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}
