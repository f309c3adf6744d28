//! What a sync looks at: a namespace on its way out.

use std::collections::BTreeSet;
use std::sync::Arc;

use flyball_api::views::Namespace;
use flyball_api::{Kind, Object, ObjectName};
use flyball_informer::{AnyView, Snapshot};

/// Kinds with no more objects than this in all namespaces are sparse.
pub(super) const SPARSE_MAX: usize = 100;

/// All that a sync of one namespace looks at; what is in it is asked for.
#[derive(Debug)]
pub struct Observation {
    /// The namespace.
    pub(super) namespace: Arc<Namespace>,
    /// Kinds of which there seem to be few objects, where somebody caches them. This is a hint
    /// where to ask, not what to find: the server is asked in any case.
    pub(super) sparse: BTreeSet<Kind>,
}

pub(super) fn observe(key: &ObjectName, store: &Snapshot) -> Option<Observation> {
    let namespace = store.get::<Namespace>("", &key.name)?;
    if !namespace.is_deleting() {
        return None;
    }
    let is_sparse = |view: &&AnyView| {
        view.kind().namespaced && !view.seen().is_empty() && view.len() <= SPARSE_MAX
    };
    let sparse = store.views().iter().filter(is_sparse);
    Some(Observation {
        namespace: namespace.clone(),
        sparse: sparse.map(AnyView::kind).collect(),
    })
}
