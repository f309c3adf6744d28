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

use flyball_api::discovery::Discovery;
use flyball_api::{Kind, Lineage, Object, ObjectName, Uid};

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
    discovery: Option<Arc<Discovery>>,
    // Invariant: sorted, each kind once.
    waiting: Arc<[Kind]>,
}

/// What is known of an object whose type is not: enough to compare it with a write of one's own,
/// and to know whom it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Brief<'a> {
    /// The namespace, empty for cluster-scoped kinds.
    pub namespace: &'a str,
    /// The name within the namespace.
    pub name: &'a str,
    /// The identity of the cached incarnation.
    pub uid: &'a Uid,
    /// The version of the cached state.
    pub resource_version: &'a str,
    /// Whether the object has been asked to go away.
    pub deleting: bool,
    /// Whom it belongs to, and what holds it back from going.
    pub lineage: Lineage<'a>,
}

impl<'a> Brief<'a> {
    /// What there is to know of an object without its type.
    pub fn of<T: Object>(object: &'a T) -> Self {
        Self {
            namespace: object.namespace(),
            name: object.name(),
            uid: object.uid(),
            resource_version: object.resource_version(),
            deleting: object.is_deleting(),
            lineage: object.lineage(),
        }
    }

    /// Namespace and name as one value.
    pub fn object_name(&self) -> ObjectName {
        ObjectName::new(self.namespace, self.name)
    }
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
            ..Self::default()
        }
    }

    /// This snapshot with the view of one kind exchanged or added.
    pub fn with(&self, view: AnyView) -> Self {
        let (before, after, kind) = (&self.views, &self.views, view.kind());
        let at = before.partition_point(|known| known.kind() < kind);
        let rest = at + usize::from(after.get(at).is_some_and(|known| known.kind() == kind));
        let views = before[..at].iter().cloned().chain([view]);
        Self {
            views: views.chain(after[rest..].iter().cloned()).collect(),
            ..self.clone()
        }
    }

    /// This snapshot without the view of one kind.
    pub fn without(&self, kind: Kind) -> Self {
        let views = self.views.iter().filter(|view| view.kind() != kind);
        Self {
            views: views.cloned().collect(),
            ..self.clone()
        }
    }

    /// This snapshot with the view of one kind in place of that of another, such as of the same
    /// resource in another version.
    pub fn replacing(&self, old: Kind, new: AnyView) -> Self {
        let added = new.kind();
        let kept = |view: &&AnyView| view.kind() != old && view.kind() != added;
        let mut views: Vec<AnyView> = self.views.iter().filter(kept).cloned().collect();
        let at = views.partition_point(|known| known.kind() < added);
        views.insert(at, new);
        Self {
            views: views.into(),
            ..self.clone()
        }
    }

    /// This snapshot with the kinds whose first or renewed list is waited for.
    pub fn waiting_for(&self, kinds: impl IntoIterator<Item = Kind>) -> Self {
        let mut waiting: Vec<Kind> = kinds.into_iter().collect();
        waiting.sort_unstable();
        waiting.dedup();
        Self {
            waiting: waiting.into(),
            ..self.clone()
        }
    }

    /// The kinds that are not complete yet and are waited for, in order: an object that is absent
    /// from them may still show up.
    pub fn incomplete(&self) -> &[Kind] {
        &self.waiting
    }

    /// This snapshot with what the server was found to have.
    pub fn discovered(&self, discovery: Arc<Discovery>) -> Self {
        Self {
            discovery: Some(discovery),
            ..self.clone()
        }
    }

    /// Which resources the server has, for controllers that ask for it; `None` before it was first
    /// told.
    pub fn discovery(&self) -> Option<&Arc<Discovery>> {
        self.discovery.as_ref()
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

    /// The objects of all kinds that name this identity as an owner, with their kinds, in order of
    /// kind, namespace and name; none unless the caches track who belongs to whom.
    pub fn dependents<'a>(
        &'a self,
        owner: &Uid,
    ) -> impl Iterator<Item = (Kind, Brief<'a>)> + use<'a> {
        let owner = owner.compact();
        self.views.iter().flat_map(move |view| {
            let kind = view.kind();
            view.dependents(&owner)
                .map(move |dependent| (kind, dependent))
        })
    }

    /// The object of this identity, with its kind, if the caches track who belongs to whom.
    pub fn find(&self, uid: &Uid) -> Option<(Kind, Brief<'_>)> {
        let mut views = self.views.iter();
        views.find_map(|view| Some((view.kind(), view.find(uid)?)))
    }

    /// The cache of a kind known only at run time.
    pub fn view_of(&self, kind: Kind) -> Option<&AnyView> {
        self.any(kind)
    }

    /// The cache of a resource, in whatever version it is cached.
    pub fn cached_as(&self, kind: Kind) -> Option<&AnyView> {
        let exactly = self.any(kind);
        exactly.or_else(|| {
            self.views
                .iter()
                .find(|view| view.kind().is_same_resource(&kind))
        })
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
