//! Named indexes: objects in order of some value, then of their name.

use std::cmp::Ordering;
use std::sync::Arc;

use flyball_api::{Object, Text};

use super::objects::name_order;
use super::sorted::Sorted;

/// One way to find objects: by the values that the index reads from each.
pub(crate) struct Indexed<T>(Sorted<Entry<T>>);

/// An object under one of its values. Entries of equal value share its text.
struct Entry<T> {
    value: Arc<str>,
    object: Arc<T>,
}

impl<T> Clone for Entry<T> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            object: self.object.clone(),
        }
    }
}

impl<T> Clone for Indexed<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Indexed<T> {
    fn default() -> Self {
        Self(Sorted::default())
    }
}

impl<T: Object> Indexed<T> {
    /// The objects under a value, in order of namespace, then name.
    pub(crate) fn find<'a>(&'a self, value: &str) -> impl Iterator<Item = &'a Arc<T>> + use<'a, T> {
        self.0
            .range(|entry| (*entry.value).cmp(value))
            .map(|entry| &entry.object)
    }

    /// Whether nothing is filed under any value.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 0
    }

    /// Brings the index from an object's former state to its present one.
    pub(crate) fn update(
        &mut self,
        values_of: fn(&T, &mut Vec<Text>),
        old: Option<&Arc<T>>,
        new: Option<&Arc<T>>,
    ) {
        let read = |object: Option<&Arc<T>>| {
            let mut values = Vec::new();
            if let Some(object) = object {
                values_of(object, &mut values);
            }
            // An object may have thousands of values, and name one twice.
            values.sort_unstable();
            values.dedup();
            values
        };
        let (values_old, values_new) = (read(old), read(new));
        if let Some(old) = old {
            let gone = |one: &&Text| values_new.binary_search(one).is_err();
            for value in values_old.iter().filter(gone) {
                self.0.remove(|entry| entry.order(value, &**old));
            }
        }
        let Some(new) = new else {
            return;
        };
        for value in &values_new {
            // Most changes of an object leave its values alone: one search, not three.
            let by = |entry: &Entry<T>| entry.order(value, &**new);
            let stays = values_old.binary_search(value).is_ok();
            if !stays || !self.0.change(by, |entry| entry.object = new.clone()) {
                self.put(value, new);
            }
        }
    }

    fn put(&mut self, value: &str, object: &Arc<T>) {
        let neighbour = self.0.range(|entry| (*entry.value).cmp(value)).next();
        let shared = neighbour.map_or_else(|| value.into(), |entry| entry.value.clone());
        let entry = Entry {
            value: shared,
            object: object.clone(),
        };
        self.0.insert(entry, |other| other.order(value, &**object));
    }
}

impl<T: Object> Entry<T> {
    fn order(&self, value: &str, object: &T) -> Ordering {
        let by_value = (*self.value).cmp(value);
        by_value.then_with(|| name_order(&*self.object, object.namespace(), object.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Thing;

    fn owners(thing: &Thing, out: &mut Vec<Text>) {
        out.extend(thing.owners.iter().map(|owner| owner.as_str().into()));
    }

    #[test]
    fn entries_of_equal_value_share_its_text() {
        let mut index = Indexed::default();
        for name in ["a", "b"] {
            let thing = Arc::new(Thing::new("ns", name).owned_by(&["someone"]));
            index.update(owners, None, Some(&thing));
        }
        let values: Vec<_> = index.0.iter().map(|entry| entry.value.clone()).collect();
        assert!(Arc::ptr_eq(&values[0], &values[1]));
    }

    #[test]
    fn an_entry_takes_24_bytes() {
        assert_eq!(size_of::<Entry<Thing>>(), 24);
    }
}
