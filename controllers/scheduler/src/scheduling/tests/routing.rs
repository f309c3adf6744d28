use std::sync::Arc;

use super::life::between;
use super::*;

/// Whether a change of the only pod, or with a pod waiting, wakes the scheduler.
fn wakes<T: flyball_api::Object>(old: Option<Value>, new: Option<Value>, store: &[Value]) -> bool {
    let world = world(store.iter().cloned());
    let (old, new) = (old.map(Arc::new), new.map(Arc::new));
    let change = between::<T>(old.as_ref(), new.as_ref()).unwrap();
    let keys = Scheduler::default().route(&change, &snapshot(&world));
    assert!(keys.len() <= 1);
    !keys.is_empty()
}

#[test]
fn a_pod_wakes_it_when_it_begins_to_wait_or_waits_otherwise() {
    let waits = || pod("p", "1", json!({}));
    let with = |change: Value| pod("p", "1", change);
    let gated = || with(json!({"spec": {"schedulingGates": [{"name": "g"}]}}));
    let cases = [
        ("comes", None, Some(waits()), true),
        (
            "comes for another",
            None,
            Some(with(json!({"spec": {"schedulerName": "x"}}))),
            false,
        ),
        (
            "comes with a node",
            None,
            Some(with(json!({"spec": {"nodeName": "n"}}))),
            false,
        ),
        ("is gated", None, Some(gated()), false),
        ("is let go", Some(gated()), Some(waits()), true),
        ("goes", Some(waits()), None, false),
        (
            "is told why it waits",
            Some(waits()),
            Some(with(
                json!({"status": {"nominatedNodeName": "n", "conditions":
                [{"type": "PodScheduled", "status": "False"}]}}),
            )),
            false,
        ),
        (
            "other labels",
            Some(waits()),
            Some(with(json!({"metadata": {"labels": {"a": "b"}}}))),
            true,
        ),
        (
            "tolerates more",
            Some(waits()),
            Some(with(
                json!({"spec": {"tolerations": [{"operator": "Exists"}]}}),
            )),
            true,
        ),
        (
            "another of that name",
            Some(with(json!({"metadata": {"uid": "1"}}))),
            Some(with(json!({"metadata": {"uid": "2"}}))),
            true,
        ),
    ];
    for (what, old, new, expected) in cases {
        assert_eq!(wakes::<Pod>(old, new, &[]), expected, "{what}");
    }
}

#[test]
fn others_wake_it_when_they_might_make_way_for_whoever_waits() {
    let there = |change: Value| running("r", "n", "1", change);
    let going = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let cases = [
        ("goes", Some(there(json!({}))), None, true),
        (
            "ends",
            Some(there(json!({}))),
            Some(there(json!({"status": {"phase": "Failed"}}))),
            true,
        ),
        (
            "begins to go",
            Some(there(json!({}))),
            Some(there(going)),
            true,
        ),
        (
            "comes",
            Some(pod("r", "1", json!({}))),
            Some(there(json!({}))),
            true,
        ),
        (
            "runs",
            Some(there(json!({}))),
            Some(there(
                json!({"status": {"startTime": "2026-01-01T00:00:00Z"}}),
            )),
            false,
        ),
        (
            "asks for less",
            Some(there(json!({}))),
            Some(running("r", "n", "0", json!({}))),
            true,
        ),
    ];
    let waiting = [pod("p", "1", json!({}))];
    let gated = [pod(
        "p",
        "1",
        json!({"spec": {"schedulingGates": [{"name": "g"}]}}),
    )];
    for (what, old, new, expected) in cases {
        assert_eq!(
            wakes::<Pod>(old.clone(), new.clone(), &waiting),
            expected,
            "{what}"
        );
        for nobody in [&[] as &[Value], &gated] {
            assert!(
                !wakes::<Pod>(old.clone(), new.clone(), nobody),
                "{what}, nobody waits"
            );
        }
    }
}

#[test]
fn nodes_and_namespaces_wake_it_when_they_are_different() {
    let waiting = [pod("p", "1", json!({}))];
    let is = || Some(node("n", json!({})));
    let beat = json!({"status": {"conditions": [{"type": "Ready", "lastHeartbeatTime": "now"}]}});
    let cases = [
        ("comes", None, is(), true),
        ("goes", is(), None, true),
        ("beats", is(), Some(node("n", beat)), false),
        (
            "is cordoned",
            is(),
            Some(node("n", json!({"spec": {"unschedulable": true}}))),
            true,
        ),
        (
            "grows",
            is(),
            Some(node("n", json!({"status": {"allocatable": {"cpu": "9"}}}))),
            true,
        ),
    ];
    for (what, old, new, expected) in cases {
        assert_eq!(
            wakes::<Node>(old.clone(), new.clone(), &waiting),
            expected,
            "{what}"
        );
        assert!(!wakes::<Node>(old, new, &[]), "{what}, nobody waits");
    }
    let namespace = |labels: Value, phase: &str| {
        Some(json!({"apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": "ns", "labels": labels}, "status": {"phase": phase}}))
    };
    let same = namespace(json!({"a": "b"}), "Active");
    assert!(wakes::<Namespace>(
        same.clone(),
        namespace(json!({}), "Active"),
        &waiting
    ));
    let ends = namespace(json!({"a": "b"}), "Terminating");
    assert!(!wakes::<Namespace>(same, ends, &waiting));
}
