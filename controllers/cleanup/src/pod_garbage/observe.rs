//! What a sync looks at: the pods in question.

use std::sync::Arc;

use flyball_api::Text;
use flyball_api::views::{BY_NODE, Node, Pod};
use flyball_informer::Snapshot;

use super::victims::{excess, has_finished, is_out_of_service};
use super::{Key, PodGarbageSettings};

/// Why pods are garbage, as the metrics call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// More pods have finished than may stay.
    Terminated,
    /// They were asked to go from a node that is out of service.
    OutOfService,
    /// Their node, which is this one, is missing.
    Orphaned(Text),
    /// They were asked to go and never had a node.
    Unscheduled,
}

/// All that a sync looks at.
#[derive(Debug)]
pub struct Observation {
    /// Why they are to go.
    pub(super) reason: Reason,
    /// The pods that are to go, in the order in which they do.
    pub(super) pods: Vec<Arc<Pod>>,
}

pub(super) fn observe(
    settings: &PodGarbageSettings,
    key: &Key,
    store: &Snapshot,
) -> Option<Observation> {
    let (reason, pods) = match key {
        Key::Finished => {
            let finished = store.list::<Pod>("").filter(|pod| has_finished(pod));
            let pods = excess(finished.cloned().collect(), settings.terminated_threshold);
            (Reason::Terminated, pods)
        }
        Key::OutOfServiceNode(node) => {
            store
                .get::<Node>("", node)
                .filter(|node| is_out_of_service(node))?;
            let pods = store.indexed::<Pod>(BY_NODE, node);
            let pods = pods.filter(|pod| pod.metadata.is_deleting()).cloned();
            (Reason::OutOfService, pods.collect())
        }
        Key::MissingNode(node) => {
            if store.get::<Node>("", node).is_some() {
                return None;
            }
            let pods = store.indexed::<Pod>(BY_NODE, node).cloned().collect();
            (Reason::Orphaned(node.clone()), pods)
        }
        Key::Unscheduled(name) => {
            let pod = store.get::<Pod>(&name.namespace, &name.name)?;
            if !pod.metadata.is_deleting() || !pod.spec.node_name.is_empty() {
                return None;
            }
            (Reason::Unscheduled, vec![pod.clone()])
        }
    };
    (!pods.is_empty()).then_some(Observation { reason, pods })
}
