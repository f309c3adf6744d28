//! Which changes make a node be looked at.

use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot};
use flyball_plan::Controller;

use super::*;

fn of<T: Object>(json: Value) -> Arc<T> {
    Arc::new(T::decode(json.to_string().as_bytes()).unwrap())
}

fn keys(change: &Change) -> Vec<String> {
    let keys = subject().route(change, &Snapshot::default());
    keys.iter().map(ObjectName::to_string).collect()
}

fn lease(uid: &str, holder: &str, namespace: &str) -> Arc<Lease> {
    of(
        json!({"metadata": {"name": "node-0", "namespace": namespace, "uid": uid},
        "spec": {"holderIdentity": holder}}),
    )
}

#[test]
fn all_nodes_that_are_wanted_are_looked_at_when_a_term_begins() {
    let keys = subject().initial();
    let names: Vec<String> = keys.iter().map(ObjectName::to_string).collect();
    assert_eq!(names, ["node-0", "node-1", "node-2"]);
}

#[test]
fn a_node_is_looked_at_if_it_is_ours_or_has_a_name_of_ours() {
    let added = |json| keys(&Change::added(of::<Node>(json)));
    assert_eq!(added(ours("worker")), ["worker"]);
    assert_eq!(added(node("node-2", json!({}))), ["node-2"]);
    assert_eq!(added(node("node-3", json!({}))), [""; 0]);
    let unmarked = Change::updated(of::<Node>(ours("worker")), of(node("worker", json!({}))));
    assert_eq!(keys(&unmarked), ["worker"]);
    assert_eq!(
        keys(&Change::deleted(of::<Node>(ours("worker")))),
        ["worker"]
    );
}

#[test]
fn a_lease_is_looked_at_when_it_went_or_became_another_but_not_for_its_renewals() {
    let leases = "kube-node-lease";
    let usual = || lease("u", "node-0", leases);
    let looked_at = ["node-0".to_owned()];
    assert_eq!(keys(&Change::added(usual())), [""; 0]);
    assert_eq!(keys(&Change::updated(usual(), usual())), [""; 0]);
    assert_eq!(keys(&Change::deleted(usual())), looked_at);
    assert_eq!(
        keys(&Change::updated(usual(), lease("v", "node-0", leases))),
        looked_at
    );
    assert_eq!(
        keys(&Change::updated(usual(), lease("u", "thief", leases))),
        looked_at
    );
    assert_eq!(
        keys(&Change::deleted(lease("u", "x", "kube-system"))),
        [""; 0]
    );
}
