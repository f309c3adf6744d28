//! Every file with a rule of a controller, and what shows that it was reached.
//!
//! The tests of `xtask` compare the files with those that there are: a new one is to be added here.

/// A controller, a file of it, and what is heard of the controller when that file had a say.
pub(super) type Rule = (&'static str, &'static str, &'static str);

const DEPLOYMENTS: &str = "deployment-controller";
const SETS: &str = "replicaset-controller";
const CONTROLLERS: &str = "replicationcontroller-controller";
const NAMESPACES: &str = "namespace-controller";
const POD_GARBAGE: &str = "pod-garbage-collector-controller";
const FINISHED: &str = "ttl-after-finished-controller";
const COLLECTOR: &str = "garbage-collector-controller";
const SCHEDULER: &str = "kube-scheduler";
const NODES: &str = "simulated-node-controller";
const PODS: &str = "simulated-pod-controller";

/// Files that no controller decides by: who looks at them is not simulated.
pub const ELSEWHERE: &[&str] = &[
    // Draws the graph for people who ask for it.
    "controllers/ownership/src/collector/graph.rs",
    // What it remembers shows in what is not asked; its own tests and those of families see to it.
    "controllers/ownership/src/collector/absent.rs",
];

/// All of them.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    (DEPLOYMENTS, "controllers/workloads/src/deployment/annotations.rs", "deployment.kubernetes.io/max-replicas"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/claims.rs", "stage claim\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/cleanup.rs", "stage clean-up\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/conditions.rs", "MinimumReplicasAvailable"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/creation.rs", "stage create\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/draft.rs", "stage status\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/edits.rs", "stage new\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/limits.rs", "rule OldReplicaSetsScaledDown\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/pausing.rs", "DeploymentPaused"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/progress.rs", "has successfully progressed"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/recreate.rs", "rule Recreate\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/revisions.rs", "deployment.kubernetes.io/revision"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/rollback.rs", "stage rollback\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/rolling.rs", "rule RollingUpdate\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/scaling.rs", "stage sizes\n"),
    (DEPLOYMENTS, "controllers/workloads/src/deployment/sets.rs", "pod-template-hash"),
    (SETS, "controllers/workloads/src/replicas/adoption.rs", "stage claim\n"),
    (SETS, "controllers/workloads/src/replicas/creation.rs", "stage create\n"),
    (SETS, "controllers/workloads/src/replicas/deletion.rs", "stage delete\n"),
    (SETS, "controllers/workloads/src/replicas/kind.rs", "rule RightNumberOfPods\n"),
    (SETS, "controllers/workloads/src/replicas/outcome.rs", "SuccessfulCreate"),
    (SETS, "controllers/workloads/src/replicas/report.rs", "to become ready"),
    (CONTROLLERS, "controllers/workloads/src/replicas/adoption.rs", "stage claim\n"),
    (CONTROLLERS, "controllers/workloads/src/replicas/creation.rs", "stage create\n"),
    (CONTROLLERS, "controllers/workloads/src/replicas/deletion.rs", "stage delete\n"),
    (CONTROLLERS, "controllers/workloads/src/replicas/kind.rs", "rule RightNumberOfPods\n"),
    (CONTROLLERS, "controllers/workloads/src/replicas/outcome.rs", "SuccessfulCreate"),
    (CONTROLLERS, "controllers/workloads/src/replicas/report.rs", "to become ready"),
    (NAMESPACES, "controllers/cleanup/src/namespace/conditions.rs", "NamespaceContentRemaining"),
    (NAMESPACES, "controllers/cleanup/src/namespace/content.rs", "stage delete content\n"),
    (NAMESPACES, "controllers/cleanup/src/namespace/findings.rs", "rule ContentRemains\n"),
    (NAMESPACES, "controllers/cleanup/src/namespace/live.rs", "stage finalize\n"),
    (NAMESPACES, "controllers/cleanup/src/namespace/resources.rs", "stage content\n"),
    (POD_GARBAGE, "controllers/cleanup/src/pod_garbage/key.rs", "stage take away\n"),
    (POD_GARBAGE, "controllers/cleanup/src/pod_garbage/marking.rs", "stage mark\n"),
    (POD_GARBAGE, "controllers/cleanup/src/pod_garbage/victims.rs", "rule TooManyTerminatedPods\n"),
    (FINISHED, "controllers/cleanup/src/ttl_after_finished/expiry.rs", "stage delete\n"),
    (COLLECTOR, "controllers/ownership/src/collector/clash.rs", "stage look\n"),
    (COLLECTOR, "controllers/ownership/src/collector/finalizers.rs", "stage finalize\n"),
    (COLLECTOR, "controllers/ownership/src/collector/item.rs", "stage owner\n"),
    (COLLECTOR, "controllers/ownership/src/collector/orphans.rs", "stage free\n"),
    (COLLECTOR, "controllers/ownership/src/collector/owners.rs", "stage strip\n"),
    (COLLECTOR, "controllers/ownership/src/collector/waiting.rs", "rule DependentBlocks\n"),
    (SCHEDULER, "controllers/scheduler/src/placing/batch.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/placing/board.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/placing/class.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/placing/company.rs", "pod anti-affinity rules"),
    (SCHEDULER, "controllers/scheduler/src/placing/filter.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/placing/preemption.rs", "Preempted by pod"),
    (SCHEDULER, "controllers/scheduler/src/placing/score.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/placing/spreading.rs", "topology spread constraints"),
    (SCHEDULER, "controllers/scheduler/src/placing/topology.rs", "topology spread constraints"),
    (SCHEDULER, "controllers/scheduler/src/placing/verdict.rs", "nodes are available"),
    (SCHEDULER, "controllers/scheduler/src/rules/allocation.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/rules/fit.rs", "Insufficient cpu"),
    (SCHEDULER, "controllers/scheduler/src/rules/node_affinity.rs", "node affinity/selector"),
    (SCHEDULER, "controllers/scheduler/src/rules/normalize.rs", "stage place\n"),
    (SCHEDULER, "controllers/scheduler/src/rules/pod_affinity.rs", "pod anti-affinity rules"),
    (SCHEDULER, "controllers/scheduler/src/rules/ports.rs", "free ports"),
    (SCHEDULER, "controllers/scheduler/src/rules/spread.rs", "topology spread constraints"),
    (SCHEDULER, "controllers/scheduler/src/rules/taints.rs", "untolerated taint"),
    (NODES, "controllers/kubelets/src/node/taints.rs", "\"taints\""),
    (PODS, "controllers/kubelets/src/pods/addresses.rs", "podIP"),
    (PODS, "controllers/kubelets/src/pods/advance.rs", "stage pods\n"),
    (PODS, "controllers/kubelets/src/pods/asks.rs", "rule PodsRun\n"),
    (PODS, "controllers/kubelets/src/pods/back_off.rs", "CrashLoopBackOff"),
    (PODS, "controllers/kubelets/src/pods/conditions.rs", "ContainersReady"),
    (PODS, "controllers/kubelets/src/pods/images.rs", "ErrImagePull"),
    (PODS, "controllers/kubelets/src/pods/life.rs", "containerStatuses"),
    (PODS, "controllers/kubelets/src/pods/phase.rs", "\"phase\":\"Running\""),
    (PODS, "controllers/kubelets/src/pods/point.rs", "rule PodsRun\n"),
];
