//! Which changes make a node be looked at.

use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot, SnapshotBuilder};
use flyball_plan::Controller;

use super::*;

fn pod_of(build: Build) -> Arc<Pod> {
    Arc::new(Pod::decode(build.json().to_string().as_bytes()).unwrap())
}

fn node_of(json: Value) -> Arc<Node> {
    Arc::new(Node::decode(json.to_string().as_bytes()).unwrap())
}

fn store() -> Snapshot {
    let nodes = [node("node-0", true), node("real", false)];
    let builder = SnapshotBuilder::new().kind::<Pod>().kind::<Node>();
    let add = |builder: SnapshotBuilder, json: Value| {
        builder.add(Node::decode(json.to_string().as_bytes()).unwrap())
    };
    nodes.into_iter().fold(builder, add).build()
}

fn keys(change: &Change) -> Vec<ObjectName> {
    subject().route(change, &store())
}

#[test]
fn a_pod_concerns_the_simulated_node_that_it_is_bound_to() {
    let key = vec![ObjectName::new("", "node-0")];
    let on = |name: &str| pod_of(bound("a", name));
    assert_eq!(keys(&Change::added(on("node-0"))), key);
    assert_eq!(keys(&Change::updated(pod_of(pod("a")), on("node-0"))), key);
    assert_eq!(keys(&Change::updated(on("node-0"), on("node-0"))), key);
    assert_eq!(keys(&Change::deleted(on("node-0"))), key);
    for other in ["real", "unknown"] {
        assert_eq!(keys(&Change::added(on(other))), [], "{other}");
    }
    assert_eq!(keys(&Change::added(pod_of(pod("a")))), []);
}

#[test]
fn a_node_is_looked_at_when_its_pods_notice_and_not_for_its_heartbeats() {
    let with = |change: fn(&mut Value)| {
        let mut json = node("node-0", true);
        change(&mut json);
        node_of(json)
    };
    let usual = || with(|_| {});
    let beat = with(|node| {
        node["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    });
    let lost =
        with(|node| node["metadata"]["annotations"][crate::annotations::LOST] = "true".into());
    let ranged = with(|node| node["spec"]["podCIDR"] = "10.244.0.0/24".into());
    let real = with(|node| node["metadata"]["annotations"] = json!({}));
    // (change, looked at)
    let cases = [
        (Change::added(usual()), true),
        (Change::deleted(usual()), true),
        (Change::updated(usual(), beat), false),
        (Change::updated(usual(), lost.clone()), true),
        (Change::updated(lost, usual()), true),
        (Change::updated(usual(), ranged), true),
        (Change::updated(real.clone(), usual()), true),
        (Change::added(real.clone()), false),
        (Change::updated(real.clone(), real), false),
        (Change::resynced(usual()), true),
    ];
    for (at, (change, looked_at)) in cases.iter().enumerate() {
        assert_eq!(!keys(change).is_empty(), *looked_at, "case {at}");
    }
}
