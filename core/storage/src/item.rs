//! What is stored under a key, and the order of items.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use crate::Revision;

/// A path such as `/registry/pods/default/web`. Keys are ordered bytewise. One allocation is shared
/// by the item and all events about it.
pub type Key = Arc<str>;

/// A value with the marks of its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<V> {
    /// Where it is stored.
    pub key: Key,
    /// What is stored.
    pub value: V,
    /// When the key came into being; deleting it and putting it again begins anew.
    pub created: Revision,
    /// When it was last put.
    pub modified: Revision,
    /// How many times it was put since it was created: 1 for a new item.
    pub version: u64,
}

/// An item as an element of a sorted set that is searched by key.
// Invariant: equality and order look at the key only, as `Borrow<str>` demands.
pub(crate) struct Stored<V>(pub(crate) Item<V>);

impl<V> Borrow<str> for Stored<V> {
    fn borrow(&self) -> &str {
        &self.0.key
    }
}

impl<V> PartialEq for Stored<V> {
    fn eq(&self, other: &Self) -> bool {
        self.0.key == other.0.key
    }
}

impl<V> Eq for Stored<V> {}

impl<V> PartialOrd for Stored<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V> Ord for Stored<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.key.cmp(&other.0.key)
    }
}
