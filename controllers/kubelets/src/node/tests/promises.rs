//! What holds of any world. The laws of other controllers end with nothing left to do, which never
//! comes for a heart that beats; these ask the same of one moment.

use flyball_plan::{Answer, lint};
use flyball_testkit::laws::{self, Upset, bytes, upsets, verdict};
use flyball_testkit::{Fault, Moment, Runner};
use proptest::prelude::*;

use super::*;
use crate::annotations::LOST;
use crate::node::status;

/// Nodes in every state, some with leases, ours and others'.
fn worlds() -> impl Strategy<Value = World> {
    let states = proptest::collection::vec((0..6_u8, any::<bool>()), 0..5);
    states.prop_map(|states| {
        let mut world = fresh();
        for (at, (state, leased)) in states.into_iter().enumerate() {
            let name = format!("node-{at}");
            let said = status::status(&settings(), &name, &[], world.now());
            let node = match state {
                0 => continue,
                1 => ours(&name),
                2 => node(&name, json!({})),
                3 => node(&name, json!({SIMULATED: "true", LOST: "true"})),
                4 => node(&name, json!({SIMULATED: "false"})),
                _ => {
                    let mut node = ours(&name);
                    node["status"] = said;
                    node
                }
            };
            world.put(node);
            if leased {
                let metadata = json!({"name": name, "namespace": "kube-node-lease"});
                world.put(
                    json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                    "metadata": metadata, "spec": {"holderIdentity": name}}),
                );
            }
        }
        world
    })
}

/// Runs what is due, and finds every write to be clean and to go to a node of ours, or to the
/// lease of one.
fn run(runner: &mut Runner<NodeController>, world: &mut World) -> Result<usize, String> {
    let mut writes = 0;
    let mut watch = |moment: Moment<'_>| match moment {
        Moment::Stage { actions, .. } => match lint(actions).as_slice() {
            [] if actions.items.len() <= 3 => Ok(()),
            found => Err(format!("{found:?} in {actions:?}")),
        },
        Moment::Before { key, world, .. } => {
            let node = world.get::<Node>("", key);
            let ours = node.is_none_or(|node| node.is_simulated() && !node.is_lost());
            ours.then_some(()).ok_or_else(|| format!("writes to {key}"))
        }
        Moment::After { answer, .. } => {
            writes += usize::from(matches!(answer, Answer::Done(_)));
            Ok(())
        }
    };
    runner.run(world, &mut watch)?;
    Ok(writes)
}

/// Whether every node that is wanted or ours is as it should be, or left alone for a reason.
fn reached(world: &World) -> Result<(), String> {
    let settings = settings();
    let missing = settings
        .names()
        .find(|name| world.get::<Node>("", name).is_none());
    if let Some(name) = missing {
        return Err(format!("{name} is missing"));
    }
    for node in world.list::<Node>("") {
        let name = &node.metadata.name;
        if !node.is_simulated() || node.is_lost() {
            continue;
        }
        let right = status::is_right(&settings, &node);
        let labelled = status::labels_missing(&settings, &node).is_empty();
        let lease = world.get::<Lease>("kube-node-lease", name);
        let held = lease.is_some_and(|it| it.spec.holder_identity == *name);
        if !(right && labelled && held) {
            return Err(format!(
                "{name}: status {right}, labels {labelled}, lease {held}"
            ));
        }
    }
    Ok(())
}

fn settles(mut world: World) -> Result<(), String> {
    run(&mut Runner::new(subject(), &world), &mut world)?;
    reached(&world)?;
    match run(&mut Runner::new(subject(), &world), &mut world)? {
        0 => Ok(()),
        writes => Err(format!("all is settled, and yet {writes} writes")),
    }
}

fn heals(mut world: World, upsets: &[Upset], faults: &[u8]) -> Result<(), String> {
    let mut runner = Runner::new(subject(), &world);
    run(&mut runner, &mut world)?;
    for upset in upsets {
        upset.happen(&mut world);
    }
    for fault in faults {
        let error = flyball_api::ApiError::transport("connection refused");
        let fault_of = if fault & 1 == 0 {
            Fault::AnswerLost
        } else {
            Fault::Refused(error)
        };
        world.fail(u64::from(fault >> 4), fault_of);
    }
    // As long as it takes to fail a few times and to renew every lease once.
    for _ in 0..60 {
        run(&mut runner, &mut world)?;
        world.advance(std::time::Duration::from_secs(1));
    }
    run(&mut runner, &mut world)?;
    reached(&world)
}

proptest! {
    #![proptest_config(laws::config())]

    #[test]
    fn any_world_is_settled_at_once_and_then_left_alone(world in worlds()) {
        verdict(settles(world))?;
    }

    #[test]
    fn whatever_others_do_and_whatever_fails_is_healed_within_a_minute(
        world in worlds(),
        upsets in upsets(),
        faults in bytes(6),
    ) {
        verdict(heals(world, &upsets, &faults))?;
    }
}
