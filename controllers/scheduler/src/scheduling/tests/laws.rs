//! What holds in every world: no rule is broken by any binding, whoever could be placed is placed,
//! at rest nothing is wanted, and neither order, death nor lag changes that.

use flyball_plan::Outcome;
use flyball_testkit::{Fault, laws};
use proptest::prelude::*;

use super::life::{Life, Witness};
use super::naive::{is_on_node, objection};
use super::*;

fn some_node() -> impl Strategy<Value = Value> {
    let zone = prop::sample::select(vec!["x", "y", ""]);
    (1..4u8, 1..6u8, zone, 0..6u8).prop_map(|(cpu, pods, zone, odd)| {
        let allocatable = json!({"cpu": cpu.to_string(), "pods": pods.to_string()});
        let mut change = json!({"status": {"allocatable": allocatable}});
        if !zone.is_empty() {
            change["metadata"] = json!({"labels": {"zone": zone}});
        }
        match odd {
            0 => change["spec"] = json!({"unschedulable": true}),
            1 => change["spec"] = json!({"taints": [{"key": "k", "effect": "NoSchedule"}]}),
            _ => {}
        }
        change
    })
}

/// One rule that a pod has; most have none.
fn some_rule() -> impl Strategy<Value = Value> {
    let app = prop::sample::select(vec!["a", "b"]);
    let key = prop::sample::select(vec!["zone", "kubernetes.io/hostname"]);
    (0..14u8, app, key).prop_map(|(rule, app, key)| {
        let selector = json!({"matchLabels": {"app": app}});
        let term = json!({"labelSelector": selector, "topologyKey": key});
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
        match rule {
            0 => json!({"nodeSelector": {"zone": "x"}}),
            1 => {
                json!({"tolerations": [{"operator": "Exists", "effect": "NoSchedule", "key": "k"}]})
            }
            2 => json!({"containers": [{"ports": [{"hostPort": 80}]}]}),
            3 | 4 => json!({"affinity": {"podAffinity": required}}),
            5 | 6 => json!({"affinity": {"podAntiAffinity": required}}),
            7 | 8 => json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]}),
            _ => json!({}),
        }
    })
}

/// A pod: its CPU, its app, its priority, and a rule.
fn some_pod() -> impl Strategy<Value = (u8, Value)> {
    let app = prop::sample::select(vec!["a", "b"]);
    (0..3u8, app, 0..3i32, some_rule()).prop_map(|(cpu, app, rank, rule)| {
        let labels = json!({"metadata": {"labels": {"app": app}}, "spec": rule});
        (cpu, merged(labels, &json!({"spec": {"priority": rank}})))
    })
}

/// A world of a few nodes, with pods on them, and pods of a few templates that wait.
fn worlds() -> impl Strategy<Value = World> {
    let nodes = prop::collection::vec(some_node(), 1..5);
    let there = prop::collection::vec((some_pod(), any::<u8>()), 0..5);
    let templates = prop::collection::vec(some_pod(), 1..5);
    let waiting = prop::collection::vec((any::<u8>(), any::<u8>()), 1..10);
    (nodes, there, templates, waiting).prop_map(|(nodes, there, templates, waiting)| {
        let mut objects = Vec::new();
        for (i, change) in nodes.iter().enumerate() {
            objects.push(node(&format!("n{i}"), change.clone()));
        }
        for (i, ((cpu, change), on)) in there.into_iter().enumerate() {
            let on = format!("n{}", usize::from(on) % nodes.len());
            objects.push(running(&format!("r{i}"), &on, &cpu.to_string(), change));
        }
        for (i, (template, nominated)) in waiting.into_iter().enumerate() {
            let (cpu, change) = templates[usize::from(template) % templates.len()].clone();
            let mut pod = pod(&format!("p{i}"), &cpu.to_string(), change);
            // For some of them room was made once.
            if nominated % 4 == 0 {
                let on = usize::from(nominated / 4) % nodes.len();
                pod["status"]["nominatedNodeName"] = format!("n{on}").into();
            }
            objects.push(pod);
        }
        with_cpu(objects)
    })
}

/// Merging a rule with containers replaces the list, and with it what the pod asks for: put back.
fn with_cpu(objects: Vec<Value>) -> World {
    world(objects.into_iter().map(|mut it| {
        if it["kind"] == "Pod" && it["spec"]["containers"][0]["resources"].is_null() {
            it["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
        }
        it
    }))
}

/// Finds that each binding keeps every rule, in the world as it is at that moment.
fn keeps_rules(world: &World, action: &Action) -> Result<(), String> {
    let Some((target, node)) = binding(action) else {
        return Ok(());
    };
    let pod = world.target(target).ok_or("binds what is not there")?;
    let node = world
        .json(Node::KIND, "", &node)
        .ok_or("binds to what is not there")?;
    match objection(world, pod, node) {
        None => Ok(()),
        Some(why) => Err(format!(
            "{}: {why}: {pod}\n{node}\nin {world:?}",
            target.name
        )),
    }
}

/// Finds that nobody waits who could be placed.
fn reached(world: &World) -> Result<(), String> {
    let of = |kind| world.objects().filter(move |(id, _)| id.0 == kind);
    for (id, pod) in of(Pod::KIND).filter(|(_, pod)| !is_on_node(pod)) {
        for (node_id, node) in of(Node::KIND) {
            if objection(world, pod, node).is_none() {
                return Err(format!("{} waits, but fits {}: {world:?}", id.1, node_id.1));
            }
        }
    }
    Ok(())
}

/// Runs a scheduler until nothing changes any more.
fn settle(world: &mut World, witness: Witness<'_>) -> Result<(), String> {
    Life::begin(world).settle(world, witness)
}

/// Who is where.
fn places(world: &World) -> Vec<(String, Value)> {
    let pods = world.objects().filter(|(id, _)| id.0 == Pod::KIND);
    pods.map(|(id, pod)| (id.1.to_string(), pod["spec"]["nodeName"].clone()))
        .collect()
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn at_rest_a_fresh_look_wants_nothing(mut world in worlds()) {
        settle(&mut world, &mut |_, _| Ok(())).map_err(TestCaseError::fail)?;
        let wants = |_: &World, action: &Action| match action {
            Action::Record(_) => Ok(()),
            other => Err(format!("all is settled, and yet: {other:?}")),
        };
        Life::begin(&world)
            .run(&mut world, &mut |world, action| wants(world, action))
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(world in worlds(), seed in any::<u64>()) {
        let mut one = world.clone();
        settle(&mut one, &mut |_, _| Ok(())).map_err(TestCaseError::fail)?;
        // The same objects, put in another order.
        let mut objects: Vec<Value> = world.objects().map(|(_, it)| Value::clone(it)).collect();
        objects.sort_by_key(|it| {
            let name = it["metadata"]["name"].as_str().unwrap_or_default();
            let letters = name.bytes().fold(seed, |sum, it| sum.rotate_left(9) ^ u64::from(it));
            letters.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        });
        let mut other = World::of(objects);
        settle(&mut other, &mut |_, _| Ok(())).map_err(TestCaseError::fail)?;
        prop_assert_eq!(places(&one), places(&other));
    }

    #[test]
    fn death_between_any_two_writes_does_no_harm(mut world in worlds(), lives in laws::bytes(4)) {
        for life in lives {
            let mut left = life % 8;
            let mut dies = |world: &World, action: &Action| {
                keeps_rules(world, action)?;
                left = left.checked_sub(1).ok_or("killed")?;
                Ok(())
            };
            match settle(&mut world, &mut dies) {
                Err(why) if why != "killed" => return Err(TestCaseError::fail(why)),
                _ => {}
            }
        }
        settle(&mut world, &mut keeps_rules)
            .and_then(|()| reached(&world))
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn whatever_fails_it_stays_within_bounds_and_gets_there(
        mut world in worlds(),
        faults in laws::bytes(6),
    ) {
        for fault in faults {
            let error = match fault % 4 {
                0 => flyball_api::ApiError::transport("connection refused"),
                1 => failure(409, "Conflict"),
                2 => failure(403, "Forbidden"),
                _ => failure(500, "InternalError"),
            };
            world.fail(u64::from(fault >> 3), Fault::Refused(error));
        }
        let mut life = Life::begin(&world);
        for _ in 0..6 {
            life.settle(&mut world, &mut |_, _| Ok(())).map_err(TestCaseError::fail)?;
            // Time passes, so that what is to be tried again is.
            world.advance(std::time::Duration::from_secs(400));
        }
        world.heal();
        life.settle(&mut world, &mut |_, _| Ok(())).map_err(TestCaseError::fail)?;
        reached(&world).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn it_does_not_plan_before_the_caches_show_what_it_bound(mut world in worlds()) {
        let mut life = Life::begin(&world);
        let mut bound = false;
        let mut watch = |_: &World, action: &Action| {
            bound |= binding(action).is_some();
            Ok(())
        };
        life.sync(&mut world, &mut watch).map_err(TestCaseError::fail)?;
        // Another pod comes, but what was bound is not seen yet: the caches lag.
        if bound {
            let arrived = std::sync::Arc::new(pod("late", "1", json!({"metadata": {"uid": "l"}})));
            life.wake(&arrived, &world);
            let finished = life.sync(&mut world, &mut |_, action| Err(format!("{action:?}")));
            let finished = finished.map_err(TestCaseError::fail)?;
            let outcome = finished.map(|it| it.outcome);
            prop_assert!(matches!(outcome, Some(Outcome::Gated(_))), "{:?}", outcome);
        }
    }
}

fn failure(code: u16, reason: &str) -> flyball_api::ApiError {
    let status = flyball_api::Status::failure(code, reason, "so the law wants it");
    flyball_api::ApiError::from_status(status)
}

/// Finds that the first pod for which others have to go fits once they are gone, and not if any of
/// them stayed; and that all of them are less important.
fn makes_room_with_measure(world: &mut World) -> Result<(), String> {
    // Others for whom room was made before would need some of it too.
    for pod in world.list::<Pod>("") {
        world.edit(&pod.target(), |it| {
            it["status"] = json!({"phase": it["status"]["phase"]})
        });
    }
    let scheduler = Scheduler::default();
    let Some(seen) = scheduler.observe(&scheduler.key(), &snapshot(world), &()) else {
        return Ok(());
    };
    let decision = seen.decision();
    let mut failed = decision.failed.iter();
    let Some(failure) = failed.find(|it| !it.victims.is_empty()) else {
        return Ok(());
    };
    let turn = |pod: &Pod| seen.pending.iter().position(|it| it.uid == pod.uid);
    let mut then = world.clone();
    for (pod, node) in &decision.placed {
        if turn(pod) < turn(&failure.pod) {
            let node = node.to_string();
            then.edit(&pod.target(), |it| it["spec"]["nodeName"] = node.into());
        }
    }
    let crate::placing::Nomination::To(node) = &failure.nomination else {
        return Err("others go, but for no node".to_owned());
    };
    let without = |spared: Option<&Pod>| {
        let mut then = then.clone();
        for victim in &failure.victims {
            if spared.is_none_or(|it| it.uid != victim.uid) {
                then.remove(&victim.target());
            }
        }
        let pod = then.target(&failure.pod.target()).ok_or("nobody")?;
        let node = then.json(Node::KIND, "", node).ok_or("nowhere")?;
        Ok::<_, String>(objection(&then, pod, node))
    };
    if let Some(why) = without(None)? {
        return Err(format!("others go in vain: {why}: {failure:?}"));
    }
    for victim in &failure.victims {
        if victim.priority >= failure.pod.priority {
            return Err(format!("{} is as important", victim.name));
        }
        if without(Some(victim))?.is_none() {
            return Err(format!("{} goes without need: {failure:?}", victim.name));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..laws::config() })]

    #[test]
    fn no_binding_breaks_a_rule_and_nobody_waits_without_need(mut world in worlds()) {
        settle(&mut world, &mut keeps_rules)
            .and_then(|()| reached(&world))
            .map_err(TestCaseError::fail)?;
    }

    #[test]
    fn nobody_goes_in_vain(mut world in worlds()) {
        makes_room_with_measure(&mut world).map_err(TestCaseError::fail)?;
    }
}
