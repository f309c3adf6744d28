//! What a sync looks at: a node and the pods bound to it.

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_informer::Snapshot;

use crate::views::{BY_NODE, Node, Pod};

/// All that a sync of one node looks at.
#[derive(Debug)]
pub struct Observation {
    /// The node.
    pub(super) node: Arc<Node>,
    /// All pods bound to it, by namespace and name.
    pub(super) pods: Vec<Arc<Pod>>,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let node = store.get::<Node>("", &key.name)?;
    // The pods of a node that is gone are the garbage collector's.
    node.is_simulated().then(|| Observation {
        node: node.clone(),
        pods: store.indexed::<Pod>(BY_NODE, &key.name).cloned().collect(),
    })
}
