//! What a sync looks at: the node and its lease.

use std::sync::Arc;

use flyball_api::{ObjectName, Text};
use flyball_informer::Snapshot;

use super::LEASES;
use crate::Settings;
use crate::views::{Lease, Node};

/// All that a sync of one node looks at.
#[derive(Debug)]
pub struct Observation {
    /// The name of the node.
    pub(super) name: Text,
    /// The node, unless it is missing.
    pub(super) node: Option<Arc<Node>>,
    /// Its lease, unless it is missing.
    pub(super) lease: Option<Arc<Lease>>,
}

pub(super) fn observe(
    settings: &Settings,
    key: &ObjectName,
    store: &Snapshot,
) -> Option<Observation> {
    let node = store.get::<Node>("", &key.name).cloned();
    if node.is_none() && !settings.wants(&key.name) {
        return None;
    }
    let lease = store.get::<Lease>(LEASES, &key.name).cloned();
    Some(Observation {
        name: key.name.clone(),
        node,
        lease,
    })
}
