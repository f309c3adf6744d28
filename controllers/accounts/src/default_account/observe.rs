//! What a sync looks at: the namespace, and whether it has its account.

use std::sync::Arc;

use flyball_api::ObjectName;
use flyball_api::views::{Namespace, ServiceAccount};
use flyball_informer::Snapshot;

use super::NAME;

/// All that a sync of one namespace looks at.
#[derive(Debug)]
pub struct Observation {
    /// The namespace.
    pub(super) namespace: Arc<Namespace>,
    /// Whether its account exists.
    pub(super) has_account: bool,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let namespace = store.get::<Namespace>("", &key.name)?.clone();
    let account = store.get::<ServiceAccount>(&key.name, NAME);
    Some(Observation {
        namespace,
        has_account: account.is_some(),
    })
}
