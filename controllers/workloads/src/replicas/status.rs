//! What the owner is told about its pods.

use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_api::{Condition, ConditionStatus, Kind, Meta, Timestamp};
use flyball_plan::rules::pods::{is_available, is_ready};
use flyball_plan::{Action, Body, Precondition, Subresource, Target};
use serde::Serialize;

use super::Owner;
use super::outcome::Failure;

/// The condition that says pods could not be managed.
const REPLICA_FAILURE: &str = "ReplicaFailure";

/// The status to be written, from the pods as they were before this sync created or deleted any:
/// what it did shows when the caches show it.
pub(super) fn next(
    owner: &Owner<'_>,
    pods: &[&Pod],
    terminating: Option<usize>,
    failure: Option<&Failure>,
    now: Timestamp,
) -> ReplicaSetStatus {
    let labels = owner.template.labels();
    let ready: Vec<&Pod> = pods.iter().copied().filter(|pod| is_ready(pod)).collect();
    let available = ready
        .iter()
        .filter(|pod| is_available(pod, owner.min_ready_seconds, now));
    let labelled = pods
        .iter()
        .filter(|pod| pod.metadata.labels.contains_all(labels));
    ReplicaSetStatus {
        replicas: count(pods.len()),
        fully_labeled_replicas: count(labelled.count()),
        ready_replicas: count(ready.len()),
        available_replicas: count(available.count()),
        terminating_replicas: terminating.map(count),
        observed_generation: owner.meta.generation,
        conditions: conditions(&owner.status.conditions, failure, now),
    }
}

/// The first failure is said once and stands until all goes well again: repeating each new error
/// would make a write of every retry.
fn conditions(written: &[Condition], failure: Option<&Failure>, now: Timestamp) -> Vec<Condition> {
    let said = written
        .iter()
        .any(|condition| condition.kind == REPLICA_FAILURE);
    let mut conditions = written.to_vec();
    match failure {
        Some(failure) if !said => conditions.push(Condition {
            kind: REPLICA_FAILURE.into(),
            status: ConditionStatus::True,
            last_update_time: None,
            last_transition_time: Some(now),
            reason: failure.reason.into(),
            message: failure.message.as_str().into(),
        }),
        Some(_) => {}
        None => conditions.retain(|condition| condition.kind != REPLICA_FAILURE),
    }
    conditions
}

/// Whether the owner's status must be written to say this.
pub(super) fn is_news(owner: &Owner<'_>, status: &ReplicaSetStatus) -> bool {
    *owner.status != *status
}

/// Writes a status. Metadata is sent whole, because the server takes labels, annotations and
/// owners from what is sent to the status too; the spec it keeps.
pub(super) fn put(kind: Kind, meta: &Meta, status: &ReplicaSetStatus) -> Action {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct WithStatus<'a> {
        api_version: String,
        kind: &'static str,
        metadata: &'a Meta,
        status: &'a ReplicaSetStatus,
    }
    let api_version = kind.api_version();
    Action::Update {
        target: Target::of(kind, meta),
        subresource: Subresource::Status,
        precondition: Precondition::unchanged(meta),
        body: Body::of(&WithStatus {
            api_version,
            kind: kind.kind,
            metadata: meta,
            status,
        }),
    }
}

fn count(pods: usize) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}
