//! Objects of one kind in order of namespace, then name.

use std::cmp::Ordering;
use std::sync::Arc;

use flyball_api::Object;

use super::sorted::Sorted;

/// Objects by name. An entry is one pointer: the key is read from the object itself.
pub(crate) struct Objects<T>(Sorted<Arc<T>>);

impl<T> Clone for Objects<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self(Sorted::default())
    }
}

impl<T: Object> Objects<T> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.0.get(|object| name_order(&**object, namespace, name))
    }

    /// The object of the same namespace and name.
    pub(crate) fn same_name(&self, object: &T) -> Option<&Arc<T>> {
        self.get(object.namespace(), object.name())
    }

    pub(crate) fn put(&mut self, object: Arc<T>) -> Option<Arc<T>> {
        self.put_unless(object, |_| false).unwrap_or_default()
    }

    /// Puts a state of an object in unless the one that is there is to `stay`; returns that one if
    /// it went, and nothing at all if it stayed.
    pub(crate) fn put_unless(
        &mut self,
        object: Arc<T>,
        stay: impl FnOnce(&T) -> bool,
    ) -> Option<Option<Arc<T>>> {
        let key = object.clone();
        let by = |other: &Arc<T>| name_order(&**other, key.namespace(), key.name());
        self.0.insert_unless(object, by, |known| stay(known))
    }

    pub(crate) fn remove(&mut self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.0
            .remove(|object| name_order(&**object, namespace, name))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<T>> + use<'_, T> {
        self.0.iter()
    }

    /// The objects of one namespace, or all if it is empty.
    pub(crate) fn list<'a>(
        &'a self,
        namespace: &str,
    ) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        match namespace {
            "" => self.0.iter(),
            _ => self.0.range(|object| object.namespace().cmp(namespace)),
        }
    }
}

/// Where `object` stands relative to the given name.
pub(crate) fn name_order<T: Object>(object: &T, namespace: &str, name: &str) -> Ordering {
    object
        .namespace()
        .cmp(namespace)
        .then_with(|| object.name().cmp(name))
}
