//! What a store refuses, and why.

use crate::{Item, Key, Revision};

/// Why a revision cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It is older than the kept history. On the wire this is 410 Gone.
    #[error("required revision has been compacted; the oldest one kept is {oldest}")]
    Compacted {
        /// The oldest revision whose state and later events are known.
        oldest: Revision,
    },
    /// It has not happened yet.
    #[error("required revision is a future revision; the current one is {current}")]
    Future {
        /// The revision of the store.
        current: Revision,
    },
}

/// Why a transaction was not applied. Nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError<V> {
    /// A key was not as expected. The first such expectation is named.
    #[error("key {key} is not as expected")]
    Unmet {
        /// The key.
        key: Key,
        /// What is there, or `None` if nothing is.
        found: Option<Item<V>>,
    },
    /// The transaction writes a key twice, which etcd refuses as well.
    #[error("duplicate key {key} given in one transaction")]
    DuplicateKey {
        /// The key.
        key: Key,
    },
}

/// Why a recorded transaction could not be replayed. Nothing of it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// It is not the one that comes next.
    #[error("transaction {given} was given where {expected} comes next")]
    OutOfOrder {
        /// The revision that comes next.
        expected: Revision,
        /// The revision that was given.
        given: Revision,
    },
    /// It writes a key twice.
    #[error("transaction {revision} writes {key} twice")]
    DuplicateKey {
        /// The transaction.
        revision: Revision,
        /// The key.
        key: Key,
    },
    /// It changes nothing, so it cannot have had a revision.
    #[error("transaction {revision} changes nothing")]
    Empty {
        /// The transaction.
        revision: Revision,
    },
}

/// Why items do not make a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// No store was ever at this revision.
    #[error("revision {0} names no state")]
    RevisionInvalid(Revision),
    /// An item's marks contradict each other or the revision.
    #[error("item {key}: {problem}")]
    ItemInvalid {
        /// The item's key.
        key: Key,
        /// What is wrong.
        problem: &'static str,
    },
}
