//! Readying objects for the cache, one by one as a list or a watch brings them.

use std::sync::Arc;

use flyball_api::{Object, Pool};

use super::Reflector;
use crate::StoreView;

impl<T: Object> Reflector<T> {
    /// The cache whose objects a list may share: none if the list is consistent, because the same
    /// version may be another state.
    pub(super) fn shareable<'c>(&self, cached: &'c StoreView<T>) -> Option<&'c StoreView<T>> {
        self.not_older_than().is_some().then_some(cached)
    }
}

/// Readies an object for the cache. A state that is cached already is not kept a second time.
pub(super) fn admit<T: Object>(
    object: T,
    pool: &mut Pool,
    cached: Option<&StoreView<T>>,
) -> Arc<T> {
    match cached.and_then(|cached| cached.same_state(&object)) {
        Some(known) => known.clone(),
        None => shared(object, pool),
    }
}

/// An object that shares with others what it has in common with them.
pub(super) fn shared<T: Object>(mut object: T, pool: &mut Pool) -> Arc<T> {
    object.share(pool);
    Arc::new(object)
}
