//! Every field that is read exists upstream, with the same name and shape: objects are built with
//! the full types, and what was put in is found.

use std::collections::BTreeMap;

use flyball_api::Object;
use k8s_openapi::api::core::v1;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};

use super::*;
use crate::rules::node_affinity::NodeAffinity;
use crate::rules::pod_affinity::PodAffinity;
use crate::rules::taints::{Toleration, enters_cordoned, keep_away};
use crate::rules::{read, spread};

fn map<V>(key: &str, value: V) -> BTreeMap<String, V> {
    BTreeMap::from([(key.to_owned(), value)])
}

fn amount(text: &str) -> Quantity {
    Quantity(text.to_owned())
}

fn selector() -> LabelSelector {
    LabelSelector {
        match_labels: Some(map("app", "web".to_owned())),
        ..LabelSelector::default()
    }
}

fn requests(cpu: &str) -> v1::ResourceRequirements {
    v1::ResourceRequirements {
        requests: Some(map("cpu", amount(cpu))),
        ..v1::ResourceRequirements::default()
    }
}

fn node_affinity() -> v1::NodeAffinity {
    let requirement = |key: &str, value: &str| v1::NodeSelectorRequirement {
        key: key.to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![value.to_owned()]),
    };
    let term = v1::NodeSelectorTerm {
        match_expressions: Some(vec![requirement("zone", "x")]),
        match_fields: Some(vec![requirement("metadata.name", "n")]),
    };
    let preferred = v1::PreferredSchedulingTerm {
        weight: 3,
        preference: term.clone(),
    };
    v1::NodeAffinity {
        required_during_scheduling_ignored_during_execution: Some(v1::NodeSelector {
            node_selector_terms: vec![term],
        }),
        preferred_during_scheduling_ignored_during_execution: Some(vec![preferred]),
    }
}

fn term() -> v1::PodAffinityTerm {
    v1::PodAffinityTerm {
        label_selector: Some(selector()),
        namespaces: Some(vec!["other".to_owned()]),
        namespace_selector: Some(selector()),
        topology_key: "zone".to_owned(),
        ..v1::PodAffinityTerm::default()
    }
}

fn full_spec() -> v1::PodSpec {
    let weighted = v1::WeightedPodAffinityTerm {
        weight: 5,
        pod_affinity_term: term(),
    };
    let port = v1::ContainerPort {
        host_port: Some(80),
        host_ip: Some("1.2.3.4".to_owned()),
        protocol: Some("UDP".to_owned()),
        ..v1::ContainerPort::default()
    };
    let container = v1::Container {
        resources: Some(requests("1")),
        ports: Some(vec![port]),
        ..v1::Container::default()
    };
    let sidecar = v1::Container {
        resources: Some(requests("2")),
        restart_policy: Some("Always".to_owned()),
        ..v1::Container::default()
    };
    v1::PodSpec {
        scheduler_name: Some("mine".to_owned()),
        node_name: Some("n".to_owned()),
        priority: Some(7),
        preemption_policy: Some("Never".to_owned()),
        scheduling_gates: Some(vec![v1::PodSchedulingGate::default()]),
        node_selector: Some(map("zone", "x".to_owned())),
        containers: vec![container],
        init_containers: Some(vec![sidecar]),
        overhead: Some(map("memory", amount("4"))),
        resources: Some(v1::ResourceRequirements {
            requests: Some(map("memory", amount("8"))),
            ..v1::ResourceRequirements::default()
        }),
        tolerations: Some(vec![v1::Toleration {
            key: Some("node.kubernetes.io/unschedulable".to_owned()),
            operator: Some("Equal".to_owned()),
            value: Some("".to_owned()),
            effect: Some("NoSchedule".to_owned()),
            ..v1::Toleration::default()
        }]),
        topology_spread_constraints: Some(vec![v1::TopologySpreadConstraint {
            max_skew: 2,
            topology_key: "zone".to_owned(),
            when_unsatisfiable: "DoNotSchedule".to_owned(),
            label_selector: Some(selector()),
            match_label_keys: Some(vec!["hash".to_owned()]),
            min_domains: Some(3),
            node_affinity_policy: Some("Ignore".to_owned()),
            node_taints_policy: Some("Honor".to_owned()),
        }]),
        affinity: Some(v1::Affinity {
            node_affinity: Some(node_affinity()),
            pod_affinity: Some(v1::PodAffinity {
                required_during_scheduling_ignored_during_execution: Some(vec![term()]),
                preferred_during_scheduling_ignored_during_execution: Some(vec![weighted]),
            }),
            pod_anti_affinity: Some(v1::PodAntiAffinity {
                required_during_scheduling_ignored_during_execution: Some(vec![term()]),
                ..v1::PodAntiAffinity::default()
            }),
        }),
        ..v1::PodSpec::default()
    }
}

fn full_pod() -> Pod {
    let condition = |kind: &str, status: &str, reason: &str| v1::PodCondition {
        type_: kind.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some("why".to_owned()),
        ..v1::PodCondition::default()
    };
    let owner = OwnerReference {
        kind: "ReplicaSet".to_owned(),
        uid: "set".to_owned(),
        controller: Some(true),
        ..OwnerReference::default()
    };
    let pod = v1::Pod {
        metadata: ObjectMeta {
            name: Some("p".to_owned()),
            namespace: Some("ns".to_owned()),
            uid: Some("u".to_owned()),
            resource_version: Some("5".to_owned()),
            labels: Some(map("app", "web".to_owned())),
            owner_references: Some(vec![owner]),
            ..ObjectMeta::default()
        },
        spec: Some(full_spec()),
        status: Some(v1::PodStatus {
            phase: Some("Failed".to_owned()),
            nominated_node_name: Some("m".to_owned()),
            conditions: Some(vec![
                condition("PodScheduled", "False", "Unschedulable"),
                condition("DisruptionTarget", "True", "PreemptionByScheduler"),
            ]),
            ..v1::PodStatus::default()
        }),
    };
    Pod::decode(&serde_json::to_vec(&pod).unwrap()).unwrap()
}

fn full_node(name: &str) -> Node {
    let node = v1::Node {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(map("zone", "x".to_owned())),
            ..ObjectMeta::default()
        },
        spec: Some(v1::NodeSpec {
            unschedulable: Some(true),
            taints: Some(vec![v1::Taint {
                key: "k".to_owned(),
                value: Some("v".to_owned()),
                effect: "NoSchedule".to_owned(),
                ..v1::Taint::default()
            }]),
            ..v1::NodeSpec::default()
        }),
        status: Some(v1::NodeStatus {
            allocatable: Some(map("pods", amount("9"))),
            ..v1::NodeStatus::default()
        }),
    };
    Node::decode(&serde_json::to_vec(&node).unwrap()).unwrap()
}

#[test]
fn of_pods_are_found() {
    let pod = full_pod();
    assert_eq!(pod.object_name().to_string(), "ns/p");
    assert_eq!(
        (pod.uid.to_string(), &*pod.resource_version),
        ("u".to_owned(), "5")
    );
    assert_eq!((&*pod.scheduler_name, &*pod.node_name), ("mine", "n"));
    assert_eq!((&*pod.nominated_node_name, pod.priority), ("m", 7));
    assert!(pod.ended && pod.gated && !pod.preempts && pod.preempted);
    assert_eq!(pod.group, Some("set".into()));
    assert_eq!(pod.labels.get("app"), Some("web"));
    let refusal = pod.refusal.as_ref().unwrap();
    assert_eq!(
        (&*refusal.reason, &*refusal.message),
        ("Unschedulable", "why")
    );
    assert_eq!((pod.requests.cpu_milli, pod.requests.memory), (3000, 12));
    let port = &pod.ports[0];
    assert_eq!(
        (port.port, &*port.ip, &*port.protocol),
        (80, "1.2.3.4", "UDP")
    );
}

#[test]
fn of_rules_are_found() {
    let (pod, node) = (full_pod(), full_node("n"));
    let affinity = NodeAffinity::of(&pod).unwrap();
    assert!(affinity.admits(&node) && !affinity.admits(&full_node("m")));
    assert_eq!(
        (affinity.preference(&node), affinity.named().unwrap().len()),
        (3, 1)
    );
    let says = PodAffinity::of(&pod).unwrap();
    assert_eq!(
        (says.near.len(), says.away.len(), says.preferred[0].0),
        (1, 1, 5)
    );
    let mut other = pod.clone();
    other.namespace = "other".into();
    let nothing = flyball_api::Labels::default();
    assert!(says.near[0].matches(&other, &nothing) && says.near[0].key == "zone");
    assert!(!says.near[0].matches(&pod, &nothing) && says.near[0].matches(&pod, &pod.labels));
    let (constraints, asked) = spread::constraints(&pod).unwrap();
    let it = &constraints[0];
    assert!(asked && it.hard && it.counts_itself && it.honors_taints && !it.honors_affinity);
    assert_eq!((it.skew_max, &*it.key, it.domains_min), (2, "zone", 3));
    let tolerations: Vec<Toleration> =
        read(part::TOLERATIONS, pod.rule(part::TOLERATIONS)).unwrap();
    assert!(enters_cordoned(&tolerations) && keep_away(&node.taints, &tolerations));
}

#[test]
fn of_nodes_are_found() {
    let node = full_node("n");
    assert!(node.unschedulable && node.pods_max == 9 && node.labels.get("zone") == Some("x"));
    let taint = &node.taints[0];
    assert_eq!(
        (&*taint.key, &*taint.value, &*taint.effect),
        ("k", "v", "NoSchedule")
    );
}
