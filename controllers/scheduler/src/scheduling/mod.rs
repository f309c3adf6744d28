//! The scheduler: a node for every pod that has none.
//!
//! Upstream: `pkg/scheduler` with its default profile.
//!
//! **Watches** pods, nodes and namespaces.
//!
//! **One key**, the scheduler's name, stands for all pods that wait: two pods that were placed by
//! two syncs at once could both take the last room. A sync places one pod after the other, by
//! priority and then by age, each seeing those before it; the gate keeps the next sync from
//! beginning before the caches show what this one bound.
//!
//! **A sync**, stage by stage (`plan.rs`):
//!
//! 1. `place`: bindings, all at once; why other pods wait, as a condition and an event, if that is
//!    news; the condition of pods that have to go for more important ones.
//! 2. `settle`: events for what was bound; what could not be bound; deletion of those who go.
//! 3. `tell`: events for those who went.
//!
//! **Promises**: at most 500 bindings per sync, and no more than a few hundred other writes; a pod
//! is bound and deleted only as the incarnation that was judged; a pod that fits nowhere is tried
//! again when something changes that might help, and every five minutes; ties are broken by the
//! identity of the pod, so the same input has the same answer.
//!
//! **Never**: looks at volumes, resource claims, images or disruption budgets; touches pods that
//! are for another scheduler, that are gated, or that are going.

mod observe;
mod plan;
mod report;
mod route;
mod status;
#[cfg(test)]
mod tests;

use flyball_api::{ObjectName, Text};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Keys, Now, Rule, Step, Sync};

use crate::views::{Node, Pod};
pub use observe::Observation;

/// What flags say about the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerSettings {
    /// The name by which pods ask for it, in `spec.schedulerName`.
    pub name: Text,
}

impl Default for SchedulerSettings {
    fn default() -> Self {
        Self {
            name: "default-scheduler".into(),
        }
    }
}

/// Chooses a node for every pod that has none.
#[derive(Clone, Debug, Default)]
pub struct Scheduler {
    settings: SchedulerSettings,
}

impl Scheduler {
    /// A scheduler with these settings.
    pub fn new(settings: SchedulerSettings) -> Self {
        Self { settings }
    }

    fn key(&self) -> ObjectName {
        ObjectName::new("", &self.settings.name)
    }
}

impl Controller for Scheduler {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "kube-scheduler",
        aliases: &[],
        client: "kube-scheduler",
        component: "default-scheduler",
        queue: "scheduler",
        watches: &[Watch::of::<Pod>(), Watch::of::<Node>(), Watch::NAMESPACES],
        // There is one key.
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<ObjectName> {
        if route::concerns(&self.settings, change, store) {
            vec![self.key()]
        } else {
            Vec::new()
        }
    }

    fn observe(&self, _key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(&self.settings, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(|sync| plan::plan(&self.settings, sync))
    }
}
