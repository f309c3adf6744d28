//! Reads a pod from its JSON text.

use flyball_api::{DecodeError, Labels, Text, Timestamp, Uid};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::pod::{Refusal, part};
use super::{Amounts, HostPort, Pod, ResourceList};

/// What a container without a request is taken to use when nodes are scored (upstream,
/// `pkg/scheduler/util/pod_resources.go`).
const NOMINAL_CPU_MILLI: i64 = 100;
const NOMINAL_MEMORY: i64 = 200 * 1024 * 1024;

/// The owners whose pods are spread without being asked to: those that upstream looks for
/// selectors in (`plugins/helper/spread.go`).
const SPREADING_OWNERS: &[&str] = &["ReplicationController", "ReplicaSet", "StatefulSet"];

#[derive(Deserialize)]
struct PodJson<'a> {
    metadata: MetaJson,
    #[serde(borrow, default)]
    spec: Option<SpecJson<'a>>,
    #[serde(default)]
    status: Option<StatusJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaJson {
    #[serde(default)]
    name: Text,
    #[serde(default)]
    namespace: Text,
    #[serde(default)]
    uid: Uid,
    #[serde(default)]
    resource_version: Text,
    #[serde(default)]
    creation_timestamp: Option<Timestamp>,
    #[serde(default)]
    deletion_timestamp: Option<IgnoredAny>,
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    owner_references: Option<Vec<OwnerJson>>,
}

#[derive(Deserialize)]
struct OwnerJson {
    kind: Text,
    uid: Uid,
    #[serde(default)]
    controller: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecJson<'a> {
    #[serde(default)]
    node_name: Option<Text>,
    #[serde(default)]
    scheduler_name: Option<Text>,
    #[serde(default)]
    priority: Option<i32>,
    #[serde(default)]
    preemption_policy: Option<Text>,
    #[serde(default)]
    scheduling_gates: Option<Vec<IgnoredAny>>,
    #[serde(borrow, default)]
    node_selector: Option<&'a RawValue>,
    #[serde(borrow, default)]
    affinity: Option<AffinityJson<'a>>,
    #[serde(borrow, default)]
    tolerations: Option<&'a RawValue>,
    #[serde(borrow, default)]
    topology_spread_constraints: Option<&'a RawValue>,
    #[serde(default)]
    containers: Option<Vec<ContainerJson>>,
    #[serde(default)]
    init_containers: Option<Vec<ContainerJson>>,
    #[serde(default)]
    resources: Option<ResourcesJson>,
    #[serde(default)]
    overhead: Option<ResourceList>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AffinityJson<'a> {
    #[serde(borrow, default)]
    node_affinity: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pod_affinity: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pod_anti_affinity: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerJson {
    #[serde(default)]
    resources: Option<ResourcesJson>,
    #[serde(default)]
    ports: Option<Vec<PortJson>>,
    #[serde(default)]
    restart_policy: Option<Text>,
}

#[derive(Default, Deserialize)]
struct ResourcesJson {
    #[serde(default)]
    requests: Option<ResourceList>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PortJson {
    #[serde(default)]
    host_port: Option<i32>,
    #[serde(default, rename = "hostIP")]
    host_ip: Option<Text>,
    #[serde(default)]
    protocol: Option<Text>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StatusJson {
    #[serde(default)]
    phase: Option<Text>,
    #[serde(default)]
    start_time: Option<Timestamp>,
    #[serde(default)]
    nominated_node_name: Option<Text>,
    #[serde(default)]
    conditions: Option<Vec<ConditionJson>>,
}

#[derive(Deserialize)]
struct ConditionJson {
    #[serde(rename = "type")]
    kind: Text,
    #[serde(default)]
    status: Text,
    #[serde(default)]
    reason: Option<Text>,
    #[serde(default)]
    message: Option<Text>,
}

pub(super) fn decode(json: &[u8]) -> Result<Pod, DecodeError> {
    let read: PodJson<'_> = serde_json::from_slice(json).map_err(DecodeError::new)?;
    let (meta, spec) = (read.metadata, read.spec.unwrap_or_default());
    let status = read.status.unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let (rules, ports) = (rules(&spec), ports(&spec));
    let (requests, nominal) = (requests(&spec, None), nominal(&spec));
    let owners = meta.owner_references.unwrap_or_default();
    let controller = owners.into_iter().find(|it| it.controller == Some(true));
    Ok(Pod {
        name: meta.name,
        namespace: meta.namespace,
        uid: meta.uid,
        resource_version: meta.resource_version,
        created: meta.creation_timestamp,
        deleting: meta.deletion_timestamp.is_some(),
        labels: meta.labels,
        group: controller
            .filter(|it| SPREADING_OWNERS.contains(&it.kind.as_str()))
            .map(|it| it.uid),
        scheduler_name: spec
            .scheduler_name
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| "default-scheduler".into()),
        node_name: spec.node_name.unwrap_or_default(),
        nominated_node_name: status.nominated_node_name.unwrap_or_default(),
        ended: matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")),
        started: status.start_time,
        priority: spec.priority.unwrap_or_default(),
        preempts: spec.preemption_policy.as_deref() != Some("Never"),
        gated: spec.scheduling_gates.is_some_and(|gates| !gates.is_empty()),
        refusal: refusal(&conditions),
        preempted: conditions.iter().any(is_preemption),
        rules,
        requests,
        nominal,
        ports,
    })
}

fn refusal(conditions: &[ConditionJson]) -> Option<Box<Refusal>> {
    let found = conditions
        .iter()
        .find(|it| it.kind == "PodScheduled" && it.status == "False")?;
    Some(Box::new(Refusal {
        reason: found.reason.clone().unwrap_or_default(),
        message: found.message.clone().unwrap_or_default(),
    }))
}

fn is_preemption(condition: &ConditionJson) -> bool {
    condition.kind == "DisruptionTarget"
        && condition.status == "True"
        && condition.reason.as_deref() == Some("PreemptionByScheduler")
}

fn rules(spec: &SpecJson<'_>) -> Labels {
    let affinity = spec.affinity.as_ref();
    let parts = [
        (part::NODE_SELECTOR, spec.node_selector),
        (
            part::NODE_AFFINITY,
            affinity.and_then(|it| it.node_affinity),
        ),
        (part::POD_AFFINITY, affinity.and_then(|it| it.pod_affinity)),
        (
            part::POD_ANTI_AFFINITY,
            affinity.and_then(|it| it.pod_anti_affinity),
        ),
        (part::TOLERATIONS, spec.tolerations),
        (part::SPREAD, spec.topology_spread_constraints),
    ];
    let said = parts
        .into_iter()
        .filter_map(|(part, json)| json.map(|json| (part, json.get())));
    said.filter(|(_, json)| !["null", "[]", "{}"].contains(json))
        .collect()
}

/// Ports of the node that containers and sidecars take (upstream, `pkg/scheduler/util/utils.go`).
fn ports(spec: &SpecJson<'_>) -> Box<[HostPort]> {
    let sidecars = spec.init_containers.iter().flatten().filter(is_sidecar);
    let containers = spec.containers.iter().flatten().chain(sidecars);
    let ports = containers.flat_map(|it| it.ports.iter().flatten());
    ports
        .filter_map(|port| {
            let non_empty = |text: &Option<Text>, default: &str| match text.as_deref() {
                None | Some("") => default.into(),
                Some(text) => text.into(),
            };
            Some(HostPort {
                port: port.host_port.filter(|port| *port > 0)?,
                ip: non_empty(&port.host_ip, "0.0.0.0"),
                protocol: non_empty(&port.protocol, "TCP"),
            })
        })
        .collect()
}

fn is_sidecar(container: &&ContainerJson) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// What the pod asks for: the sum of its containers and sidecars, or the most that starting up
/// takes; what it says for itself as a whole instead, where it does; and the overhead of running
/// it. Upstream: component-helpers `resource/helpers.go`.
fn requests(spec: &SpecJson<'_>, missing: Option<(i64, i64)>) -> Amounts {
    let asked = |container: &ContainerJson| {
        let list = container
            .resources
            .as_ref()
            .and_then(|it| it.requests.as_ref());
        let mut amounts = list.map(Amounts::of).unwrap_or_default();
        if let Some((cpu_milli, memory)) = missing {
            let says = |name: &str| list.is_some_and(|list| list.contains_key(name));
            if !says("cpu") {
                amounts.cpu_milli = cpu_milli;
            }
            if !says("memory") {
                amounts.memory = memory;
            }
        }
        amounts
    };
    let mut total = Amounts::default();
    for container in spec.containers.iter().flatten() {
        total.add(&asked(container));
    }
    let (mut sidecars, mut starting) = (Amounts::default(), Amounts::default());
    for container in spec.init_containers.iter().flatten() {
        let mut step = asked(container);
        if is_sidecar(&container) {
            total.add(&step);
            sidecars.add(&step);
            step = sidecars.clone();
        } else {
            step.add(&sidecars);
        }
        starting.raise_to(&step);
    }
    total.raise_to(&starting);
    if let Some(whole) = spec.resources.as_ref().and_then(|it| it.requests.as_ref()) {
        put_whole(&mut total, whole);
    }
    if let Some(overhead) = &spec.overhead {
        total.add(&Amounts::of(overhead));
    }
    total
}

/// Replaces sums by what the pod asks for as a whole; it can do so for CPU, memory and huge pages.
fn put_whole(total: &mut Amounts, whole: &ResourceList) {
    let amounts = Amounts::of(whole);
    if whole.contains_key("cpu") {
        total.cpu_milli = amounts.cpu_milli;
    }
    if whole.contains_key("memory") {
        total.memory = amounts.memory;
    }
    for (name, amount) in amounts.extended {
        if name.starts_with("hugepages-") {
            match total
                .extended
                .binary_search_by(|(known, _)| known.cmp(&name))
            {
                Ok(at) => total.extended[at].1 = amount,
                Err(at) => total.extended.insert(at, (name, amount)),
            }
        }
    }
}

fn nominal(spec: &SpecJson<'_>) -> (i64, i64) {
    let amounts = requests(spec, Some((NOMINAL_CPU_MILLI, NOMINAL_MEMORY)));
    (amounts.cpu_milli, amounts.memory)
}

#[cfg(test)]
mod tests;
