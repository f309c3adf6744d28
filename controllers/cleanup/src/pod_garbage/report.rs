//! What a sync reports and counts.

use flyball_api::ObjectName;
use flyball_api::views::{Node, Pod};
use flyball_plan::{Amount, Metric, Report, Rule, Tally, Target, Until, Wait};

use super::observe::{Observation, Reason};

flyball_plan::rules! {
    TERMINATED = "TooManyTerminatedPods", "more pods have terminated than the threshold allows";
    OUT_OF_SERVICE = "NodeOutOfService", "the node is out of service";
    ORPHANED = "NodeGone", "the node no longer exists";
    UNSCHEDULED = "UnscheduledTerminating", "a terminating pod has no node";
    NODE_EXISTS = "NodeExists", "the server knows the node";
    NODE_UNKNOWN = "NodeUnknown", "the server did not say whether the node exists";
}

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

fn rule(reason: &Reason) -> Rule {
    match reason {
        Reason::Terminated => TERMINATED,
        Reason::OutOfService => OUT_OF_SERVICE,
        Reason::Orphaned(_) => ORPHANED,
        Reason::Unscheduled => UNSCHEDULED,
    }
}

pub(super) fn node_exists(node: &str) -> Report {
    let target = Target {
        kind: Node::KIND,
        name: ObjectName::new("", node),
    };
    Report::new(NODE_EXISTS)
        .saw("node", node)
        .waits_for(Wait::object(target, Until::Cached))
}

pub(super) fn cannot_ask(node: &str) -> Report {
    Report::new(NODE_UNKNOWN).saw("node", node)
}

pub(super) fn held(seen: &Observation) -> Report {
    let mut report = Report::new(rule(&seen.reason)).saw("pods", seen.pods.len());
    report.waits_for = seen.pods.first().map(|pod| Wait::Object {
        target: Target::of(Pod::KIND, &pod.metadata),
        until: Until::Finalized(pod.metadata.finalizers.to_vec()),
        others: seen.pods.len() - 1,
    });
    report
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
