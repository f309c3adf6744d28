//! ClusterRoles that collect: their rules are those of the roles that they select by label.
//!
//! Upstream: `pkg/controller/clusterroleaggregation`.
//!
//! **Watches** ClusterRoles. Whatever happened to one of them, all that collect are looked at:
//! roles are few and change seldom, and which one selects which is only known by looking.
//!
//! **A sync** has one stage, `write`: the rules are replaced if they are not what the selected
//! roles lend, in the order of selectors and names ([`flyball_rbac::aggregate`]).
//!
//! **Promises**: a role that collects nothing has no rules; a role without an `aggregationRule` is
//! never written; rules are written only over the state that they were computed for.
//!
//! **Never**: writes anything but `rules`. Upstream applies them under its own name by force; this
//! patches them, so a record of ownership says `Update` where upstream's says `Apply`.

mod observe;
mod plan;
mod report;
mod route;
#[cfg(test)]
mod tests;

use flyball_api::ObjectName;
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Now, Rule, Settings, Step, Sync, Target,
};
use flyball_rbac::ClusterRole;

pub use observe::Observation;

/// Gives ClusterRoles that collect the rules of those that they select.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterRoleAggregationController;

impl Controller for ClusterRoleAggregationController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "clusterrole-aggregation-controller",
        aliases: &["clusterrole-aggregation"],
        client: "clusterrole-aggregation-controller",
        component: "clusterrole-aggregation-controller",
        queue: "ClusterRoleAggregator",
        watches: &[Watch::of::<ClusterRole>()],
        workers: 5,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (ClusterRole::KIND, key.clone());
        Some(Target { kind, name })
    }

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<ObjectName> {
        route::route(change, store)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(plan::plan)
    }
}

impl Configure for ClusterRoleAggregationController {
    fn configure(_: &dyn Settings) -> Self {
        Self
    }
}
