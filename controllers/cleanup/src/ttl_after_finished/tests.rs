//! Jobs whose time is over: one sync (cases), which changes lead to one, and the six laws.

use std::sync::Arc;

use flyball_api::{Kind, Object, Timestamp};
use flyball_testkit::{Lawful, World, check_cases_in};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::expiry::{Expiry, expiry};
use super::*;
use flyball_api::views::Job;

fn prepared(world: World) -> World {
    world.knowing::<Job>()
}

#[test]
fn jobs_get_what_their_cases_say() {
    let folder = "src/ttl_after_finished/cases";
    check_cases_in(&TtlAfterFinishedController, folder, prepared);
}

/// A Job: which condition holds, how many seconds after the start it finished, how long it stays.
fn job(name: &str, condition: &str, finished: i64, ttl: Option<i32>) -> Value {
    let at = Timestamp::from_unix_seconds(1_767_225_600 + finished);
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ttlSecondsAfterFinished": ttl},
        "status": {"conditions": [{"type": condition, "status": "True", "lastTransitionTime": at}]},
    })
}

#[test]
fn only_jobs_that_are_to_go_are_looked_at() {
    let keys = |job: &Value| {
        let job = Arc::new(Job::decode(job.to_string().as_bytes()).unwrap());
        let store = Snapshot::default();
        TtlAfterFinishedController
            .route(&Change::added(job.clone()), &store)
            .len()
            + TtlAfterFinishedController
                .route(&Change::deleted(job), &store)
                .len()
    };
    assert_eq!(keys(&job("a", "Complete", 0, Some(5))), 1);
    assert_eq!(keys(&job("a", "Complete", 0, None)), 0);
    assert_eq!(keys(&job("a", "Suspended", 0, Some(5))), 0);
}

impl Lawful for TtlAfterFinishedController {
    const KIND: Kind = Job::KIND;

    fn subject() -> Self {
        Self
    }

    /// No Job goes before its time, whoever looks.
    fn invariants(world: &World) -> Result<(), String> {
        let Some(last) = world.history().last() else {
            return Ok(());
        };
        let before = world.at(last.revision - 1);
        let Some(was) = before.get::<Job>(&last.id.1.namespace, &last.id.1.name) else {
            return Ok(());
        };
        let is = world.get::<Job>(&last.id.1.namespace, &last.id.1.name);
        // Others delete Jobs at once; this controller waits for their dependents.
        let goes = is.is_some_and(|is| is.metadata.is_deleting());
        match expiry(&was, world.now()) {
            Expiry::Since(_) => Ok(()),
            other if goes && !was.metadata.is_deleting() => {
                Err(format!("{}: {other:?}", last.id.1))
            }
            _ => Ok(()),
        }
    }

    fn reached(world: &World) -> Result<(), String> {
        let late = |job: &Job| matches!(expiry(job, world.now()), Expiry::Since(_));
        match world.list::<Job>("").iter().find(|job| late(job)) {
            Some(job) => Err(format!("{} should be gone", job.metadata.name)),
            None => Ok(()),
        }
    }

    /// Dependents of Jobs are gone at once.
    fn others(world: &mut World) {
        let going: Vec<_> = world
            .list::<Job>("")
            .into_iter()
            .filter(Job::is_deleting)
            .collect();
        for job in going {
            world.remove(&flyball_plan::Target::of(Job::KIND, &job.metadata));
        }
    }
}

fn worlds() -> impl Strategy<Value = World> {
    let one = (0..3_u8, -100..100_i64, proptest::option::of(0..100_i32));
    proptest::collection::vec(one, 0..6).prop_map(|jobs| {
        let mut world = prepared(World::default());
        for (at, (condition, finished, ttl)) in jobs.into_iter().enumerate() {
            let condition = ["Complete", "Failed", "Suspended"][usize::from(condition)];
            world.put(job(&format!("job-{at}"), condition, finished, ttl));
        }
        world
    })
}

flyball_testkit::laws!(TtlAfterFinishedController, worlds);
