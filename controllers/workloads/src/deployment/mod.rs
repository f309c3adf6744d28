//! Deployments: one ReplicaSet for each template there was, and pods moved from old to new.
//!
//! **Watches** Deployments, ReplicaSets, and the deletion of pods (for strategy Recreate, which
//! waits for the last one to be gone).
//!
//! **A sync** reads top to bottom in `plan.rs`:
//!
//! 1. ReplicaSets that match and belong to nobody are adopted, those that no longer match are
//!    released (`claims`). The oldest whose template means the same as the Deployment's is the
//!    *new* one (`observe`), all others are *old*.
//! 2. A Deployment that goes away only has its status kept up.
//! 3. Pausing and resuming are noted (`pausing`). While paused, sizes follow the Deployment's
//!    (`scaling`) and the history is cleaned up (`cleanup`), but nothing is rolled out.
//! 4. A rollback that was asked for changes the template, and nothing else happens (`rollback`).
//! 5. If the size changed, every ReplicaSet's does in proportion (`scaling`), and nothing else.
//! 6. Otherwise the roll-out takes its next step (`rolling`, `recreate`), creating the new
//!    ReplicaSet if there is none (`creation`).
//! 7. Whatever is to be said of it is written at the end in one piece (`draft`, `status`,
//!    `progress`).
//!
//! **Promises**: never more pods than `replicas + maxSurge`, and never fewer available ones than
//! `replicas - maxUnavailable` through its own doing; at most one write to each ReplicaSet besides
//! its adoption and, but for a resumption, one to the Deployment in a sync; unknown fields of the
//! template arrive in the ReplicaSet unchanged; every write names the state it was decided by.
//!
//! **Never** touches pods, ReplicaSets of others, or the desired state of a Deployment, except for
//! a rollback; never tells templates apart by their hash; never renames what exists.
//!
//! Upstream: `pkg/controller/deployment`. Where it writes status or annotations in several steps of
//! one sync, they are put together here; where it then runs into its own conflict and starts over,
//! this does not.

mod annotations;
mod claims;
mod cleanup;
mod conditions;
mod creation;
mod draft;
mod edits;
mod limits;
mod observe;
mod pausing;
mod plan;
mod progress;
mod recreate;
mod report;
mod revisions;
mod rollback;
mod rolling;
mod route;
mod scaling;
mod sets;
mod status;
#[cfg(test)]
mod tests;

use flyball_api::ObjectName;
use flyball_api::views::Deployment;
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, FeatureGate, Keys, Now, Rule, Settings, Step,
    Target,
};

pub use observe::Observation;

/// The label that tells the pods of one template from those of the next.
const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// What flags and feature gates say about Deployments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeploymentSettings {
    /// Count pods on their way out in `status.terminatingReplicas` (the gate
    /// `DeploymentReplicaSetTerminatingReplicas`).
    pub terminating_replicas: bool,
}

impl Default for DeploymentSettings {
    fn default() -> Self {
        Self {
            terminating_replicas: true,
        }
    }
}

/// Rolls out Deployments.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeploymentController {
    settings: DeploymentSettings,
}

impl DeploymentController {
    /// A controller with these settings.
    pub fn new(settings: DeploymentSettings) -> Self {
        Self { settings }
    }
}

/// A sync of one Deployment.
type Sync<'a> = flyball_plan::Sync<'a, Observation>;

/// Whether terminating pods are counted in statuses.
pub(crate) const TERMINATING_REPLICAS: FeatureGate =
    FeatureGate::on("DeploymentReplicaSetTerminatingReplicas");

impl Controller for DeploymentController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "deployment-controller",
        aliases: &["deployment"],
        client: "deployment-controller",
        component: "deployment-controller",
        queue: "deployment",
        watches: &[Watch::DEPLOYMENTS, Watch::REPLICA_SETS, Watch::PODS],
        workers: 5,
        retries_max: Some(15),
        gates: &[TERMINATING_REPLICAS],
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (Deployment::KIND, key.clone());
        Some(Target { kind, name })
    }

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<ObjectName> {
        route::route(change, store)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(self.settings, key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(plan::plan)
    }
}

impl Configure for DeploymentController {
    fn configure(settings: &dyn Settings) -> Self {
        Self::new(DeploymentSettings {
            terminating_replicas: settings.gate(TERMINATING_REPLICAS.name),
        })
    }
}
