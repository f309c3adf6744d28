//! Jobs that asked for it are deleted some time after they have finished.
//!
//! Upstream: `pkg/controller/ttlafterfinished/ttlafterfinished_controller.go`.
//!
//! **Watches** Jobs.
//!
//! **A sync** is about one Job: if it has finished and its time is over, the server is asked for it,
//! and if that still says so, it is deleted, its pods first.
//!
//! **Promises**: a Job is never deleted before its time, however old the caches are: the time that
//! counts is read from the server, and the incarnation that was read is the one that is deleted.
//!
//! **Never**: touches a Job that does not say how long it wants to stay.

mod expiry;
mod observe;
mod plan;
mod report;
mod route;
#[cfg(test)]
mod tests;

use flyball_api::ObjectName;
use flyball_api::views::Job;
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Now, Rule, Settings, Step, Sync, Target,
};

pub use observe::Observation;

/// Deletes Jobs some time after they have finished.
#[derive(Clone, Copy, Debug, Default)]
pub struct TtlAfterFinishedController;

impl Controller for TtlAfterFinishedController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "ttl-after-finished-controller",
        aliases: &["ttl-after-finished"],
        client: "ttl-after-finished-controller",
        component: "ttl-after-finished-controller",
        queue: "ttl_jobs_to_delete",
        watches: &[Watch::JOBS],
        workers: 5,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (Job::KIND, key.clone());
        Some(Target { kind, name })
    }

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        route::route(change)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(plan::plan)
    }
}

impl Configure for TtlAfterFinishedController {
    fn configure(_: &dyn Settings) -> Self {
        Self
    }
}
