//! What a sync looks at: a role that collects, and all others.

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_informer::Snapshot;
use flyball_rbac::ClusterRole;

/// All that a sync of one role looks at.
#[derive(Debug)]
pub struct Observation {
    /// The role that collects.
    pub(super) role: Arc<ClusterRole>,
    /// All roles, itself included.
    pub(super) all: Vec<Arc<ClusterRole>>,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let role = store.get::<ClusterRole>("", &key.name)?.clone();
    role.aggregation_rule.as_ref()?;
    let all = store.list::<ClusterRole>("").cloned().collect();
    Some(Observation { role, all })
}
