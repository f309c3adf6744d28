//! The life of pods on simulated nodes.
//!
//! Upstream: `pkg/kubelet/kubelet_pods.go`, `pkg/kubelet/status`, what a kubelet tells of the pods
//! of its node. Nothing runs here: how a container fares follows from a table of stages
//! (`life.rs`) and from what the pod asks for by [annotations](crate::annotations).
//!
//! **Watches** pods and Nodes.
//!
//! **A sync** is about one node and all pods bound to it, as a kubelet is: it lets each pod go on
//! as far as it is due by now, and writes what came of it in one stage, `pods`. A pod that nothing
//! delays goes from bound to ready in one write. The node as key is also what makes addresses
//! unique: two pods of one node are never planned apart.
//!
//! **Promises**: at most [`WRITES_MAX`] writes per sync; every status is written to the very
//! version it was derived from; a pod is taken away only as the incarnation that was told to go;
//! no two pods that have not ended share an address of their node's range.
//!
//! **Never**: touches pods of nodes that are not simulated, or lost; moves a pod out of a phase
//! that is final; writes conditions that are not a kubelet's (`PodScheduled` among them, though a
//! kubelet would repeat it).

mod addresses;
mod advance;
mod asks;
mod back_off;
mod conditions;
mod images;
mod life;
mod observe;
mod phase;
mod plan;
mod point;
mod report;
mod route;
mod status;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Keys, Now, Rule, Step, Sync};

use crate::Settings;
use crate::views::{Node, Pod};

pub use life::{Delay, LIFE, Next, Stage, When};
pub use observe::Observation;
pub use point::Point;

/// The most pods that one sync writes; the next sync goes on.
const WRITES_MAX: usize = 500;

/// Leads the pods on simulated nodes through their life.
#[derive(Clone, Debug)]
pub struct PodController {
    settings: Arc<Settings>,
    life: Arc<[Stage]>,
}

impl PodController {
    /// A controller with these settings and the usual life.
    pub fn new(settings: Arc<Settings>) -> Self {
        Self::with_life(settings, LIFE.into())
    }

    /// A controller whose pods go through these stages.
    pub fn with_life(settings: Arc<Settings>, life: Arc<[Stage]>) -> Self {
        Self { settings, life }
    }
}

impl Controller for PodController {
    type Key = ObjectName;
    type Observation = Observation;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        name: "simulated-pod-controller",
        aliases: &["simulated-pods"],
        client: "simulated-pod-controller",
        component: "kubelet",
        queue: "simulated_pods",
        watches: &[Watch::of::<Pod>(), Watch::of::<Node>()],
        workers: 64,
        retries_max: None,
        ..Descriptor::BASE
    };

    const RULES: &'static [Rule] = report::RULES;

    fn route(&self, change: &Change, store: &Snapshot) -> Keys<ObjectName> {
        route::route(change, store)
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Observation> {
        observe::observe(key, store)
    }

    fn step(&self, seen: &Observation, answers: &Answers, now: Now) -> Step {
        Sync::new(seen, answers, now).plan(|sync| plan::plan(&self.settings, &self.life, sync))
    }
}
