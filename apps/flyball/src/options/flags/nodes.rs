//! Nodes: their health, their address ranges, their devices.

use super::{Group, flag, tuning};
use crate::options::value::Kind::{Duration, Float32, Int32, Text};

pub(super) const DEVICE_TAINT_EVICTION: &Group = &tuning(
    "Device-taint-eviction-controller flags",
    "device-taint-eviction-controller",
    &[flag(
        Int32,
        "concurrent-device-taint-eviction-syncs",
        "8",
        "DeviceTaintEvictionController.ConcurrentSyncs",
        "Evictions and status updates made at the same time.",
    )],
);

pub(super) const RESOURCE_CLAIM: &Group = &tuning(
    "Resourceclaim-controller flags",
    "resourceclaim-controller",
    &[flag(
        Int32,
        "concurrent-resourceclaim-syncs",
        "50",
        "ResourceClaimController.ConcurrentSyncs",
        "ResourceClaims created or deleted at the same time.",
    )],
);

pub(super) const NODE_IPAM: &Group = &tuning(
    "Node-ipam-controller flags",
    "node-ipam-controller",
    &[
        flag(
            Int32,
            "node-cidr-mask-size",
            "0",
            "NodeIPAMController.NodeCIDRMaskSize",
            "Prefix length of each node's range in a single-stack cluster; 0 is 24 for IPv4, 64 \
             for IPv6.",
        ),
        flag(
            Int32,
            "node-cidr-mask-size-ipv4",
            "0",
            "NodeIPAMController.NodeCIDRMaskSizeIPv4",
            "Prefix length of each node's IPv4 range in a dual-stack cluster; 0 is 24.",
        ),
        flag(
            Int32,
            "node-cidr-mask-size-ipv6",
            "0",
            "NodeIPAMController.NodeCIDRMaskSizeIPv6",
            "Prefix length of each node's IPv6 range in a dual-stack cluster; 0 is 64.",
        ),
        flag(
            Text,
            "service-cluster-ip-range",
            "",
            "NodeIPAMController.ServiceCIDR",
            "Address range of Services, which node ranges must stay clear of.",
        ),
    ],
);

pub(super) const NODE_LIFECYCLE: &Group = &tuning(
    "Node-lifecycle-controller flags",
    "node-lifecycle-controller",
    &[
        flag(
            Int32,
            "large-cluster-size-threshold",
            "50",
            "NodeLifecycleController.LargeClusterSizeThreshold",
            "Zones of at most this many nodes evict nothing while unhealthy.",
        ),
        flag(
            Float32,
            "node-eviction-rate",
            "0.1",
            "NodeLifecycleController.NodeEvictionRate",
            "Failed nodes per second to evict from in a healthy zone.",
        ),
        flag(
            Duration,
            "node-monitor-grace-period",
            "50s",
            "NodeLifecycleController.NodeMonitorGracePeriod",
            "How long a node may be silent before it counts as unhealthy.",
        ),
        flag(
            Duration,
            "node-startup-grace-period",
            "1m0s",
            "NodeLifecycleController.NodeStartupGracePeriod",
            "The same for a node that has just joined.",
        ),
        flag(
            Float32,
            "secondary-node-eviction-rate",
            "0.01",
            "NodeLifecycleController.SecondaryNodeEvictionRate",
            "Failed nodes per second to evict from in an unhealthy zone.",
        ),
        flag(
            Float32,
            "unhealthy-zone-threshold",
            "0.55",
            "NodeLifecycleController.UnhealthyZoneThreshold",
            "Fraction of a zone's nodes, three at least, whose failure makes the zone unhealthy.",
        ),
    ],
);
