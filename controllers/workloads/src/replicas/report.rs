//! Why a sync did what it did, for whoever asks.

use flyball_api::Timestamp;
use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_plan::Report;
use flyball_plan::rules::pods::{is_available, is_ready};

use super::Owner;
use super::outcome::Outcome;

/// The report of a sync that came to its end.
pub(super) fn report(
    owner: &Owner<'_>,
    pods: &[&Pod],
    outcome: &Outcome,
    status: &ReplicaSetStatus,
    now: Timestamp,
) -> Report {
    let mut report = Report::new(rule(owner, pods))
        .saw("desired", owner.replicas)
        .saw("active", pods.len())
        .saw("ready", status.ready_replicas)
        .saw("available", status.available_replicas);
    if let Some(terminating) = status.terminating_replicas {
        report = report.saw("terminating", terminating);
    }
    if outcome.created > 0 {
        report = report.saw("created", outcome.created);
    }
    if outcome.deleted > 0 {
        report = report.saw("deleted", outcome.deleted);
    }
    report.waits_for = waits_for(owner, pods, outcome, now);
    report
}

fn rule(owner: &Owner<'_>, pods: &[&Pod]) -> &'static str {
    if owner.meta.is_deleting() {
        "an owner being deleted leaves its pods to the garbage collector"
    } else if pods.len() < owner.replicas {
        "too few pods"
    } else if pods.len() > owner.replicas {
        "too many pods"
    } else {
        "the right number of pods"
    }
}

fn waits_for(
    owner: &Owner<'_>,
    pods: &[&Pod],
    outcome: &Outcome,
    now: Timestamp,
) -> Option<String> {
    if let Some(failure) = &outcome.failure {
        return Some(format!("another try after: {}", failure.message));
    }
    if outcome.namespace_terminating {
        return Some(format!("namespace {} to go", owner.meta.namespace));
    }
    if owner.meta.is_deleting() {
        return Some("its own deletion to finish".to_owned());
    }
    if outcome.created > 0 {
        let created = counted(outcome.created, "created");
        return Some(format!("{created} to become ready"));
    }
    if outcome.deleted > 0 {
        return Some(format!("{} to go", counted(outcome.deleted, "deleted")));
    }
    if let Some(which) = first_of(pods, |pod| !is_ready(pod)) {
        return Some(format!("{which} to become ready"));
    }
    let seconds = owner.min_ready_seconds;
    let which = first_of(pods, |pod| !is_available(pod, seconds, now))?;
    Some(format!("{which} to have been ready for {seconds} s"))
}

fn counted(pods: usize, which: &str) -> String {
    match pods {
        1 => format!("1 {which} pod"),
        _ => format!("{pods} {which} pods"),
    }
}

/// The first pod of a sort by name, and how many others there are.
fn first_of(pods: &[&Pod], wanted: impl Fn(&Pod) -> bool) -> Option<String> {
    let found = || {
        pods.iter()
            .filter(|pod| wanted(pod))
            .map(|pod| &pod.metadata.name)
    };
    let first = found().min()?;
    Some(match found().count() - 1 {
        0 => format!("pod {first}"),
        1 => format!("pod {first} and 1 other"),
        others => format!("pod {first} and {others} others"),
    })
}
