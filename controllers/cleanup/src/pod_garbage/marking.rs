//! How a pod that has not ended is marked before it goes: failed and, if its node is gone,
//! disrupted by that.

use flyball_api::views::{Phase, Pod};
use flyball_api::{ConditionStatus, Timestamp};
use flyball_plan::{Action, Precondition, Subresource, Target, Write};
use serde_json::{Value, json};

/// Whether a pod has to be marked: nobody will ever say of it that it has ended.
pub(super) fn is_unended(pod: &Pod) -> bool {
    !matches!(pod.status.phase, Phase::Succeeded | Phase::Failed)
}

/// Marks a pod as failed.
pub(super) fn mark(pod: &Pod, node_is_gone: bool, now: Timestamp) -> Action {
    let meta = &pod.metadata;
    let mut status = json!({"phase": "Failed", "observedGeneration": meta.generation});
    if node_is_gone {
        status["conditions"] = json!([disrupted(pod, now)]);
    }
    let (target, precondition) = (Target::of(Pod::KIND, meta), Precondition::incarnation(meta));
    Write::patch(target, precondition, json!({"status": status}))
        .to_subresource(Subresource::STATUS)
        .into()
}

fn disrupted(pod: &Pod, now: Timestamp) -> Value {
    const KIND: &str = "DisruptionTarget";
    let before = pod.condition(KIND);
    let since = before
        .filter(|condition| condition.status == ConditionStatus::True)
        .and_then(|condition| condition.last_transition_time);
    json!({
        "type": KIND,
        "status": "True",
        "observedGeneration": pod.metadata.generation,
        "lastTransitionTime": since.unwrap_or(now),
        "reason": "DeletionByPodGC",
        "message": "PodGC: node no longer exists",
    })
}

/// Takes a pod away at once. One that was on its way out already must still be as it was seen, or
/// as `marked` left it: the caches show by its version that it was taken away.
pub(super) fn take_away(pod: &Pod, marked: Option<&str>) -> Action {
    let meta = &pod.metadata;
    let mut precondition = Precondition::incarnation(meta);
    if meta.is_deleting() {
        let version = marked.unwrap_or(&meta.resource_version);
        precondition.resource_version = (!version.is_empty()).then(|| version.into());
    }
    Write::delete_if(Target::of(Pod::KIND, meta), precondition)
        .within(0)
        .into()
}
