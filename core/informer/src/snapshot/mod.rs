//! What controllers read: one immutable state of every cache they watch.
//!
//! A [`Snapshot`] is made of one view per kind. Cloning it clones a pointer; it never changes, so a
//! reader can never block a watch. Within one kind it is a state that the server once had; kinds
//! are watched apart, so one may be ahead of another.

mod builder;
mod erased;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use flyball_api::{Kind, Object, Uid};

use crate::StoreView;

pub use builder::SnapshotBuilder;
pub use erased::AnyView;

/// An immutable state of the caches of several kinds.
///
/// Asking about a kind that is not among them finds nothing; [`Snapshot::has`] tells that apart
/// from a kind without objects.
#[derive(Clone, Default)]
pub struct Snapshot {
    // Invariant: sorted by kind, each kind once.
    views: Arc<[AnyView]>,
}

/// What is known of an object whose type is not: enough to compare it with a write of one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    /// The identity of the cached incarnation.
    pub uid: &'a Uid,
    /// The version of the cached state.
    pub resource_version: &'a str,
    /// Whether the object has been asked to go away.
    pub deleting: bool,
}

impl Snapshot {
    /// A state of the given caches. Of two views of one kind the later counts.
    pub fn new(views: impl IntoIterator<Item = AnyView>) -> Self {
        let mut sorted: Vec<AnyView> = Vec::new();
        for view in views {
            match sorted.binary_search_by(|known| known.kind().cmp(&view.kind())) {
                Ok(at) => sorted[at] = view,
                Err(at) => sorted.insert(at, view),
            }
        }
        Self {
            views: sorted.into(),
        }
    }

    /// This snapshot with the view of one kind exchanged or added.
    pub fn with(&self, view: AnyView) -> Self {
        Self::new(self.views.iter().cloned().chain([view]))
    }

    /// Whether the kind of `T` is among the caches, and is cached as `T`.
    pub fn has<T: Object>(&self) -> bool {
        self.view::<T>().is_some()
    }

    /// The cache of one kind.
    pub fn view<T: Object>(&self) -> Option<&StoreView<T>> {
        self.any(T::kind())?.of::<T>()
    }

    /// The object of this name; the namespace of cluster-scoped kinds is empty.
    pub fn get<T: Object>(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.view::<T>()?.get(namespace, name)
    }

    /// The objects of one namespace, or all if it is empty, in order of namespace, then name.
    pub fn list<'a, T: Object>(
        &'a self,
        namespace: &str,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.view::<T>()
            .map(|view| view.list(namespace))
            .into_iter()
            .flatten()
    }

    /// The objects that the named index of `T` files under `value`, in order of namespace, then
    /// name. Asking for an index that `T` does not have is a bug: see [`StoreView::indexed`].
    pub fn indexed<'a, T: Object>(
        &'a self,
        index: &str,
        value: &str,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.view::<T>()
            .map(|view| view.indexed(index, value))
            .into_iter()
            .flatten()
    }

    /// The newest resourceVersion up to which the cache of `T` is complete; `None` before its
    /// first list, or if the kind is not among the caches.
    pub fn seen<T: Object>(&self) -> Option<&str> {
        self.seen_kind(T::kind())
    }

    /// As [`Snapshot::seen`], for a kind known only at run time.
    pub fn seen_kind(&self, kind: Kind) -> Option<&str> {
        self.any(kind)
            .map(AnyView::seen)
            .filter(|version| !version.is_empty())
    }

    /// What is known of one object of a kind known only at run time.
    pub fn meta_of(&self, kind: Kind, namespace: &str, name: &str) -> Option<Brief<'_>> {
        self.any(kind)?.brief(namespace, name)
    }

    /// The caches, in order of kind.
    pub fn views(&self) -> &[AnyView] {
        &self.views
    }

    fn any(&self, kind: Kind) -> Option<&AnyView> {
        let at = self
            .views
            .binary_search_by(|view| view.kind().cmp(&kind))
            .ok()?;
        self.views.get(at)
    }
}
