//! ReplicaSets and ReplicationControllers: a number of pods from one template, kept up.
//!
//! Upstream: `pkg/controller/replicaset` and `pkg/controller/replication`, which is the same
//! engine behind a conversion; here [`Replicas`] is written once over [`ReplicaKind`].
//!
//! **Watches** its own kind and pods; ReplicaSets also look at their siblings (the other sets of
//! the same Deployment) when they choose whom to delete.
//!
//! **A sync**, stage by stage (`plan.rs`):
//!
//! 1. `recheck`, `claim`: adopt active orphans that the selector matches, after the server itself
//!    confirmed that the owner lives; release active pods that it no longer matches.
//! 2. `create` in growing batches, or `delete` all at once: at most 500 pods either way.
//! 3. `tell`: events for what was done, and the status as of *before* it, if that differs from
//!    the one written; `refresh` and `tell-again` if that write failed once.
//!
//! **Promises**: at most [`BURST`] writes to pods per sync; a pod is deleted only as the
//! incarnation that was judged; unknown fields of the template reach the pods unchanged; status is
//! written even if managing pods failed, and the failure then decides when to come back.
//!
//! **Never**: touches pods of other controllers, or pods that have ended; creates or deletes for
//! an owner that is being deleted (its pods are the garbage collector's); acts on a selector that
//! is invalid, absent or empty. A selector that selects everything is not accepted by any server;
//! upstream only logs the invalid one, and would adopt the whole namespace for the empty one.

mod adoption;
mod creation;
mod deletion;
mod kind;
mod observe;
mod outcome;
mod plan;
mod report;
mod route;
mod status;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;

use crate::deployment::TERMINATING_REPLICAS;
use flyball_api::{Object, ObjectName};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, FeatureGate, Keys, Now, Rule, Settings, Step, Sync,
    Target,
};

pub use kind::{Owner, ReplicaKind, ReplicaSetKind, ReplicationControllerKind};
pub use observe::Observation;

/// The most pods that one sync creates or deletes; the next sync goes on.
const BURST: usize = 500;

/// Whether a pod's annotation says what losing it costs.
const DELETION_COST: FeatureGate = FeatureGate::on("PodDeletionCost");

/// What flags and feature gates say about replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicasSettings {
    /// Count pods on their way out in `status.terminatingReplicas` (the gate
    /// `DeploymentReplicaSetTerminatingReplicas`); ReplicationControllers have no such field.
    pub terminating_replicas: bool,
    /// Let pods say what losing them costs (the gate `PodDeletionCost`).
    pub deletion_cost: bool,
}

impl Default for ReplicasSettings {
    fn default() -> Self {
        Self {
            terminating_replicas: true,
            deletion_cost: true,
        }
    }
}

/// Keeps up the number of pods of every owner of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Replicas<K> {
    settings: ReplicasSettings,
    kind: PhantomData<fn() -> K>,
}

/// Keeps up the pods of ReplicaSets.
pub type ReplicaSetController = Replicas<ReplicaSetKind>;

/// Keeps up the pods of ReplicationControllers.
pub type ReplicationControllerController = Replicas<ReplicationControllerKind>;

impl<K: ReplicaKind> Replicas<K> {
    /// A controller with these settings.
    pub fn new(settings: ReplicasSettings) -> Self {
        Self {
            settings,
            kind: PhantomData,
        }
    }
}

impl<K: ReplicaKind> Default for Replicas<K> {
    fn default() -> Self {
        Self::new(ReplicasSettings::default())
    }
}

impl<K: ReplicaKind> Controller for Replicas<K> {
    type Key = ObjectName;
    type Observation = Observation<K>;
    type Memory = ();

    const DESCRIPTOR: Descriptor = K::DESCRIPTOR;

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (K::Object::kind(), key.clone());
        Some(Target { kind, name })
    }

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<ObjectName> {
        route::route::<K>(change, store)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation<K>> {
        observe::observe::<K>(key, store)
    }

    fn step(&self, seen: &Observation<K>, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(|sync| plan::plan(&self.settings, sync))
    }
}

impl<K: ReplicaKind> Configure for Replicas<K> {
    fn configure(settings: &dyn Settings) -> Self {
        Self::new(ReplicasSettings {
            terminating_replicas: settings.gate(TERMINATING_REPLICAS.name),
            deletion_cost: settings.gate(DELETION_COST.name),
        })
    }
}
