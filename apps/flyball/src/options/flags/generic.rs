//! What concerns the program as a whole: its controllers, its connection to the API server, its
//! lease.

use super::{Effect, Flag, Group, flag};
use crate::options::value::Kind::{Bool, Duration, FeatureGates, Float32, Int32, Text, TextList};

const CLOUD: Effect =
    Effect::Nothing("cloud controllers live in the cloud provider's own controller manager");
const VERSION: Effect =
    Effect::Nothing("this program behaves as Kubernetes 1.36 and emulates no other version");
const IPAM: Effect = Effect::Controller("node-ipam-controller");
const NO_MIGRATION: Effect =
    Effect::Nothing("it moves cloud controllers between programs, and none of them runs here");

pub(super) const LEADER_MIGRATION: &Group = &Group {
    title: "Leader-migration flags",
    effect: NO_MIGRATION,
    flags: &[
        flag(
            Bool,
            "enable-leader-migration",
            "false",
            "Generic.LeaderMigrationEnabled",
            "Hand cloud controllers over between programs under a lease of their own.",
        ),
        flag(
            Text,
            "leader-migration-config",
            "",
            "Generic.LeaderMigrationConfigFile",
            "File that says which program runs which controller during such a hand-over.",
        ),
    ],
};

pub(super) const GENERIC: &Group = &Group {
    title: "Generic flags",
    effect: Effect::Used,
    flags: FLAGS,
};

const FLAGS: &[Flag] = &[
    flag(
        Bool,
        "allocate-node-cidrs",
        "false",
        "KubeCloudShared.AllocateNodeCIDRs",
        "Give every node a range of pod addresses out of --cluster-cidr.",
    )
    .effect(IPAM),
    flag(
        Bool,
        "allow-untagged-cloud",
        "false",
        "KubeCloudShared.AllowUntaggedCloud",
        "Run without a cluster id on cloud instances.",
    )
    .effect(Effect::Deprecated(
        "it concerned cloud providers that were built in",
    )),
    flag(
        Text,
        "cidr-allocator-type",
        "RangeAllocator",
        "KubeCloudShared.CIDRAllocatorType",
        "How node address ranges are chosen; RangeAllocator is the only way.",
    )
    .effect(IPAM),
    flag(
        Text,
        "cloud-config",
        "",
        "KubeCloudShared.CloudProvider.CloudConfigFile",
        "Configuration file of the cloud provider.",
    )
    .effect(CLOUD),
    flag(
        Text,
        "cloud-provider",
        "",
        "KubeCloudShared.CloudProvider.Name",
        "Empty, or 'external' when a cloud controller manager runs beside this program.",
    ),
    flag(
        Text,
        "cluster-cidr",
        "",
        "KubeCloudShared.ClusterCIDR",
        "Address range of the cluster's pods, one per IP family; for --allocate-node-cidrs.",
    )
    .effect(IPAM),
    flag(
        Text,
        "cluster-name",
        "kubernetes",
        "KubeCloudShared.ClusterName",
        "Name of the cluster, as cloud resources are prefixed with it.",
    )
    .effect(CLOUD),
    flag(
        Bool,
        "configure-cloud-routes",
        "true",
        "KubeCloudShared.ConfigureCloudRoutes",
        "Have the cloud route each node's address range.",
    )
    .effect(CLOUD),
    flag(
        Duration,
        "controller-shutdown-timeout",
        "10s",
        "Generic.ControllerShutdownTimeout",
        "How long a stop waits for the controllers to finish what they began; 0 waits for ever.",
    ),
    flag(
        Duration,
        "controller-start-interval",
        "0s",
        "Generic.ControllerStartInterval",
        "Pause between the starts of two controllers.",
    )
    .effect(Effect::Nothing(
        "the controllers share their caches and start together",
    )),
    flag(
        TextList,
        "controllers",
        "*",
        "Generic.Controllers",
        "Controllers to run: '*' is every one that is on by default, 'foo' adds foo, '-foo' \
         leaves foo out. The first entry that names a controller decides.",
    ),
    flag(
        TextList,
        "emulated-version",
        "",
        "Generic.EmulatedVersion",
        "Behave like this Kubernetes version (kube=1.33 to kube=1.36).",
    )
    .effect(VERSION),
    flag(
        Text,
        "external-cloud-volume-plugin",
        "",
        "KubeCloudShared.ExternalCloudVolumePlugin",
        "Volume plugin of an external cloud provider.",
    )
    .effect(CLOUD),
    flag(
        FeatureGates,
        "feature-gates",
        "",
        "FeatureGates",
        "Features to switch on or off: Name=true,Other=false. May be given more than once.",
    ),
    flag(
        Int32,
        "kube-api-burst",
        "30",
        "Generic.ClientConnection.burst",
        "Requests each client may send at once before --kube-api-qps slows it down.",
    ),
    flag(
        Text,
        "kube-api-content-type",
        "application/vnd.kubernetes.protobuf",
        "Generic.ClientConnection.contentType",
        "Encoding of requests to the API server.",
    )
    .effect(Effect::Nothing(
        "the API server is always spoken to in JSON",
    )),
    flag(
        Float32,
        "kube-api-qps",
        "20",
        "Generic.ClientConnection.qps",
        "Requests per second each client may send on average; a negative number lifts the limit.",
    ),
    flag(
        Bool,
        "leader-elect",
        "true",
        "Generic.LeaderElection.leaderElect",
        "Hold the lease before running any controller, so that several replicas may stand by.",
    ),
    flag(
        Duration,
        "leader-elect-lease-duration",
        "15s",
        "Generic.LeaderElection.leaseDuration",
        "How long a lease must have stood still before another replica takes it.",
    ),
    flag(
        Duration,
        "leader-elect-renew-deadline",
        "10s",
        "Generic.LeaderElection.renewDeadline",
        "How long the leader tries to renew before it stops leading; less than the lease duration.",
    ),
    flag(
        Text,
        "leader-elect-resource-lock",
        "leases",
        "Generic.LeaderElection.resourceLock",
        "Kind of object used as the lock; only 'leases'.",
    ),
    flag(
        Text,
        "leader-elect-resource-name",
        "kube-controller-manager",
        "Generic.LeaderElection.resourceName",
        "Name of the lease.",
    ),
    flag(
        Text,
        "leader-elect-resource-namespace",
        "kube-system",
        "Generic.LeaderElection.resourceNamespace",
        "Namespace of the lease.",
    ),
    flag(
        Duration,
        "leader-elect-retry-period",
        "2s",
        "Generic.LeaderElection.retryPeriod",
        "Pause between two attempts to take or renew the lease.",
    ),
    flag(
        TextList,
        "min-compatibility-version",
        "",
        "Generic.MinCompatibilityVersion",
        "Oldest version of other components to stay compatible with.",
    )
    .effect(VERSION),
    flag(
        Duration,
        "min-resync-period",
        "12h0m0s",
        "Generic.MinResyncPeriod",
        "Every object is looked at again after this long, up to twice as long.",
    ),
    flag(
        Duration,
        "node-monitor-period",
        "5s",
        "KubeCloudShared.NodeMonitorPeriod",
        "How often the health of nodes is judged.",
    )
    .effect(Effect::Controller("node-lifecycle-controller")),
    flag(
        Duration,
        "node-sync-period",
        "0s",
        "KubeCloudShared.NodeSyncPeriod",
        "Period of a node loop that no longer exists.",
    )
    .effect(Effect::Deprecated("the loop it paced is gone")),
    flag(
        Duration,
        "route-reconciliation-period",
        "10s",
        "KubeCloudShared.RouteReconciliationPeriod",
        "How often cloud routes are set right.",
    )
    .effect(CLOUD),
    flag(
        Bool,
        "use-service-account-credentials",
        "false",
        "KubeCloudShared.UseServiceAccountCredentials",
        "Act as a service account of its own for each controller.",
    ),
];

pub(super) const MISC: &Group = &Group {
    title: "Misc flags",
    effect: Effect::Used,
    flags: &[
        flag(
            Text,
            "kubeconfig",
            "",
            "Generic.ClientConnection.kubeconfig",
            "File with the API server's address and our credentials; empty means those of the pod \
             we run in.",
        ),
        flag(
            Text,
            "master",
            "",
            "Generic.ClientConnection.master",
            "Address of the API server, instead of the one in the kubeconfig.",
        ),
    ],
};
