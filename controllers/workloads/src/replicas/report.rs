//! What a sync reports: the counts it saw, and the pod or the answer that it waits for.

use flyball_api::Timestamp;
use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_plan::rules::pods::{is_available, is_ready};
use flyball_plan::{Report, Rule, Target, Until, Wait};

use super::Owner;
use super::outcome::Outcome;

flyball_plan::rules! {
    NO_SELECTOR = "NoSelector", "no usable selector";
    CLAIMING = "Claiming", "pods are adopted or released";
    TERMINATING = "Terminating", "a terminating owner leaves its pods to the garbage collector";
    TOO_FEW = "TooFewPods", "too few pods";
    TOO_MANY = "TooManyPods", "too many pods";
    RIGHT_NUMBER = "RightNumberOfPods", "the right number of pods";
}

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

fn rule(owner: &Owner<'_>, pods: &[&Pod]) -> Rule {
    if owner.meta.is_deleting() {
        TERMINATING
    } else if pods.len() < owner.replicas {
        TOO_FEW
    } else if pods.len() > owner.replicas {
        TOO_MANY
    } else {
        RIGHT_NUMBER
    }
}

fn waits_for(owner: &Owner<'_>, pods: &[&Pod], outcome: &Outcome, now: Timestamp) -> Option<Wait> {
    let own = |until| {
        let target = Target::of(owner.kind, owner.meta);
        Some(Wait::object(target, until))
    };
    let count = |pods: usize| i32::try_from(pods).unwrap_or(i32::MAX);
    if let Some(refusal) = &outcome.refusal {
        return Some(refusal.failure.wait.as_ref().clone());
    }
    if outcome.namespace_terminating {
        let namespace = Target::namespace(&owner.meta.namespace);
        return Some(Wait::object(namespace, Until::Deleted));
    }
    if owner.meta.is_deleting() {
        return own(Until::Finalized(owner.meta.finalizers.to_vec()));
    }
    if outcome.created > 0 {
        return own(Until::PodsAvailable(count(outcome.created)));
    }
    if outcome.deleted > 0 {
        return own(Until::PodsDeleted(count(outcome.deleted)));
    }
    if let Some((first, others)) = first_of(pods, |pod| !is_ready(pod)) {
        let until = match first.spec.node_name.is_empty() {
            true => Until::Scheduled,
            false => Until::Ready,
        };
        return Some(of_pods(first, until, others));
    }
    let min_ready_seconds = owner.min_ready_seconds;
    let (first, others) = first_of(pods, |pod| !is_available(pod, min_ready_seconds, now))?;
    Some(of_pods(
        first,
        Until::Available { min_ready_seconds },
        others,
    ))
}

fn of_pods(first: &Pod, until: Until, others: usize) -> Wait {
    let target = Target::of(Pod::KIND, &first.metadata);
    Wait::Object {
        target,
        until,
        others,
    }
}

/// The first pod of a sort by name, and how many others there are.
fn first_of<'a>(pods: &[&'a Pod], wanted: impl Fn(&Pod) -> bool) -> Option<(&'a Pod, usize)> {
    let found = || pods.iter().copied().filter(|pod| wanted(pod));
    let first = found().min_by_key(|pod| &pod.metadata.name)?;
    Some((first, found().count() - 1))
}
