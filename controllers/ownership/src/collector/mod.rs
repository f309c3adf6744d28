//! Objects whose owners are gone are deleted; owners wait for their dependents where they should.
//!
//! Upstream: `pkg/controller/garbagecollector/{garbagecollector,graph_builder,operations}.go`.
//!
//! **Watches** every resource that can be listed, watched and deleted, custom ones included, by its
//! metadata; which there are, discovery says while it runs. The graph is not kept here: it is the
//! snapshot, whose caches know objects by identity and by owner.
//!
//! **A sync** is about one [`Item`]. An *object* that is being deleted with `orphan` has its
//! dependents set free and the finalizer taken off; one with `foregroundDeletion` waits until no
//! dependent blocks it. An object that is not is deleted when none of its owners lives: one that the
//! caches show alive is alive, for all others the server itself is asked, by name and UID. An *owner*
//! that somebody names and no cache shows is asked for once, on behalf of all its dependents; if it
//! is gone, they are looked at.
//!
//! **Promises**: nothing is deleted unless the server has confirmed of each owner, by UID, that it is
//! gone or waits in the foreground; a delete insists on the state that was judged, so what has got
//! another owner meanwhile stays. An owner of a kind that is not discovered yet may be alive. No owner is released
//! while a kind that could hold a dependent of it is not listed yet.
//!
//! **Never**: takes a missing cache, a kind that vanished or a list without an object for a deletion
//! that calls for another; deletes a cluster-scoped object whose owner would live in a namespace.
//!
//! Unlike upstream it does not read an object again before it deletes it: the delete fails if the
//! object is not as it was seen, and only then it is read.

mod absent;
mod clash;
mod finalizers;
mod graph;
mod item;
mod observe;
mod orphans;
mod owners;
mod plan;
mod report;
mod route;
#[cfg(test)]
mod tests;
mod waiting;

use flyball_informer::{Change, Snapshot};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Learnt, Now, Rule, Settings, Sight, Step,
    Target,
};

pub use absent::AbsentOwners;
pub use graph::graph;
pub use item::Item;
pub use observe::Observation;

/// Collects garbage.
#[derive(Clone, Copy, Debug, Default)]
pub struct GarbageCollector;

impl Controller for GarbageCollector {
    type Key = Item;
    type Observation = Observation;
    type Memory = AbsentOwners;

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "garbage-collector-controller",
        aliases: &["garbagecollector"],
        client: "generic-garbage-collector",
        component: "garbage-collector-controller",
        queue: "garbage_collector_attempt_to_delete",
        watches: &[],
        workers: 20,
        retries_max: None,
        qps_factor: 2.0,
        enabled_by: Some("enable-garbage-collector"),
        ..Descriptor::BASE
    };

    const SIGHT: Sight = Sight::Everything;

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &Item) -> Option<Target> {
        match key {
            Item::Object { kind, name, .. } => Some(Target {
                kind: *kind,
                name: name.clone(),
            }),
            Item::Owner { .. } => None,
        }
    }

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<Item> {
        route::route(change, store)
    }

    fn observe(&self, key: &Item, store: &Snapshot, absent: &AbsentOwners) -> Option<Observation> {
        observe::observe(key, store, absent)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        flyball_plan::Sync::new(seen, answers, now).plan(plan::plan)
    }

    fn remember(&self, absent: &mut AbsentOwners, learnt: &Learnt<'_, Self>, _: Now) {
        match learnt {
            Learnt::Changed(change) => absent.learn_change(change),
            Learnt::Rested { answers, .. } => absent.learn_answers(answers),
        }
    }

    fn follow(&self, seen: &Observation, answers: &Answers) -> Keys<Item> {
        plan::follow(seen, answers)
    }
}

impl Configure for GarbageCollector {
    fn configure(_: &dyn Settings) -> Self {
        Self
    }
}
