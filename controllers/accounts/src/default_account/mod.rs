//! Every namespace has an account that its pods use if they name none.
//!
//! Upstream: `pkg/controller/serviceaccount/serviceaccounts_controller.go`.
//!
//! **Watches** Namespaces and ServiceAccounts.
//!
//! **A sync** is about one namespace: if it is active and has no account `default`, that is created.
//!
//! **Promises**: an account that went comes back.
//!
//! **Never**: changes or deletes an account; creates anything in a namespace on its way out.

mod observe;
mod plan;
mod report;
mod route;
#[cfg(test)]
mod tests;

use flyball_api::ObjectName;
use flyball_api::views::{Namespace, ServiceAccount};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Now, Rule, Settings, Step, Sync, Target,
};

pub use observe::Observation;

/// The account that every namespace has.
const NAME: &str = "default";

/// Keeps an account in every namespace.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceAccountController;

impl Controller for ServiceAccountController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "serviceaccount-controller",
        aliases: &["serviceaccount"],
        client: "service-account-controller",
        component: "serviceaccount-controller",
        queue: "serviceaccount",
        watches: &[Watch::NAMESPACES, Watch::of::<ServiceAccount>()],
        workers: 1,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (Namespace::KIND, key.clone());
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

impl Configure for ServiceAccountController {
    fn configure(_: &dyn Settings) -> Self {
        Self
    }
}
