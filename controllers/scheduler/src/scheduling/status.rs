//! What pods are told about themselves: why they wait, where room is made for them, why they go.

use flyball_api::Timestamp;
use flyball_plan::{Action, Record, RecordKind, Subresource, Write};
use serde_json::{Value, json};

use super::SchedulerSettings;
use crate::placing::{Failure, Nomination};
use crate::views::Pod;

const UNSCHEDULABLE: &str = "Unschedulable";
const SCHEDULER_ERROR: &str = "SchedulerError";

/// The most characters of an event's message.
const MESSAGE_MAX: usize = 1024;

/// Whether a failure is anything the pod does not say already.
pub(super) fn is_news(failure: &Failure) -> bool {
    let known = failure.pod.refusal.as_ref().is_some_and(|refusal| {
        refusal.reason == UNSCHEDULABLE && *refusal.message == *failure.message
    });
    !known || nominated(failure).is_some()
}

/// The nominated node to be written, if it is another one; null for none.
fn nominated(failure: &Failure) -> Option<Value> {
    let written = &failure.pod.nominated_node_name;
    match &failure.nomination {
        Nomination::To(node) if node != written => Some(json!(node)),
        Nomination::Clear if !written.is_empty() => Some(Value::Null),
        _ => None,
    }
}

/// Writes why a pod waits, and where room is made for it.
pub(super) fn refuse(failure: &Failure, now: Timestamp) -> Action {
    let mut status = unscheduled(&failure.pod, UNSCHEDULABLE, &failure.message, now);
    if let Some(node) = nominated(failure) {
        status["nominatedNodeName"] = node;
    }
    patch(&failure.pod, status)
}

/// Writes that a pod could not be bound.
pub(super) fn unbound(pod: &Pod, message: &str, now: Timestamp) -> Action {
    patch(pod, unscheduled(pod, SCHEDULER_ERROR, message, now))
}

fn unscheduled(pod: &Pod, reason: &str, message: &str, now: Timestamp) -> Value {
    let mut condition = json!({
        "type": "PodScheduled", "status": "False", "reason": reason, "message": message,
    });
    // Only a change of the status is a transition.
    if pod.refusal.is_none() {
        condition["lastTransitionTime"] = json!(now);
    }
    json!({"conditions": [condition]})
}

/// Takes back the room that was made for a less important pod.
pub(super) fn displace(pod: &Pod) -> Action {
    patch(pod, json!({"nominatedNodeName": null}))
}

/// Writes why a pod goes, before it does.
pub(super) fn doom(victim: &Pod, settings: &SchedulerSettings, now: Timestamp) -> Action {
    let message = format!(
        "{}: preempting to accommodate a higher priority pod",
        settings.name
    );
    patch(
        victim,
        json!({"conditions": [{
            "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
            "message": message, "lastTransitionTime": now,
        }]}),
    )
}

fn patch(pod: &Pod, status: Value) -> Action {
    let precondition = pod.incarnation();
    Write::patch(pod.target(), precondition, json!({"status": status}))
        .to_subresource(Subresource::STATUS)
        .into()
}

/// Tells people why a pod waits.
pub(super) fn tell_failed(pod: &Pod, message: &str) -> Action {
    record(
        pod,
        RecordKind::Warning,
        "FailedScheduling",
        shortened(message),
    )
}

/// Tells people where a pod goes.
pub(super) fn tell_scheduled(pod: &Pod, node: &str) -> Action {
    let message = format!(
        "Successfully assigned {}/{} to {node}",
        pod.namespace, pod.name
    );
    record(pod, RecordKind::Normal, "Scheduled", message)
}

/// Tells people for whom a pod went.
pub(super) fn tell_preempted(victim: &Pod, by: &Pod, node: &str) -> Action {
    let message = format!("Preempted by pod {} on node {node}", by.uid);
    record(victim, RecordKind::Normal, "Preempted", message)
}

fn record(pod: &Pod, kind: RecordKind, reason: &'static str, message: String) -> Action {
    Action::Record(Record {
        about: pod.reference(),
        kind,
        reason,
        message,
    })
}

fn shortened(message: &str) -> String {
    if message.len() <= MESSAGE_MAX {
        return message.to_owned();
    }
    const END: &str = " ...";
    let mut upto = MESSAGE_MAX - END.len();
    while !message.is_char_boundary(upto) {
        upto -= 1;
    }
    format!("{}{END}", &message[..upto])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_between_letters() {
        let long = "ä".repeat(MESSAGE_MAX);
        let cut = shortened(&long);
        assert!(
            cut.len() <= MESSAGE_MAX && cut.ends_with("ä ..."),
            "{}",
            cut.len()
        );
        assert_eq!(shortened("short"), "short");
    }
}
