//! The controllers that run pods.

use super::{Group, flag, tuning};
use crate::options::value::Kind::Int32;

pub(super) const DEPLOYMENT: &Group = &tuning(
    "Deployment-controller flags",
    "deployment-controller",
    &[flag(
        Int32,
        "concurrent-deployment-syncs",
        "5",
        "DeploymentController.ConcurrentDeploymentSyncs",
        "Deployments worked on at the same time.",
    )],
);

pub(super) const STATEFUL_SET: &Group = &tuning(
    "Statefulset-controller flags",
    "statefulset-controller",
    &[flag(
        Int32,
        "concurrent-statefulset-syncs",
        "5",
        "StatefulSetController.ConcurrentStatefulSetSyncs",
        "StatefulSets worked on at the same time.",
    )],
);

pub(super) const DAEMON_SET: &Group = &tuning(
    "Daemonset-controller flags",
    "daemonset-controller",
    &[flag(
        Int32,
        "concurrent-daemonset-syncs",
        "2",
        "DaemonSetController.ConcurrentDaemonSetSyncs",
        "DaemonSets worked on at the same time.",
    )],
);

pub(super) const JOB: &Group = &tuning(
    "Job-controller flags",
    "job-controller",
    &[flag(
        Int32,
        "concurrent-job-syncs",
        "5",
        "JobController.ConcurrentJobSyncs",
        "Jobs worked on at the same time.",
    )],
);

pub(super) const CRON_JOB: &Group = &tuning(
    "Cronjob-controller flags",
    "cronjob-controller",
    &[flag(
        Int32,
        "concurrent-cron-job-syncs",
        "5",
        "CronJobController.ConcurrentCronJobSyncs",
        "CronJobs worked on at the same time.",
    )],
);

pub(super) const POD_GARBAGE_COLLECTOR: &Group = &tuning(
    "Pod-garbage-collector-controller flags",
    "pod-garbage-collector-controller",
    &[flag(
        Int32,
        "terminated-pod-gc-threshold",
        "12500",
        "PodGCController.TerminatedPodGCThreshold",
        "Finished pods kept before the oldest are deleted; 0 or less keeps all.",
    )],
);

pub(super) const REPLICA_SET: &Group = &tuning(
    "Replicaset-controller flags",
    "replicaset-controller",
    &[flag(
        Int32,
        "concurrent-replicaset-syncs",
        "5",
        "ReplicaSetController.ConcurrentRSSyncs",
        "ReplicaSets worked on at the same time.",
    )],
);

pub(super) const REPLICATION_CONTROLLER: &Group = &tuning(
    "Replicationcontroller-controller flags",
    "replicationcontroller-controller",
    &[flag(
        Int32,
        "concurrent-rc-syncs",
        "5",
        "ReplicationController.ConcurrentRCSyncs",
        "ReplicationControllers worked on at the same time.",
    )],
);

pub(super) const TTL_AFTER_FINISHED: &Group = &tuning(
    "Ttl-after-finished-controller flags",
    "ttl-after-finished-controller",
    &[flag(
        Int32,
        "concurrent-ttl-after-finished-syncs",
        "5",
        "TTLAfterFinishedController.ConcurrentTTLSyncs",
        "Finished Jobs looked at at the same time.",
    )],
);
