use flyball_api::{Object, Pool};
use serde_json::{Value, json};

use super::*;

fn pod(spec: Value) -> Pod {
    let whole = json!({"metadata": {"name": "a", "namespace": "n"}, "spec": spec});
    Pod::decode(whole.to_string().as_bytes()).unwrap()
}

fn container(requests: Value) -> Value {
    json!({"resources": {"requests": requests}})
}

/// Ideas from upstream's `component-helpers/resource/helpers_test.go`, TestPodRequests.
#[test]
fn requests_are_what_the_pod_takes_at_its_worst_moment() {
    let cpu = |amount: &str| container(json!({"cpu": amount}));
    let sidecar = |amount: &str| {
        let mut it = cpu(amount);
        it["restartPolicy"] = "Always".into();
        it
    };
    let cases = [
        (
            "containers add up",
            json!({"containers": [cpu("1"), cpu("2")]}),
            3000,
        ),
        (
            "steps of starting do not",
            json!({"initContainers": [cpu("2"), cpu("3")]}),
            3000,
        ),
        (
            "the larger of both counts",
            json!({"containers": [cpu("1")], "initContainers": [cpu("2")]}),
            2000,
        ),
        (
            "sidecars run beside containers",
            json!({"containers": [cpu("1")], "initContainers": [sidecar("2")]}),
            3000,
        ),
        (
            "and beside the steps after them",
            json!({"containers": [cpu("1")], "initContainers": [cpu("3"), sidecar("2"), cpu("4")]}),
            6000,
        ),
        (
            "what is said for the whole pod wins",
            json!({"containers": [cpu("1")], "resources": {"requests": {"cpu": "5"}}}),
            5000,
        ),
        (
            "overhead comes on top",
            json!({"containers": [cpu("1")], "overhead": {"cpu": "250m"}}),
            1250,
        ),
    ];
    for (what, spec, expected) in cases {
        assert_eq!(pod(spec).requests.cpu_milli, expected, "{what}");
    }
}

#[test]
fn containers_without_requests_weigh_a_little_in_scores() {
    let spec = json!({"containers": [container(json!({})), container(json!({"cpu": "1"}))]});
    let pod = pod(spec);
    assert_eq!(pod.nominal, (1100, 2 * NOMINAL_MEMORY));
    assert_eq!((pod.requests.cpu_milli, pod.requests.memory), (1000, 0));
}

#[test]
fn only_ports_of_the_node_are_kept() {
    let ports = json!([{"containerPort": 1}, {"hostPort": 80}, {"hostPort": 53, "hostIP": "1.2.3.4",
        "protocol": "UDP"}]);
    let pod = pod(json!({"containers": [{"ports": ports}]}));
    let said: Vec<_> = pod
        .ports
        .iter()
        .map(|it| (it.port, &*it.ip, &*it.protocol))
        .collect();
    assert_eq!(said, [(80, "0.0.0.0", "TCP"), (53, "1.2.3.4", "UDP")]);
}

#[test]
fn pods_of_one_template_share_their_rules() {
    let spec = json!({"nodeSelector": {"disk": "ssd"}, "affinity": {"podAntiAffinity": {"x": []}},
        "tolerations": []});
    let (mut one, mut other, mut pool) = (pod(spec.clone()), pod(spec), Pool::default());
    one.share(&mut pool);
    other.share(&mut pool);
    assert_eq!(one.rules, other.rules);
    assert_eq!(one.rule(part::NODE_SELECTOR), Some(r#"{"disk":"ssd"}"#));
    assert_eq!(one.rule(part::TOLERATIONS), None);
}

#[test]
fn the_group_is_the_controller_that_keeps_many_alike() {
    let owned = |kind: &str, controller: bool| {
        let owner = json!({"kind": kind, "name": "o", "uid": "u", "controller": controller});
        let json = json!({"metadata": {"name": "a", "ownerReferences": [owner]}});
        Pod::decode(json.to_string().as_bytes()).unwrap().group
    };
    assert_eq!(owned("ReplicaSet", true), Some("u".into()));
    assert_eq!(owned("ReplicaSet", false), None);
    assert_eq!(owned("Job", true), None);
}

#[test]
fn nulls_read_as_absent() {
    let json = br#"{"metadata":{"name":"a","labels":null,"ownerReferences":null},
        "spec":{"containers":null,"affinity":null,"tolerations":null,"schedulingGates":null},
        "status":{"conditions":null,"nominatedNodeName":null}}"#;
    let pod = Pod::decode(json).unwrap();
    assert!(pod.is_pending() && !pod.gated && pod.rules.is_empty());
    assert_eq!(pod.scheduler_name, "default-scheduler");
}

#[test]
fn stays_small() {
    assert!(size_of::<Pod>() <= 480, "{}", size_of::<Pod>());
}
