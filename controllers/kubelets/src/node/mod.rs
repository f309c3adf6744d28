//! Simulated nodes: registered, and kept alive.
//!
//! Upstream: `pkg/kubelet/kubelet_node_status.go`, `pkg/kubelet/nodestatus`, and
//! `component-helpers/apimachinery/lease`, the parts of a kubelet by which a cluster knows its
//! nodes.
//!
//! **Watches** Nodes and Leases. The nodes that are wanted are looked at when it begins: there may
//! be none yet that could change.
//!
//! **A sync** is about one node, stage by stage (`plan.rs`):
//!
//! 1. `register`: a node that is wanted and missing is created, with labels and status.
//! 2. `report`: labels that went missing, a status that is not as it should be or is as old as a
//!    heartbeat, and a lease that is missing or due are written, all at once. A node that is ready
//!    takes off the taint with which servers register nodes.
//!
//! **Promises**: of a node that is not marked as simulated nothing is ever written; conditions,
//! labels and addresses of others are left as they are, and so is `spec` but for that taint.
//!
//! **Never**: deletes a node; creates the namespace of the leases (it is the server's); touches a
//! node that is marked as lost or on its way out.

mod observe;
mod plan;
mod report;
mod route;
mod status;
mod taints;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Keys, Now, Rule, Step, Sync, Target};

use crate::Settings;
use crate::views::{Lease, Node};

pub use observe::Observation;

/// The namespace of the leases of nodes.
const LEASES: &str = "kube-node-lease";

/// Registers simulated nodes and keeps them alive.
#[derive(Clone, Debug)]
pub struct NodeController {
    settings: Arc<Settings>,
}

impl NodeController {
    /// A controller with these settings.
    pub fn new(settings: Arc<Settings>) -> Self {
        Self { settings }
    }
}

impl Controller for NodeController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "simulated-node-controller",
        aliases: &["simulated-nodes"],
        client: "simulated-node-controller",
        component: "kubelet",
        queue: "simulated_nodes",
        watches: &[Watch::of::<Node>(), Watch::of::<Lease>()],
        workers: 16,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn about(&self, key: &ObjectName) -> Option<Target> {
        let (kind, name) = (Node::KIND, key.clone());
        Some(Target { kind, name })
    }

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        route::route(&self.settings, change)
    }

    fn initial(&self) -> Keys<ObjectName> {
        self.settings
            .names()
            .map(|name| route::key(&name))
            .collect()
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(&self.settings, key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(|sync| plan::plan(&self.settings, sync))
    }
}
