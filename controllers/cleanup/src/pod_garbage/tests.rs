//! Garbage: one sync (cases), which changes lead to one and when, and the laws.

use std::ops::Range;
use std::sync::Arc;

use flyball_api::{Kind, Object, ObjectName, Timestamp};
use flyball_plan::{Amount, Target};
use flyball_testkit::laws::{self, Upset, verdict};
use flyball_testkit::{CaseKey, Lawful, Runner, World, check_cases_in};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::victims::{has_finished, is_held, is_out_of_service};
use super::*;
use flyball_api::views::{Node, Pod};

/// As many finished pods may stay in all that follows.
const THRESHOLD: i64 = 2;

fn subject() -> PodGarbageCollector {
    PodGarbageCollector::new(PodGarbageSettings {
        terminated_threshold: THRESHOLD,
    })
}

impl CaseKey for Key {
    fn named(text: &str) -> Option<Self> {
        if text == "finished pods" {
            return Some(Self::Finished);
        }
        let (what, name) = text.rsplit_once(' ')?;
        match what {
            "out-of-service node" => Some(Self::OutOfServiceNode(name.into())),
            "missing node" => Some(Self::MissingNode(name.into())),
            "unscheduled pod" => ObjectName::named(name).map(Self::Unscheduled),
            _ => None,
        }
    }
}

#[test]
fn garbage_gets_what_its_cases_say() {
    check_cases_in(&subject(), "src/pod_garbage/cases", |world| world);
}

fn node(name: &str, out_of_service: bool) -> Value {
    let (ready, taints) = match out_of_service {
        false => ("True", json!([])),
        true => (
            "Unknown",
            json!([{"key": "node.kubernetes.io/out-of-service"}]),
        ),
    };
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    })
}

fn pod(name: &str, node: &str, phase: &str, deleting: bool, held: bool) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"nodeName": node}, "status": {"phase": phase},
    });
    if deleting {
        pod["metadata"]["deletionTimestamp"] = json!(Timestamp::from_unix_seconds(1_767_225_630));
        pod["metadata"]["deletionGracePeriodSeconds"] = json!(if held { 0 } else { 30 });
    }
    if held {
        pod["metadata"]["finalizers"] = json!(["example.com/held"]);
    }
    pod
}

fn decoded<T: Object>(json: &Value) -> Arc<T> {
    Arc::new(T::decode(json.to_string().as_bytes()).unwrap())
}

#[test]
fn changes_lead_to_what_may_have_become_garbage() {
    let store = World::of([node("up", false), node("down", true)]).snapshot();
    let keys = |change: &Change| {
        let keys = subject().route(change, &store);
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        keys.join(", ")
    };
    let pods = [
        (pod("a", "up", "Running", false, false), ""),
        (pod("a", "up", "Running", true, false), ""),
        (pod("a", "up", "Failed", false, false), "finished pods"),
        (pod("a", "down", "Running", false, false), ""),
        (
            pod("a", "down", "Running", true, false),
            "out-of-service node down",
        ),
        (
            pod("a", "gone", "Running", false, false),
            "missing node gone",
        ),
        (pod("a", "", "Pending", false, false), ""),
        (
            pod("a", "", "Pending", true, false),
            "unscheduled pod default/a",
        ),
    ];
    for (pod, led_to) in pods {
        assert_eq!(keys(&Change::added(decoded::<Pod>(&pod))), led_to, "{pod}");
        assert_eq!(keys(&Change::deleted(decoded::<Pod>(&pod))), "", "{pod}");
    }
    let up = || decoded::<Node>(&node("up", false));
    assert_eq!(keys(&Change::added(up())), "");
    assert_eq!(keys(&Change::deleted(up())), "missing node up");
    let down = decoded::<Node>(&node("down", true));
    assert_eq!(
        keys(&Change::updated(up(), down)),
        "out-of-service node down"
    );
}

#[test]
fn a_missing_node_is_left_alone_for_the_quarantine() {
    let mut world = World::of([pod("a", "gone", "Running", false, false)]);
    let mut runner = Runner::new(subject(), &world);
    let (syncs, due) = runner.run(&mut world, &mut |_| Ok(())).unwrap();
    assert!(syncs.is_empty());
    assert_eq!(due, Some(QUARANTINE));
    // A change of another of its pods does not put it off.
    world.advance(QUARANTINE / 2);
    world.put(pod("b", "gone", "Running", false, false));
    let (syncs, due) = runner.run(&mut world, &mut |_| Ok(())).unwrap();
    assert!(syncs.is_empty());
    assert_eq!(due, Some(QUARANTINE));
    world.advance(QUARANTINE / 2);
    runner.run(&mut world, &mut |_| Ok(())).unwrap();
    assert!(world.list::<Pod>("").iter().all(Object::is_deleting));
}

#[test]
fn attempts_and_failures_are_counted_by_namespace_and_reason() {
    let mut world = World::of([
        pod("a", "", "Pending", true, false),
        pod("b", "", "Failed", true, false),
    ]);
    world.fail(
        0,
        flyball_testkit::Fault::Refused(flyball_api::ApiError::transport("no")),
    );
    let (syncs, _) = Runner::new(subject(), &world)
        .run(&mut world, &mut |_| Ok(()))
        .unwrap();
    let tallies = syncs.iter().flat_map(|sync| &sync.finished.report.tallies);
    let told: Vec<String> = tallies
        .map(|it| format!("{} {} {:?}", it.metric.name, it.labels.join(" "), it.amount))
        .collect();
    let count = Amount::Count(1);
    let deleted = format!("pod_gc_collector_force_delete_pods default unscheduled {count:?}");
    let failed = format!("pod_gc_collector_force_delete_pod_errors default unscheduled {count:?}");
    assert_eq!(told, [&*deleted, &*failed, &*deleted]);
}

impl Lawful for PodGarbageCollector {
    const KIND: Kind = Pod::KIND;

    fn subject() -> Self {
        subject()
    }

    /// A pod that was taken away or marked was garbage by what the world knew.
    fn invariants(world: &World) -> Result<(), String> {
        let Some(last) = world.history().last() else {
            return Ok(());
        };
        let before = world.at(last.revision - 1);
        let Some(was) = before.get::<Pod>(&last.id.1.namespace, &last.id.1.name) else {
            return Ok(());
        };
        // Others delete without marking and mark without a generation.
        let is = world.json(Pod::KIND, &last.id.1.namespace, &last.id.1.name);
        let marked = is.is_some_and(|is| !is["status"]["observedGeneration"].is_null());
        if !marked {
            return Ok(());
        }
        let node = before.get::<Node>("", &was.spec.node_name);
        let garbage = has_finished(&was)
            || was.spec.node_name.is_empty() && was.metadata.is_deleting()
            || !was.spec.node_name.is_empty() && node.is_none()
            || was.metadata.is_deleting() && node.as_ref().is_some_and(is_out_of_service);
        // A node may have come between the question and the deed.
        let recovered = node.is_some();
        (garbage || recovered)
            .then_some(())
            .ok_or_else(|| format!("{} was no garbage", last.id.1))
    }

    fn reached(world: &World) -> Result<(), String> {
        let pods = world.list::<Pod>("");
        let left = pods.iter().find(|pod| {
            let name = &pod.spec.node_name;
            let node = world.get::<Node>("", name);
            let going = pod.metadata.is_deleting();
            let stays = match node {
                None if name.is_empty() => !going,
                None => false,
                Some(node) => !(going && is_out_of_service(&node)),
            };
            !stays && !is_held(pod)
        });
        if let Some(pod) = left {
            return Err(format!("{} should be gone", pod.metadata.name));
        }
        let finished = pods.iter().filter(|pod| has_finished(pod)).count();
        let held = pods.iter().filter(|pod| is_held(pod)).count();
        let kept = finished.saturating_sub(held) as i64;
        (kept <= THRESHOLD)
            .then_some(())
            .ok_or_else(|| format!("{kept} finished pods stay"))
    }

    /// Nobody else does anything: nodes that are gone have no kubelets.
    fn others(_: &mut World) {}
}

fn worlds() -> impl Strategy<Value = World> {
    worlds_of(0..8)
}

fn worlds_of(pods: Range<usize>) -> impl Strategy<Value = World> {
    let one = (0..4_usize, 0..4_usize, any::<bool>(), any::<bool>());
    proptest::collection::vec(one, pods).prop_map(|pods| {
        let mut world = World::of([node("up", false), node("down", true)]);
        for (at, (on, phase, deleting, held)) in pods.into_iter().enumerate() {
            let on = ["up", "down", "gone", ""][on];
            let phase = ["Pending", "Running", "Succeeded", "Failed"][phase];
            world.put(pod(
                &format!("pod-{at}"),
                on,
                phase,
                deleting,
                held && deleting,
            ));
        }
        world
    })
}

/// What others do, but for what the collector cannot see through: a pod that is asked to go.
fn settled(mut world: World, upsets: &[Upset]) -> World {
    for upset in upsets {
        upset.happen(&mut world);
    }
    world
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn quiet(world in worlds()) {
        verdict(laws::quiet::<PodGarbageCollector>(world))?;
    }

    #[test]
    fn bounded(world in worlds(), faults in laws::bytes(8)) {
        verdict(laws::bounded::<PodGarbageCollector>(world, &faults))?;
    }

    /// Without excess: a pod that is marked as failed counts as finished until it is gone, so whether
    /// there is one too many depends on the moment, as upstream.
    #[test]
    fn amnesiac(world in worlds_of(0..3), deaths in laws::bytes(4)) {
        verdict(laws::amnesiac::<PodGarbageCollector>(world, &deaths))?;
    }

    #[test]
    fn stale_safe(
        world in worlds(),
        upsets in laws::upsets(),
        lags in laws::bytes(6),
    ) {
        verdict(laws::stale_safe::<PodGarbageCollector>(world, &upsets, &lags))?;
    }

    #[test]
    fn whatever_others_did_garbage_goes(world in worlds(), upsets in laws::upsets()) {
        verdict(laws::quiet::<PodGarbageCollector>(settled(world, &upsets)))?;
    }

    /// In whatever order objects arrive, the same pods go.
    #[test]
    fn order_blind(world in worlds(), seed in any::<u64>()) {
        let ends = [0, seed | 1].map(|seed| {
            let mut world = world.clone();
            let rank = |at: usize| (at as u64).wrapping_mul(seed) % 31;
            let mut runner = Runner::listing(subject(), &world, rank);
            runner.converge(&mut world, |_| {}, &mut |_| Ok(())).map(|_| laws::essence(&world))
        });
        prop_assert_eq!(&ends[0], &ends[1]);
    }
}

#[test]
fn a_thousand_excess_pods_go_in_bounded_portions() {
    let pods = (0..1_002).map(|at| pod(&format!("pod-{at}"), "up", "Failed", false, false));
    let mut world = World::of(pods.chain([node("up", false)]));
    let mut runner = Runner::new(subject(), &world);
    runner
        .converge(&mut world, |_| {}, &mut |_| Ok(()))
        .unwrap();
    assert_eq!(world.list::<Pod>("").len(), 2);
    let target = Target::of(Pod::KIND, &world.list::<Pod>("")[0].metadata);
    assert!(
        target.name.name.starts_with("pod-99"),
        "the names decide between equals"
    );
}
