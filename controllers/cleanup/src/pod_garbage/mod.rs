//! Pods that nobody will ever look after again are taken away.
//!
//! Upstream: `pkg/controller/podgc/gc_controller.go`.
//!
//! **Watches** Pods and Nodes.
//!
//! **A sync** is about one of four things:
//! - all finished pods: those beyond the threshold go, evicted ones first, then the oldest;
//! - a node that is not ready and out of service: what was asked to go from it is gone;
//! - a node that is missing: after a quarantine, and if the server knows no such node either, its
//!   pods are marked as disrupted and go;
//! - a pod that was asked to go and never had a node: it goes.
//!
//! A pod that has not ended is marked as failed first, so that whoever made it makes another one.
//!
//! Upstream walks over all pods every 20 s. Here changes lead to keys, which wait for as long as
//! upstream lets things rest: finished pods for one period, missing nodes for the quarantine.
//!
//! **Promises**: every delete names the incarnation that was judged.
//!
//! **Never**: deletes pods of a node that the server still knows; deletes once more what only
//! finalizers hold.

mod key;
mod marking;
mod observe;
mod plan;
mod report;
mod route;
#[cfg(test)]
mod tests;
mod victims;

use std::time::Duration;

use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Now, Rule, Settings, Step, Sync,
};

pub use key::Key;
pub use observe::Observation;

/// How long after a pod has finished the finished ones are counted.
const PERIOD: Duration = Duration::from_secs(20);

/// How long a missing node may take to show up before the server is asked for it.
const QUARANTINE: Duration = Duration::from_secs(40);

/// What can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodGarbageSettings {
    /// How many finished pods may stay; all of them if this is zero or less.
    pub terminated_threshold: i64,
}

impl Default for PodGarbageSettings {
    fn default() -> Self {
        Self {
            terminated_threshold: 12_500,
        }
    }
}

/// Takes away pods that nobody looks after.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodGarbageCollector {
    settings: PodGarbageSettings,
}

impl PodGarbageCollector {
    /// A collector with these settings.
    pub fn new(settings: PodGarbageSettings) -> Self {
        Self { settings }
    }
}

impl Controller for PodGarbageCollector {
    type Key = Key;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "pod-garbage-collector-controller",
        aliases: &["podgc"],
        client: "pod-garbage-collector",
        component: "pod-garbage-collector-controller",
        queue: "orphaned_pods_nodes",
        watches: &[Watch::PODS, Watch::NODES],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<Key> {
        route::route(change, store)
    }

    fn patience(&self, key: &Key) -> Duration {
        match key {
            Key::Finished => PERIOD,
            Key::MissingNode(_) => QUARANTINE,
            Key::OutOfServiceNode(_) | Key::Unscheduled(_) => Duration::ZERO,
        }
    }

    fn observe(&self, key: &Key, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(&self.settings, key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(plan::plan)
    }
}

impl Configure for PodGarbageCollector {
    fn configure(settings: &dyn Settings) -> Self {
        let threshold = settings.number("terminated-pod-gc-threshold");
        let settings = PodGarbageSettings::default();
        Self::new(PodGarbageSettings {
            terminated_threshold: threshold.unwrap_or(settings.terminated_threshold),
        })
    }
}
