//! What a sync looks at: a namespace on its way out.

use std::sync::Arc;

use flyball_api::views::Namespace;
use flyball_api::{Object, ObjectName};
use flyball_informer::Snapshot;

/// All that a sync of one namespace looks at; what is in it is asked for.
#[derive(Debug)]
pub struct Observation {
    /// The namespace.
    pub(super) namespace: Arc<Namespace>,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let namespace = store.get::<Namespace>("", &key.name)?;
    let going = namespace.is_deleting();
    going.then(|| Observation {
        namespace: namespace.clone(),
    })
}
