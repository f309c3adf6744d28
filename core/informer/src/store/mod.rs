//! The cache of one kind: objects by name, the indexes over them, and how far it has come.
//!
//! A [`Store`] has one writer. Readers hold a [`StoreView`], a state of the cache that never
//! changes; taking one copies a pointer, and writing while views are alive copies only what the
//! write touches.

pub(crate) mod family;
pub(crate) mod index;
pub(crate) mod objects;
pub(crate) mod sorted;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use flyball_api::{Kind, Object, Text, Uid};

use family::Family;
use index::Indexed;
use objects::Objects;

/// The cache of one kind.
pub struct Store<T: Object> {
    view: Arc<StoreView<T>>,
}

impl<T: Object> Default for Store<T> {
    fn default() -> Self {
        Self::of(T::kind())
    }
}

impl<T: Object> Store<T> {
    /// An empty cache that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty cache of a kind known only at run time.
    pub fn of(kind: Kind) -> Self {
        let indexes = T::indexes().iter().map(|_| Indexed::default()).collect();
        let view = StoreView {
            kind,
            objects: Objects::default(),
            indexes,
            family: None,
            seen: Text::default(),
            complete: false,
        };
        Self {
            view: Arc::new(view),
        }
    }

    /// From now on also knows who belongs to whom.
    pub fn track_family(&mut self) {
        if self.view.family.is_some() {
            return;
        }
        let mut family = Family::default();
        for object in self.view.objects.iter() {
            family.update(None, Some(object));
        }
        Arc::make_mut(&mut self.view).family = Some(family);
    }

    /// The present state, to be kept as long as one likes.
    pub fn view(&self) -> &Arc<StoreView<T>> {
        &self.view
    }

    /// Puts a state of an object in and returns the one it replaces.
    pub fn apply(&mut self, object: Arc<T>) -> Option<Arc<T>> {
        self.apply_unless(object, |_| false).unwrap_or_default()
    }

    /// Puts a state of an object in unless the cached one is to `stay`; returns the one it
    /// replaces, and nothing at all if it does not.
    pub(crate) fn apply_unless(
        &mut self,
        object: Arc<T>,
        stay: impl FnOnce(&T) -> bool,
    ) -> Option<Option<Arc<T>>> {
        let view = Arc::make_mut(&mut self.view);
        let old = view.objects.put_unless(object.clone(), stay)?;
        view.update_indexes(old.as_ref(), Some(&object));
        Some(old)
    }

    /// Takes an object out.
    pub fn remove(&mut self, namespace: &str, name: &str) -> Option<Arc<T>> {
        // An unknown name must not cost a copy.
        self.view.get(namespace, name)?;
        let view = Arc::make_mut(&mut self.view);
        let old = view.objects.remove(namespace, name);
        view.update_indexes(old.as_ref(), None);
        old
    }

    /// Makes the cache hold exactly `listed`, which completes it. Calls `change` for every object
    /// that thereby goes (`Some, None`), comes (`None, Some`) or changes (`Some, Some`), in that
    /// order of kinds.
    ///
    /// An object whose UID and resourceVersion are those cached is the cached one: it stays, without
    /// a change.
    pub fn replace(
        &mut self,
        listed: impl IntoIterator<Item = Arc<T>>,
        change: impl FnMut(Option<&Arc<T>>, Option<&Arc<T>>),
    ) {
        let mut objects = Objects::default();
        for object in listed {
            let known = self.view.same_state(&object).cloned();
            objects.put(known.unwrap_or(object));
        }
        self.replace_by(&objects, change);
    }

    /// As [`Store::replace`], from a collection that is sorted already. Only the very pointer that
    /// is cached stays without a change: another history has other states of the same version.
    pub(crate) fn replace_by(
        &mut self,
        listed: &Objects<T>,
        mut change: impl FnMut(Option<&Arc<T>>, Option<&Arc<T>>),
    ) {
        let before = self.view.clone();
        for old in before
            .objects
            .iter()
            .filter(|old| listed.same_name(old).is_none())
        {
            self.remove(old.namespace(), old.name());
            change(Some(old), None);
        }
        for new in listed.iter() {
            match before.objects.same_name(new) {
                Some(old) if Arc::ptr_eq(old, new) => {}
                old => {
                    self.apply(new.clone());
                    change(old, Some(new));
                }
            }
        }
        self.set_complete(true);
    }

    /// Notes that a whole list has filled the cache, for caches that are filled object by object.
    pub fn mark_complete(&mut self) {
        self.set_complete(true);
    }

    pub(crate) fn set_complete(&mut self, complete: bool) {
        if self.view.complete != complete {
            Arc::make_mut(&mut self.view).complete = complete;
        }
    }

    /// Notes that the cache holds the server's state as of this resourceVersion.
    pub fn advance(&mut self, version: &str) {
        if self.view.seen != version {
            Arc::make_mut(&mut self.view).seen = version.into();
        }
    }
}

/// A state of the cache of one kind. It never changes.
pub struct StoreView<T: Object> {
    kind: Kind,
    objects: Objects<T>,
    indexes: Vec<Indexed<T>>,
    family: Option<Family<T>>,
    seen: Text,
    complete: bool,
}

impl<T: Object> Clone for StoreView<T> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            objects: self.objects.clone(),
            indexes: self.indexes.clone(),
            family: self.family.clone(),
            seen: self.seen.clone(),
            complete: self.complete,
        }
    }
}

impl<T: Object> StoreView<T> {
    /// The kind that is cached.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The object of this identity, if the cache tracks who belongs to whom.
    pub fn find(&self, uid: &Uid) -> Option<&Arc<T>> {
        self.family.as_ref()?.find(uid)
    }

    /// The objects that name an identity, in its [compact](Uid::compact) form, as an owner, in order
    /// of namespace, then name; none unless the cache tracks who belongs to whom.
    pub(crate) fn dependents<'a>(
        &'a self,
        owner: &str,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        let family = self.family.as_ref();
        family
            .map(|family| family.dependents(owner))
            .into_iter()
            .flatten()
    }

    /// Whether any object is known to have an owner.
    pub(crate) fn has_dependents(&self) -> bool {
        self.family.as_ref().is_some_and(Family::has_dependents)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The object of this name; the namespace of cluster-scoped kinds is empty.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.objects.get(namespace, name)
    }

    /// The objects of one namespace, or all if it is empty, in order of namespace, then name.
    pub fn list<'a>(&'a self, namespace: &str) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.objects.list(namespace)
    }

    /// The objects that the named index of `T` files under `value`, in order of namespace, then
    /// name. Asking for an index that `T` does not have is a bug: it finds nothing, and panics in
    /// debug builds.
    pub fn indexed<'a>(
        &'a self,
        index: &str,
        value: &str,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        let at = T::indexes().iter().position(|known| known.name == index);
        debug_assert!(at.is_some(), "{:?} have no index {index:?}", T::kind());
        let indexed = at.and_then(|at| self.indexes.get(at));
        indexed
            .map(|indexed| indexed.find(value))
            .into_iter()
            .flatten()
    }

    /// The newest resourceVersion up to which this state is complete; empty before the first list.
    pub fn seen(&self) -> &str {
        &self.seen
    }

    /// Whether a whole list has filled the cache. If not, an object that is absent from it may
    /// still exist.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The cached object, if it is the same state of the same object.
    pub(crate) fn same_state(&self, object: &T) -> Option<&Arc<T>> {
        let known = self.objects.same_name(object)?;
        is_same_state(&**known, object).then_some(known)
    }

    fn update_indexes(&mut self, old: Option<&Arc<T>>, new: Option<&Arc<T>>) {
        for (index, indexed) in T::indexes().iter().zip(&mut self.indexes) {
            indexed.update(index.values, old, new);
        }
        if let Some(family) = &mut self.family {
            family.update(old, new);
        }
    }
}

/// Whether both are one and the same state of one object: within one history, no server gives one
/// resourceVersion to two states of one UID.
pub(crate) fn is_same_state<T: Object>(a: &T, b: &T) -> bool {
    a.uid() == b.uid() && a.resource_version() == b.resource_version()
}

/// Whether resourceVersion `a` is older than `b`. Versions are decimal numbers on every server
/// that promises to order them; any other text is not comparable and so never older.
pub(crate) fn is_older(a: &str, b: &str) -> bool {
    match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(a), Ok(b)) => a < b,
        _ => false,
    }
}
