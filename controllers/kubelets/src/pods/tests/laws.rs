//! The laws, over worlds of pods in every state. `own-only` is replaced by one of our own: what a
//! kubelet writes to belongs to others by design.

use flyball_api::{Kind, Timestamp};
use flyball_plan::{Action, Verb, Write};
use flyball_testkit::laws::{self, bytes, upsets, verdict};
use flyball_testkit::{Lawful, Moment, Runner};
use proptest::prelude::*;

use super::*;
use crate::annotations::{BEHAVIOUR, READY_DELAY_MS, TERMINATION};
use crate::views::{Phase, PodCondition};

impl Lawful for PodController {
    const KIND: Kind = Node::KIND;

    fn subject() -> Self {
        subject()
    }

    /// No pod leaves a final phase, and no two that live on one node share an address.
    fn invariants(world: &World) -> Result<(), String> {
        let mut taken = std::collections::HashSet::new();
        for pod in world.list::<Pod>("") {
            let (node, ip) = (&pod.spec.node_name, &pod.status.pod_ip);
            let lives = !pod.status.phase.is_terminal();
            if lives && !ip.is_empty() && !taken.insert((node.clone(), ip.clone())) {
                return Err(format!("two pods have the address {ip} on {node}"));
            }
            let states = world.states::<Pod>(&pod.metadata.namespace, &pod.metadata.name);
            let same = states
                .iter()
                .filter(|it| it.metadata.uid == pod.metadata.uid);
            let ended = same.filter(|it| it.status.phase.is_terminal()).count();
            if ended > 0 && lives {
                return Err(format!("{} lives again", pod.metadata.name));
            }
        }
        Ok(())
    }

    /// Every pod of a node that works has come to what it asks for.
    fn reached(world: &World) -> Result<(), String> {
        for pod in world.list::<Pod>("") {
            let node = world.get::<Node>("", &pod.spec.node_name);
            if node.is_none_or(|node| !node.is_simulated()) {
                continue;
            }
            let as_asked = is_as_asked(&pod);
            if !as_asked {
                return Err(format!("not as asked: {pod:?}"));
            }
        }
        Ok(())
    }

    fn others(_: &mut World) {}

    /// What pods have come to; which address they got and how often they started depends on who
    /// came first.
    fn essence(world: &World) -> String {
        let said = |pod: &Pod| {
            let ready = condition(pod, "Ready").map(|it| (it.status, it.reason.clone()));
            format!("{} {:?} {ready:?}", pod.metadata.name, pod.status.phase)
        };
        world
            .list::<Pod>("")
            .iter()
            .map(said)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.conditions.iter().find(|it| it.kind == kind)
}

fn is_as_asked(pod: &Pod) -> bool {
    let ready =
        condition(pod, "Ready").is_some_and(|it| it.status == flyball_api::ConditionStatus::True);
    let asks = |key: &str| pod.metadata.annotations.get(key);
    if pod.metadata.is_deleting() {
        // Only what hangs or is held is still there, and whoever holds it knows how it ended.
        let stuck = asks(TERMINATION) == Some("stuck");
        return stuck || (pod.metadata.is_held && pod.status.phase.is_terminal());
    }
    match (asks(BEHAVIOUR), pod.status.phase) {
        // Somebody may have ended it, whatever it asked for.
        (_, Phase::Failed) => !ready,
        (Some("pending"), _) => true,
        (Some("never-ready"), phase) => !ready && phase == Phase::Running,
        (Some("succeed"), phase) => phase == Phase::Succeeded,
        (Some("image-pull-error"), phase) => !ready && phase == Phase::Pending,
        (None, _) if pod.spec.restart_policy == "Never" => pod.status.phase == Phase::Succeeded,
        (_, phase) => phase == Phase::Running && ready != (pod.spec.readiness_gates.len() == 1),
    }
}

fn pods() -> impl Strategy<Value = Vec<Build>> {
    let words = [
        "",
        "ready",
        "never-ready",
        "pending",
        "succeed",
        "fail",
        "image-pull-error",
    ];
    let choices = (0..3_u8, 0..words.len(), any::<[bool; 6]>());
    let made = choices.prop_map(
        move |(node, word, [never, delayed, going, held, gated, init])| {
            let mut pod = pod("a");
            if node < 2 {
                pod = pod.node(["node-0", "real"][usize::from(node)]);
            }
            if !words[word].is_empty() {
                pod = pod.annotation(BEHAVIOUR, words[word]);
            }
            if never {
                pod = pod.with(json!({"spec": {"restartPolicy": "Never"}}));
            }
            if delayed {
                pod = pod
                    .annotation(READY_DELAY_MS, "1500")
                    .annotation(TERMINATION, "700");
            }
            if going {
                pod = pod.deleting(Timestamp::from_unix_seconds(1_767_225_600));
            }
            if held {
                pod = pod.finalizer("x/y");
            }
            if gated {
                pod = pod.with(json!({"spec": {"readinessGates": [{"conditionType": "x/gate"}]}}));
            }
            if init {
                let containers =
                    json!([{"name": "first"}, {"name": "side", "restartPolicy": "Always"}]);
                pod = pod.with(json!({"spec": {"initContainers": containers}}));
            }
            pod
        },
    );
    proptest::collection::vec(made, 0..8)
}

fn worlds() -> impl Strategy<Value = World> {
    pods().prop_map(|pods| {
        let name =
            |(at, pod): (usize, Build)| pod.with(json!({"metadata": {"name": format!("p-{at}")}}));
        let mut world = world(pods.into_iter().enumerate().map(name));
        world.put(node("node-0", true));
        world.put(node("real", false));
        world
    })
}

/// Writes only to pods of the simulated node.
fn own_only(mut world: World) -> Result<(), String> {
    let mut watch = |moment: Moment<'_>| {
        let Moment::Before { action, world, .. } = moment else {
            return Ok(());
        };
        let target = match action {
            Action::Write(Write {
                verb: Verb::StrategicPatch | Verb::Delete { .. },
                target,
                ..
            }) => target,
            other => return Err(format!("no business of a kubelet: {other:?}")),
        };
        match world.target(target) {
            Some(object) if object["spec"]["nodeName"] == "node-0" => Ok(()),
            other => Err(format!("lays hands on {other:?}")),
        }
    };
    let mut runner = Runner::new(subject(), &world);
    runner
        .converge(&mut world, PodController::others, &mut watch)
        .map(drop)
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn quiet(world in worlds()) {
        verdict(laws::quiet::<PodController>(world))?;
    }

    #[test]
    fn touches_only_pods_of_simulated_nodes(world in worlds()) {
        verdict(own_only(world))?;
    }

    #[test]
    fn bounded(world in worlds(), faults in bytes(8)) {
        verdict(laws::bounded::<PodController>(world, &faults))?;
    }

    #[test]
    fn order_blind(world in worlds(), seed in any::<u64>()) {
        verdict(laws::order_blind::<PodController>(world, seed))?;
    }

    #[test]
    fn amnesiac(world in worlds(), deaths in bytes(4)) {
        verdict(laws::amnesiac::<PodController>(world, &deaths))?;
    }

    #[test]
    fn stale_safe(world in worlds(), upsets in upsets(), lags in bytes(6)) {
        verdict(laws::stale_safe::<PodController>(world, &upsets, &lags))?;
    }
}
