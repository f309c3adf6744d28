//! What a store is asked to change, under which conditions, and what it answers.

use std::collections::BTreeSet;

use crate::{Event, Key, Revision};

/// What must be true of a key before anything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing is stored there.
    Absent,
    /// What is stored there was last put at this revision.
    ModifiedAt(Revision),
    /// Whatever is there is fine.
    Any,
}

/// What is written under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write<V> {
    /// A value, in place of the one there.
    Put(V),
    /// Nothing. If nothing is there, this changes nothing.
    Delete,
}

/// Conditions and the writes that depend on them: all are made, or none.
#[derive(Clone, Debug)]
pub struct Transaction<V> {
    pub(crate) expectations: Vec<(Key, Expect)>,
    pub(crate) writes: Vec<(Key, Write<V>)>,
}

impl<V> Default for Transaction<V> {
    fn default() -> Self {
        Transaction {
            expectations: Vec::new(),
            writes: Vec::new(),
        }
    }
}

impl<V> Transaction<V> {
    /// A transaction that expects and writes nothing so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a value where nothing is.
    pub fn create(key: impl Into<Key>, value: V) -> Self {
        let key = key.into();
        Self::new()
            .given(key.clone(), Expect::Absent)
            .put(key, value)
    }

    /// Puts a value in place of the one that was put at `seen`.
    pub fn update(key: impl Into<Key>, seen: Revision, value: V) -> Self {
        let key = key.into();
        Self::new()
            .given(key.clone(), Expect::ModifiedAt(seen))
            .put(key, value)
    }

    /// Deletes what was put at `seen`.
    pub fn remove(key: impl Into<Key>, seen: Revision) -> Self {
        let key = key.into();
        Self::new()
            .given(key.clone(), Expect::ModifiedAt(seen))
            .delete(key)
    }

    /// Adds a condition.
    #[must_use]
    pub fn given(mut self, key: impl Into<Key>, expected: Expect) -> Self {
        self.expectations.push((key.into(), expected));
        self
    }

    /// Adds a put.
    #[must_use]
    pub fn put(self, key: impl Into<Key>, value: V) -> Self {
        self.write(key, Write::Put(value))
    }

    /// Adds a delete.
    #[must_use]
    pub fn delete(self, key: impl Into<Key>) -> Self {
        self.write(key, Write::Delete)
    }

    /// Adds a write.
    #[must_use]
    pub fn write(mut self, key: impl Into<Key>, write: Write<V>) -> Self {
        self.writes.push((key.into(), write));
        self
    }

    /// The first key that is written a second time.
    pub(crate) fn duplicate(&self) -> Option<&Key> {
        let mut seen = BTreeSet::new();
        let mut keys = self.writes.iter().map(|(key, _)| key);
        keys.find(|key| !seen.insert(*key))
    }
}

/// What a transaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed<V> {
    /// The revision of the store after it: a new one if there are events.
    pub revision: Revision,
    /// What happened, in the order of the writes. Empty if nothing changed.
    pub events: Vec<Event<V>>,
}
