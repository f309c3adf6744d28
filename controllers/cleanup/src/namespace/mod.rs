//! A namespace that was asked to go is emptied, and then let go.
//!
//! Upstream: `pkg/controller/namespace/namespace_controller.go` and `deletion/` beside it.
//!
//! **Watches** Namespaces. What is in them is asked for when one is to go: it may be of any kind,
//! and nobody knows beforehand of which.
//!
//! **A sync** is about one namespace on its way out:
//! 1. the server is asked for it, and it must be the one that was seen;
//! 2. the server is asked which resources it has;
//! 3. pods go first; while there is one, nothing else is touched;
//! 4. everything else goes, all resources side by side;
//! 5. conditions say what could not be found out, what could not be deleted, and what is left;
//! 6. with nothing left and nothing unseen, the namespace is let go.
//!
//! **Promises**: what a namespace waits for stands in its conditions; a namespace that is stuck is
//! looked at again later and keeps nobody from looking at another.
//!
//! **Never**: lets a namespace go whose content could not be seen in full; deletes anything in a
//! namespace that has come anew under the name of one that went.

mod conditions;
mod content;
mod findings;
mod live;
mod observe;
mod plan;
mod report;
mod resources;
mod route;
#[cfg(test)]
mod tests;

use std::time::Duration;

use flyball_api::ObjectName;
use flyball_api::views::Namespace;
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Answers, Configure, Controller, Descriptor, Keys, Now, Rule, Settings, Step, Sync, Target,
};

pub use observe::Observation;

/// How long a namespace is left alone after a change: all API servers are to know by then that it
/// is on its way out, and to refuse new content.
const PATIENCE: Duration = Duration::from_secs(5);

/// Empties namespaces on their way out.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamespaceController;

impl Controller for NamespaceController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "namespace-controller",
        aliases: &["namespace"],
        client: "namespace-controller",
        component: "namespace-controller",
        queue: "namespace",
        watches: &[Watch::NAMESPACES],
        workers: 10,
        retries_max: None,
        // Namespaces are looked at once a minute at least, and emptying one takes some requests for
        // every resource that there is.
        delay_max: Duration::from_secs(60),
        qps_factor: 20.0,
        burst_factor: 100,
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

    fn patience(&self, _: &ObjectName) -> Duration {
        PATIENCE
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(plan::plan)
    }
}

impl Configure for NamespaceController {
    fn configure(_: &dyn Settings) -> Self {
        Self
    }
}
