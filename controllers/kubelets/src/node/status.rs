//! What a simulated node says of itself, in the words of a kubelet.

use core::net::Ipv4Addr;
use std::collections::BTreeMap;

use flyball_api::{ConditionStatus, Labels, Quantity, Text, Timestamp};
use serde_json::{Value, json};

use crate::views::{Node, NodeAddress, NodeCondition};
use crate::{Settings, hash};

/// The first address of nodes: the private block that is least in the way, from its second on.
const ADDRESSES: u32 = u32::from_be_bytes([172, 16, 0, 2]);

/// What is said of a healthy node: type, status, reason, message. Upstream,
/// `pkg/kubelet/nodestatus/setters.go`; `Ready` comes last there too.
const CONDITIONS: &[(&str, ConditionStatus, &str, &str)] = &[
    (
        "MemoryPressure",
        ConditionStatus::False,
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    (
        "DiskPressure",
        ConditionStatus::False,
        "KubeletHasNoDiskPressure",
        "kubelet has no disk pressure",
    ),
    (
        "PIDPressure",
        ConditionStatus::False,
        "KubeletHasSufficientPID",
        "kubelet has sufficient PID available",
    ),
    (
        "Ready",
        ConditionStatus::True,
        "KubeletReady",
        "kubelet is posting ready status",
    ),
];

/// The labels of a node: those that every kubelet sets, its zone, and those from the settings.
pub(super) fn labels(settings: &Settings, name: &str) -> Labels {
    let zone = match settings.zones.len() {
        0 => None,
        zones => settings.zones.get(settings.place(name) % zones),
    };
    let architecture = settings.architecture.as_str();
    let usual = [
        ("beta.kubernetes.io/arch", architecture),
        ("beta.kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", architecture),
        ("kubernetes.io/hostname", name),
        ("kubernetes.io/os", "linux"),
    ];
    let zone = zone.map(|zone| ("topology.kubernetes.io/zone", zone.as_str()));
    settings.labels.iter().chain(usual).chain(zone).collect()
}

/// The labels that a node should have and has not, or has with another value.
pub(super) fn labels_missing(settings: &Settings, node: &Node) -> Labels {
    let wanted = labels(settings, &node.metadata.name);
    let missing = wanted
        .iter()
        .filter(|(key, value)| node.metadata.labels.get(key) != Some(value));
    missing.collect()
}

/// The whole status, with the times of conditions that have not changed taken from `before`.
pub(super) fn status(
    settings: &Settings,
    name: &str,
    before: &[NodeCondition],
    now: Timestamp,
) -> Value {
    let resources = resources(settings);
    json!({
        "capacity": resources,
        "allocatable": resources,
        "conditions": conditions(before, now),
        "addresses": addresses(settings, name),
        "nodeInfo": {
            "machineID": hash::id(name),
            "systemUUID": hash::id(&format!("system of {name}")),
            "bootID": hash::id(&format!("boot of {name}")),
            "kernelVersion": "simulated",
            "osImage": "Flyball simulated node",
            "containerRuntimeVersion": "flyball://simulated",
            "kubeletVersion": settings.kubelet_version,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": settings.architecture,
        },
    })
}

/// Whether what a node says is what it should say, whenever it was said.
pub(super) fn is_right(settings: &Settings, node: &Node) -> bool {
    let (resources, status) = (resources(settings), &node.status);
    let has = |have: &BTreeMap<Text, Quantity>| {
        let same = |(name, amount): (&&str, &Quantity)| have.get(*name) == Some(amount);
        resources.iter().all(same)
    };
    let said = CONDITIONS.iter().all(|(kind, value, reason, message)| {
        find(&status.conditions, kind)
            .is_some_and(|it| it.status == *value && it.reason == *reason && it.message == *message)
    });
    let addresses = addresses(settings, &node.metadata.name);
    said && has(&status.capacity)
        && has(&status.allocatable)
        && addresses.iter().all(|it| status.addresses.contains(it))
        && status.node_info.kubelet_version == settings.kubelet_version
        && status.node_info.architecture == settings.architecture
}

/// When a node last said that it is ready.
pub(super) fn last_heartbeat(node: &Node) -> Option<Timestamp> {
    find(&node.status.conditions, "Ready")?.last_heartbeat_time
}

fn conditions(before: &[NodeCondition], now: Timestamp) -> Vec<NodeCondition> {
    let condition = |(kind, status, reason, message): &(&str, ConditionStatus, &str, &str)| {
        let old = find(before, kind).filter(|old| old.status == *status);
        let since = old.and_then(|old| old.last_transition_time);
        NodeCondition {
            kind: (*kind).into(),
            status: *status,
            last_heartbeat_time: Some(now),
            last_transition_time: since.or(Some(now)),
            reason: (*reason).into(),
            message: (*message).into(),
        }
    };
    CONDITIONS.iter().map(condition).collect()
}

fn find<'a>(conditions: &'a [NodeCondition], kind: &str) -> Option<&'a NodeCondition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

fn resources(settings: &Settings) -> BTreeMap<&'static str, Quantity> {
    let capacity = &settings.capacity;
    BTreeMap::from([
        ("cpu", capacity.cpu),
        ("memory", capacity.memory),
        ("ephemeral-storage", capacity.ephemeral_storage),
        ("pods", Quantity::from_integer(capacity.pods.into())),
    ])
}

fn addresses(settings: &Settings, name: &str) -> [NodeAddress; 2] {
    let place = u32::try_from(settings.place(name)).unwrap_or(0);
    let internal = Ipv4Addr::from(ADDRESSES.saturating_add(place));
    let address = |kind: &str, address: &str| NodeAddress {
        kind: kind.into(),
        address: address.into(),
    };
    [
        address("InternalIP", &internal.to_string()),
        address("Hostname", name),
    ]
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    fn node(status: Value) -> Node {
        let json = json!({"metadata": {"name": "node-3"}, "status": status});
        Node::decode(json.to_string().as_bytes()).unwrap()
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_unix_seconds(seconds)
    }

    #[test]
    fn what_it_writes_it_finds_right() {
        let settings = Settings::default();
        let written = node(status(&settings, "node-3", &[], at(5)));
        assert!(is_right(&settings, &written));
        assert_eq!(last_heartbeat(&written), Some(at(5)));
        assert_eq!(written.internal_ip(), "172.16.0.5");
        assert!(!is_right(&settings, &node(json!({}))));
    }

    #[test]
    fn another_spelling_of_an_amount_is_the_same_amount() {
        let settings = Settings::default();
        let mut spelled = status(&settings, "node-3", &[], at(5));
        spelled["capacity"]["cpu"] = json!("32000m");
        assert!(is_right(&settings, &node(spelled.clone())));
        spelled["capacity"]["cpu"] = json!("31");
        assert!(!is_right(&settings, &node(spelled)));
    }

    #[test]
    fn only_a_changed_condition_gets_a_new_transition_time() {
        let settings = Settings::default();
        let mut old = node(status(&settings, "node-3", &[], at(5)));
        // As the node lifecycle controller leaves a node that it has not heard of.
        old.status.conditions[3].status = ConditionStatus::Unknown;
        assert!(!is_right(&settings, &old));
        let new = conditions(&old.status.conditions, at(9));
        let since: Vec<_> = new.iter().map(|it| it.last_transition_time).collect();
        assert_eq!(since, [Some(at(5)), Some(at(5)), Some(at(5)), Some(at(9))]);
        assert!(new.iter().all(|it| it.last_heartbeat_time == Some(at(9))));
    }

    #[test]
    fn zones_are_taken_in_turn_and_no_setting_takes_a_kubelets_own_label() {
        let settings = Settings {
            zones: vec!["a".into(), "b".into()],
            labels: Labels::from_iter([("tier", "x"), ("kubernetes.io/os", "plan9")]),
            ..Settings::default()
        };
        let zone = |name| {
            let labels = labels(&settings, name);
            labels.get("topology.kubernetes.io/zone").map(str::to_owned)
        };
        assert_eq!(zone("node-0").as_deref(), Some("a"));
        assert_eq!(zone("node-1").as_deref(), Some("b"));
        assert_eq!(zone("node-2").as_deref(), Some("a"));
        let all = labels(&settings, "node-0");
        assert_eq!(
            (all.get("tier"), all.get("kubernetes.io/os")),
            (Some("x"), Some("linux"))
        );
    }
}
