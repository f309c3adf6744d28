//! Read your own writes: a key waits until the caches have seen what it wrote last.
//!
//! Without this a controller acts twice on one view: it creates three pods, looks again before
//! the watch has delivered them, and creates three more. The gate remembers per key what its
//! last syncs wrote and stays closed until the snapshot shows it. It is pacing, not truth: losing
//! it in a restart does no harm, because a fresh process starts from a fresh list.

use std::collections::HashMap;

use flyball_api::{Kind, ObjectName, Uid};
use flyball_informer::Snapshot;

use crate::{Action, Answer, Key};

/// What a closed gate waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The kind whose cache is behind.
    pub kind: Kind,
    /// What it has not shown yet.
    pub what: String,
}

/// The writes of each key that the caches have not shown yet.
#[derive(Debug)]
pub struct Gate<K> {
    pending: HashMap<K, Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    /// Per kind, the newest version written.
    versions: Vec<(Kind, u64)>,
    /// Incarnations that are known to be going or gone.
    deletes: Vec<(Kind, ObjectName, Uid)>,
}

impl<K> Default for Gate<K> {
    fn default() -> Self {
        Self {
            pending: HashMap::new(),
        }
    }
}

impl<K: Key> Gate<K> {
    /// Takes note of what became of one action of a key.
    ///
    /// Versions are compared as numbers, which servers guarantee; a version that is none is
    /// passed over, since waiting for it could last for ever.
    pub fn note(&mut self, key: &K, action: &Action, answer: &Answer) {
        match (action, answer) {
            (Action::Create { kind, .. }, Answer::Done(written)) => {
                self.wrote(key, *kind, &written.resource_version);
            }
            (
                Action::Patch { target, .. } | Action::Update { target, .. },
                Answer::Done(written),
            ) => {
                self.wrote(key, target.kind, &written.resource_version);
            }
            (
                Action::Delete {
                    target,
                    precondition,
                    ..
                },
                answer,
            ) => {
                // Gone or replaced is as good as deleted: the cache has yet to show it.
                let gone = match answer {
                    Answer::Done(_) => true,
                    // Any other conflict says nothing about the incarnation: it may be there for
                    // ever, and be waited for in vain.
                    Answer::Failed(error) => error.is_not_found() || error.is_other_incarnation(),
                    Answer::Read(_) | Answer::Skipped => false,
                };
                if let (true, Some(uid)) = (gone, &precondition.uid) {
                    let pending = self.pending.entry(key.clone()).or_default();
                    pending
                        .deletes
                        .push((target.kind, target.name.clone(), uid.clone()));
                }
            }
            _ => {}
        }
    }

    fn wrote(&mut self, key: &K, kind: Kind, version: &str) {
        let Ok(version) = version.parse::<u64>() else {
            return;
        };
        let pending = self.pending.entry(key.clone()).or_default();
        match pending.versions.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, newest)) => *newest = version.max(*newest),
            None => pending.versions.push((kind, version)),
        }
    }

    /// Whether the snapshot shows all that this key wrote; if not, what is missing.
    pub fn check(&mut self, key: &K, snapshot: &Snapshot) -> Result<(), Waiting> {
        let Some(pending) = self.pending.get_mut(key) else {
            return Ok(());
        };
        pending.versions.retain(|(kind, version)| {
            match snapshot.seen_kind(*kind).map(str::parse::<u64>) {
                Some(Ok(seen)) => seen < *version,
                // An uncomparable cache cannot be waited for.
                Some(Err(_)) => false,
                // Not listed yet is waited for; a kind that nobody watches will never show it.
                None => snapshot.views().iter().any(|view| view.kind() == *kind),
            }
        });
        pending.deletes.retain(|(kind, name, uid)| {
            snapshot
                .meta_of(*kind, &name.namespace, &name.name)
                .is_some_and(|cached| cached.uid == uid && !cached.deleting)
        });
        let waiting = match (pending.versions.first(), pending.deletes.first()) {
            (Some((kind, version)), _) => Waiting {
                kind: *kind,
                what: format!("own write at version {version}"),
            },
            (None, Some((kind, name, _))) => Waiting {
                kind: *kind,
                what: format!("own deletion of {name}"),
            },
            (None, None) => {
                self.pending.remove(key);
                return Ok(());
            }
        };
        Err(waiting)
    }

    /// Forgets a key that is no more.
    pub fn forget(&mut self, key: &K) {
        self.pending.remove(key);
    }

    /// How many keys have writes that the caches have not shown.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether all writes have been shown.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests;
