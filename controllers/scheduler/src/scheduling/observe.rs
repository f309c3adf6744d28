//! What a sync looks at: who waits, all nodes, and who is on them.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use flyball_api::views::Namespace;
use flyball_api::{Labels, Text};
use flyball_informer::Snapshot;

use super::SchedulerSettings;
use crate::placing::{Decision, decide};
use crate::views::{Node, PENDING, Pod};

/// All that a sync looks at.
#[derive(Debug)]
pub struct Observation {
    /// Pods that wait and may be placed, in the order in which they are placed.
    pub(crate) pending: Vec<Arc<Pod>>,
    /// How many wait for somebody to say that they may be placed.
    pub(crate) gated: usize,
    /// Pods that take room on nodes.
    pub(crate) assigned: Vec<Arc<Pod>>,
    /// All nodes, by name.
    pub(crate) nodes: Vec<Arc<Node>>,
    /// The labels of all namespaces.
    pub(crate) namespaces: HashMap<Text, Labels>,
    // It follows from the rest, and each step of a sync asks for it: worked out once.
    decision: OnceCell<Decision>,
}

impl Observation {
    /// What becomes of the pods that wait.
    pub(crate) fn decision(&self) -> &Decision {
        self.decision.get_or_init(|| decide(self))
    }
}

pub(super) fn observe(settings: &SchedulerSettings, store: &Snapshot) -> Option<Observation> {
    let waiting = store.indexed::<Pod>(PENDING, &settings.name).cloned();
    let (gated, mut pending): (Vec<_>, Vec<_>) = waiting.partition(|pod| pod.gated);
    if pending.is_empty() {
        return None;
    }
    // Equals stay in order of namespace and name, which is the order of the index.
    pending.sort_by_key(|pod| (Reverse(pod.priority), pod.created));
    let namespaces = store.list::<Namespace>("").map(|it| {
        let meta = &it.metadata;
        (meta.name.clone(), meta.labels.clone())
    });
    Some(Observation {
        pending,
        gated: gated.len(),
        assigned: store
            .list::<Pod>("")
            .filter(|pod| pod.is_assigned())
            .cloned()
            .collect(),
        nodes: store.list::<Node>("").cloned().collect(),
        namespaces: namespaces.collect(),
        decision: OnceCell::new(),
    })
}
