//! What happened to a key.

use crate::{Item, Key, Revision};

/// One key's part of a transaction that changed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event<V> {
    /// When it happened.
    pub revision: Revision,
    /// The state after it; `None` if the key was deleted.
    pub item: Option<Item<V>>,
    /// The state before it; `None` if the key did not exist.
    pub previous: Option<Item<V>>,
    key: Key,
}

impl<V> Event<V> {
    pub(crate) fn put(item: Item<V>, previous: Option<Item<V>>) -> Self {
        Event {
            revision: item.modified,
            key: item.key.clone(),
            item: Some(item),
            previous,
        }
    }

    pub(crate) fn deleted(revision: Revision, previous: Item<V>) -> Self {
        Event {
            revision,
            key: previous.key.clone(),
            item: None,
            previous: Some(previous),
        }
    }

    /// The key it happened to.
    pub fn key(&self) -> &Key {
        &self.key
    }
}

/// A stretch of the history that concerns a prefix.
#[derive(Debug)]
pub struct Events<'s, V> {
    /// The events in the order in which they happened. Revisions are never split: if the last
    /// transaction does not fit below the wanted number, its events are all here nevertheless.
    pub events: Vec<&'s Event<V>>,
    /// Up to here nothing with the prefix is missing. It is where to ask on, and, once it is the
    /// store's revision, what a bookmark may say.
    pub through: Revision,
}
