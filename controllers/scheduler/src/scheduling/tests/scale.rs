use super::*;
use crate::placing::BURST;

/// A hundred nodes in four zones with a hundred pods each, and so many that wait, of four sets.
fn crowd(waiting: usize, change: &Value) -> World {
    let owner = |set: usize| {
        json!({"metadata": {"labels": {"app": format!("app-{set}")}, "ownerReferences":
            [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "s", "uid": format!("s-{set}"),
            "controller": true}]}})
    };
    let nodes = (0..100).map(|i| {
        let much = json!({"cpu": "64", "memory": "256Gi", "pods": "500"});
        let zone = json!({"topology.kubernetes.io/zone": format!("z{}", i % 4)});
        node(
            &format!("n{i}"),
            json!({"metadata": {"labels": zone}, "status": {"allocatable": much}}),
        )
    });
    let there = (0..10_000).map(|i| {
        running(
            &format!("r{i}"),
            &format!("n{}", i % 100),
            "100m",
            owner(i % 4),
        )
    });
    let pods = (0..waiting).map(|i| pod(&format!("p{i}"), "100m", merged(owner(i % 4), change)));
    world(nodes.chain(there).chain(pods))
}

/// What one batch looks at.
fn work(world: &World) -> (usize, crate::placing::Work) {
    let scheduler = Scheduler::default();
    let seen = scheduler
        .observe(&scheduler.key(), &snapshot(world), &())
        .unwrap();
    let decision = seen.decision();
    (decision.placed.len(), decision.work)
}

#[test]
fn a_pod_costs_a_look_at_each_node_and_not_at_each_pod() {
    let (placed, work) = work(&crowd(BURST, &json!({})));
    assert_eq!((placed, work.classes), (BURST, 4));
    // Once per node and pod; and the pods that are there once per wish of each class.
    assert_eq!(work.node_checks, (BURST * 100) as u64);
    assert!(
        work.pods_counted <= 4 * 2 * (10_000 + BURST as u64),
        "{work:?}"
    );
}

#[test]
fn rules_about_other_pods_are_counted_once_per_class_too() {
    let selector = json!({"matchLabels": {"app": "app-0"}});
    let spread = json!([{"maxSkew": 50, "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]);
    let away = json!({"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
        [{"weight": 1, "podAffinityTerm": {"topologyKey": "kubernetes.io/hostname",
        "labelSelector": selector}}]}});
    let change = json!({"spec": {"topologySpreadConstraints": spread, "affinity": away}});
    let (placed, work) = work(&crowd(BURST, &change));
    assert_eq!((placed, work.classes), (BURST, 4));
    assert_eq!(work.node_checks, (BURST * 100) as u64);
    assert!(
        work.pods_counted <= 4 * 2 * (10_000 + BURST as u64),
        "{work:?}"
    );
}

#[test]
fn pods_that_fit_nowhere_are_asked_about_once_per_class() {
    let greedy = json!({"spec": {"nodeSelector": {"disk": "ssd"}}});
    let (placed, work) = work(&crowd(3_000, &greedy));
    assert_eq!((placed, work.classes), (0, 4));
    assert_eq!(work.node_checks, 400);
}
