//! What a pod counts as.

use std::time::Duration;

use flyball_api::views::{Phase, Pod};
use flyball_api::{ConditionStatus, Timestamp};

/// Whether the pod has ended, well or badly.
pub fn is_terminal(pod: &Pod) -> bool {
    matches!(pod.status.phase, Phase::Succeeded | Phase::Failed)
}

/// Whether the pod counts as a replica: neither ended nor going away.
pub fn is_active(pod: &Pod) -> bool {
    !is_terminal(pod) && !pod.metadata.is_deleting()
}

/// Whether the pod is going away and has not ended yet.
pub fn is_terminating(pod: &Pod) -> bool {
    !is_terminal(pod) && pod.metadata.is_deleting()
}

/// Whether the pod says it is ready.
pub fn is_ready(pod: &Pod) -> bool {
    pod.condition("Ready")
        .is_some_and(|ready| ready.status == ConditionStatus::True)
}

/// When a ready pod became ready; `None` if it is not ready or did not say.
pub fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let ready = pod.condition("Ready")?;
    (ready.status == ConditionStatus::True)
        .then_some(ready.last_transition_time)
        .flatten()
}

/// Whether the pod has been ready for `min_ready_seconds`.
pub fn is_available(pod: &Pod, min_ready_seconds: i32, now: Timestamp) -> bool {
    is_ready(pod) && available_in(pod, min_ready_seconds, now).is_some_and(|wait| wait.is_zero())
}

/// How long until a ready pod counts as available, zero if it does already; `None` if waiting
/// alone will not make it so.
pub fn available_in(pod: &Pod, min_ready_seconds: i32, now: Timestamp) -> Option<Duration> {
    if !is_ready(pod) {
        return None;
    }
    if min_ready_seconds <= 0 {
        return Some(Duration::ZERO);
    }
    let since = ready_since(pod)?;
    let needed = Duration::from_secs(min_ready_seconds.unsigned_abs().into());
    Some(since.saturating_add(needed).saturating_since(now))
}

#[cfg(test)]
mod tests;
