//! What a store has committed, as the log takes it: keys and opaque bytes.

use bytes::Bytes;
use flyball_storage::{Committed, Key, Revision};

/// One transaction that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The revision that it gave the store.
    pub revision: Revision,
    /// What it changed; a key at most once.
    pub writes: Vec<Write>,
}

/// What became of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// It holds a value. It was modified by the commit.
    Put {
        /// The key.
        key: Key,
        /// When it was created.
        created: Revision,
        /// How many times it was put since.
        version: u64,
        /// The value.
        bytes: Bytes,
    },
    /// It is gone.
    Delete {
        /// The key.
        key: Key,
    },
}

impl Commit {
    /// What a store said that it did, with values written as bytes.
    pub fn of<V>(committed: &Committed<V>, mut bytes: impl FnMut(&V) -> Bytes) -> Self {
        let writes = committed.events.iter().map(|event| match &event.item {
            Some(item) => Write::Put {
                key: item.key.clone(),
                created: item.created,
                version: item.version,
                bytes: bytes(&item.value),
            },
            None => Write::Delete {
                key: event.key().clone(),
            },
        });
        Commit {
            revision: committed.revision,
            writes: writes.collect(),
        }
    }
}
