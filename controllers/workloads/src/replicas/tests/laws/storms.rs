//! Storms: caches that lag, requests that fail, answers that get lost, deaths and restarts, and
//! others who meddle, all at once. Nothing is promised about how long it takes; but every write
//! keeps the promises, and when the storm is over all is as desired.

use std::time::Duration;

use flyball_api::Class;
use flyball_testkit::builders::pod;
use flyball_testkit::laws::{Upset, config, upsets, verdict};
use flyball_testkit::{Fault, Moment, Runner};
use proptest::collection::vec;
use proptest::prelude::*;

use super::promises::{Slack, deletes_its_own, kept_by_the_last_write, releases_what_it_may};
use super::*;

const KILLED: &str = "killed";

/// More syncs than an owner needs on one view of the world.
const SYNCS_MAX: usize = 100;

/// One thing that happens in a storm.
#[derive(Clone, Debug)]
enum Gust {
    /// Each cache learns a part of what it has missed, by two bits: nothing, a part, most, all.
    Look(u8),
    /// The controller does what is due, and dies after so many writes if it is to die.
    Run(Option<u8>),
    /// Everybody else does a step of their work.
    Others,
    /// Seconds pass.
    Wait(u8),
    /// One of the next requests fails.
    Fail(u8, Failing),
    /// Somebody scales an owner.
    Scale(u16, i32),
    /// Others do worse.
    Meddle(Vec<Upset>),
}

#[derive(Clone, Copy, Debug)]
enum Failing {
    AnswerLost,
    Unreachable,
    Refused(u16, &'static str),
}

fn gust(meddling: bool) -> impl Strategy<Value = Gust> {
    let failing = prop_oneof![
        Just(Failing::AnswerLost),
        Just(Failing::Unreachable),
        Just(Failing::Refused(403, "Forbidden")),
        Just(Failing::Refused(500, "InternalError")),
        Just(Failing::Refused(429, "TooManyRequests")),
        // Admission by quota or webhook says so of creates, and may of anything.
        Just(Failing::Refused(409, "Conflict")),
    ];
    prop_oneof![
        4 => any::<u8>().prop_map(Gust::Look),
        4 => Just(Gust::Run(None)),
        1 => (0..8_u8).prop_map(|writes| Gust::Run(Some(writes))),
        2 => Just(Gust::Others),
        2 => any::<u8>().prop_map(Gust::Wait),
        3 => (0..5_u8, failing).prop_map(|(nth, failing)| Gust::Fail(nth, failing)),
        1 => (any::<u16>(), 0..6).prop_map(|(which, replicas)| Gust::Scale(which, replicas)),
        1 => upsets().prop_map(move |upsets| match meddling {
            true => Gust::Meddle(upsets),
            false => Gust::Others,
        }),
    ]
}

/// Rides out a storm.
fn ride_out<K: OnTrial>(mut world: World, gusts: &[Gust]) -> Result<(), String> {
    world.start();
    let mut slack = Slack {
        others_interfere: gusts.iter().any(|gust| matches!(gust, Gust::Meddle(_))),
        ..Slack::default()
    };
    let start = || Replicas::<K>::default();
    let mut runner = Runner::new(start(), &world);
    for gust in gusts {
        match gust {
            Gust::Look(parts) => look::<K>(&mut runner, &world, *parts),
            Gust::Run(survives) => match run(&mut runner, &mut world, *survives, &mut slack) {
                Err(why) if why == KILLED => runner = Runner::new(start(), &world),
                ended => ended?,
            },
            Gust::Others => Replicas::<K>::others(&mut world),
            Gust::Wait(seconds) => world.advance(Duration::from_secs((*seconds).into())),
            Gust::Fail(nth, failing) => world.fail((*nth).into(), failing.fault()),
            Gust::Scale(which, replicas) => scale::<K>(&mut world, *which, *replicas),
            Gust::Meddle(upsets) => upsets.iter().for_each(|upset| upset.happen(&mut world)),
        }
    }
    world.heal();
    let mut watch = |moment: Moment<'_>| judge::<K>(moment, &mut slack);
    runner.converge(&mut world, Replicas::<K>::others, &mut watch)?;
    Replicas::<K>::reached(&world)
}

fn look<K: OnTrial>(runner: &mut Runner<Replicas<K>>, world: &World, parts: u8) {
    for (at, watch) in Replicas::<K>::DESCRIPTOR.watches.iter().enumerate() {
        let (kind, seen) = (watch.kind(), runner.caches().seen(watch.kind()));
        let part = u64::from(parts.rotate_right(2 * at as u32) & 3);
        let learned = (world.revision() - seen) * part / 3;
        runner.see(world, |caches| {
            caches.catch_up_kind(world, kind, seen + learned)
        });
    }
}

/// Does what is due on the caches as they are; ends with [`KILLED`] if it is not to survive.
fn run<K: OnTrial>(
    runner: &mut Runner<Replicas<K>>,
    world: &mut World,
    survives: Option<u8>,
    slack: &mut Slack,
) -> Result<(), String> {
    let mut left = survives;
    let mut watch = |moment: Moment<'_>| {
        let wrote = matches!(moment, Moment::After { action, answer: Answer::Done(_), .. } if action.is_write());
        judge::<K>(moment, slack)?;
        match &mut left {
            Some(0) if wrote => return Err(KILLED.to_owned()),
            Some(left) if wrote => *left -= 1,
            _ => {}
        }
        Ok(())
    };
    for _ in 0..SYNCS_MAX {
        if runner.sync(world, &mut watch)?.is_err() {
            // Alive or not, it had its time.
            return if survives.is_some() {
                Err(KILLED.to_owned())
            } else {
                Ok(())
            };
        }
    }
    Err(format!(
        "does not rest after {SYNCS_MAX} syncs on one view of the world"
    ))
}

fn judge<K: OnTrial>(moment: Moment<'_>, slack: &mut Slack) -> Result<(), String> {
    let Moment::After {
        key,
        action,
        answer,
        world,
    } = moment
    else {
        return Ok(());
    };
    let lost = answer
        .error()
        .is_some_and(|error| error.class() == Class::Timeout);
    match (action, answer) {
        (Action::Write(write), Answer::Failed(_)) if write.is_create() => {
            slack.refused = true;
            slack.creates_lost += usize::from(lost);
        }
        (
            Action::Write(Write {
                verb: Verb::Delete { .. },
                ..
            }),
            Answer::Failed(_),
        ) => {
            slack.refused = true;
            slack.deletes_lost += usize::from(lost);
        }
        (
            Action::Write(Write {
                verb: Verb::Delete { .. },
                target,
                precondition,
                ..
            }),
            Answer::Done(_),
        ) => {
            let judged = precondition
                .uid
                .as_ref()
                .map(ToString::to_string)
                .unwrap_or_default();
            deletes_its_own::<K>(world, key, target, &judged, *slack)?;
        }
        (
            Action::Write(Write {
                verb: Verb::StrategicPatch,
                ..
            }),
            Answer::Done(_),
        ) => releases_what_it_may::<K>(world)?,
        _ => {}
    }
    match answer {
        Answer::Done(_) if action.is_write() => kept_by_the_last_write::<K>(world, *slack),
        _ if lost => kept_by_the_last_write::<K>(world, *slack),
        _ => Ok(()),
    }
}

fn scale<K: OnTrial>(world: &mut World, which: u16, replicas: i32) {
    let owners = world.list::<K::Object>("");
    if !owners.is_empty() {
        let owner = K::owner(&owners[usize::from(which) % owners.len()]);
        let target = flyball_plan::Target::of(K::KIND, owner.meta);
        world.edit(&target, |owner| owner["spec"]["replicas"] = replicas.into());
    }
}

impl Failing {
    fn fault(self) -> Fault {
        match self {
            Self::AnswerLost => Fault::AnswerLost,
            Self::Unreachable => Fault::Refused(ApiError::transport("connection refused")),
            Self::Refused(code, reason) => {
                let status = Status::failure(code, reason, "so the storm wants it");
                Fault::Refused(ApiError::from_status(status))
            }
        }
    }
}

macro_rules! storms {
    ($name:ident, $kind:ty) => {
        mod $name {
            use super::*;

            proptest! {
                #![proptest_config(config())]

                #[test]
                fn weathers_lag_failures_and_death(
                    world in worlds::<$kind>(),
                    gusts in vec(gust(false), 0..16),
                ) {
                    verdict(ride_out::<$kind>(world, &gusts))?;
                }

                #[test]
                fn weathers_meddlers_too(
                    world in worlds::<$kind>(),
                    gusts in vec(gust(true), 0..16),
                ) {
                    verdict(ride_out::<$kind>(world, &gusts))?;
                }
            }
        }
    };
}

storms!(replica_sets, ReplicaSetKind);
storms!(replication_controllers, ReplicationControllerKind);

#[test]
fn a_deletion_that_is_denied_as_a_conflict_is_tried_again() {
    let pods = ["web-a", "web-b"].map(|name| pod(name).controlled_by("ReplicaSet", "web").ready());
    let world = World::of([replica_set("web")].into_iter().chain(pods));
    let denied = Gust::Fail(0, Failing::Refused(409, "Conflict"));
    let gusts = [denied, Gust::Run(None)];
    assert_eq!(ride_out::<ReplicaSetKind>(world, &gusts), Ok(()));
}

/// A harness that never fails proves nothing: here the gate is lost while the caches stay old,
/// which no restart does.
#[test]
fn the_promises_notice_who_forgets_what_it_wrote() {
    let mut world = World::of([replica_set("web").replicas(2)]);
    world.start();
    let start = world.revision();
    let mut slack = Slack::default();
    let mut live = |world: &mut World| {
        let controller = ReplicaSetController::default();
        run(
            &mut Runner::behind(controller, world, start),
            world,
            None,
            &mut slack,
        )
    };
    assert_eq!(live(&mut world), Ok(()));
    let forgetful = live(&mut world).unwrap_err();
    assert_eq!(
        forgetful,
        "replicaset-web has 3 active pods and never wanted more than 2"
    );
}
