//! What a sync reports and counts.

use flyball_api::views::Pod;
use flyball_plan::{Amount, Metric, Report, Tally};

use super::observe::{Observation, Reason};

const LABELS: &[&str] = &["namespace", "reason"];

/// Upstream's metrics: `pkg/controller/podgc/metrics/metrics.go`.
const DELETED: &Metric = &Metric {
    name: "pod_gc_collector_force_delete_pods",
    help: "Number of pods that are being forcefully deleted since the Pod GC Controller started.",
    labels: LABELS,
    buckets_ms: &[],
};

const FAILED: &Metric = &Metric {
    name: "pod_gc_collector_force_delete_pod_errors",
    help: "Number of errors encountered when forcefully deleting the pods since the Pod GC Controller started.",
    labels: LABELS,
    buckets_ms: &[],
};

fn label(reason: &Reason) -> &'static str {
    match reason {
        Reason::Terminated => "terminated",
        Reason::OutOfService => "out-of-service",
        Reason::Orphaned(_) => "orphaned",
        Reason::Unscheduled => "unscheduled",
    }
}

fn rule(reason: &Reason) -> &'static str {
    match reason {
        Reason::Terminated => "more pods have finished than may stay",
        Reason::OutOfService => "the node is out of service",
        Reason::Orphaned(_) => "the node no longer exists",
        Reason::Unscheduled => "a pod without a node was asked to go",
    }
}

pub(super) fn node_exists(node: &str) -> Report {
    Report::new("the server knows the node")
        .saw("node", node)
        .waits_for("the cache to show it")
}

pub(super) fn cannot_ask(node: &str) -> Report {
    Report::new("nobody can tell whether the node exists").saw("node", node)
}

pub(super) fn held(seen: &Observation) -> Report {
    Report::new(rule(&seen.reason))
        .saw("pods", seen.pods.len())
        .waits_for("their finalizers")
}

pub(super) fn taken_away(seen: &Observation, taken: usize, failures: usize) -> Report {
    let report = Report::new(rule(&seen.reason))
        .saw("pods", seen.pods.len())
        .saw("taken away", taken);
    match failures {
        0 => report,
        _ => report.saw("failed", failures),
    }
}

/// One pod each: attempts, and those that failed.
pub(super) fn tallies(reason: &Reason, pods: &[&Pod], failed: impl Fn(&Pod) -> bool) -> Vec<Tally> {
    let one = |metric: &'static Metric, pod: &Pod| Tally {
        metric,
        labels: vec![pod.metadata.namespace.clone(), label(reason).into()],
        amount: Amount::Count(1),
    };
    let attempts = pods.iter().map(|pod| one(DELETED, pod));
    let failures = pods.iter().filter(|pod| failed(pod));
    attempts
        .chain(failures.map(|pod| one(FAILED, pod)))
        .collect()
}
