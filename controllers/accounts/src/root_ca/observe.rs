//! What a sync looks at: the namespace and its ConfigMap.

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_api::views::{ConfigMap, Namespace, ROOT_CA};
use flyball_informer::Snapshot;

/// All that a sync of one namespace looks at.
#[derive(Debug)]
pub struct Observation {
    /// The namespace.
    pub(super) namespace: Arc<Namespace>,
    /// Its ConfigMap, unless it is missing.
    pub(super) map: Option<Arc<ConfigMap>>,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let namespace = store.get::<Namespace>("", &key.name)?.clone();
    let map = store.get::<ConfigMap>(&key.name, ROOT_CA).cloned();
    Some(Observation { namespace, map })
}
