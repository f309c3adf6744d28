//! Read your own writes: a key waits until the caches have seen what it wrote last.
//!
//! Without this a controller acts twice on one view: it creates three pods, looks again before
//! the watch has delivered them, and creates three more. The gate remembers per key what its
//! last syncs wrote and stays closed until the snapshot shows it. It is pacing, not truth: losing
//! it in a restart does no harm, because a fresh process starts from a fresh list.

use std::collections::HashMap;

use flyball_api::{Kind, ObjectName, Text, Uid};
use flyball_informer::Snapshot;

use crate::{Action, Answer, Key, Precondition, Shows, Target, Unseen};

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
    /// Objects that were changed by a write whose answer does not say to which version, and the
    /// versions they had before.
    changes: Vec<(Kind, ObjectName, Uid, Text)>,
}

impl Pending {
    /// One thing that is still waited for.
    fn first(&self) -> Option<Unseen> {
        let target = |kind: &Kind, name: &ObjectName| Target {
            kind: *kind,
            name: name.clone(),
        };
        let version = self.versions.first();
        let version = version.map(|(kind, version)| Unseen::Version(*kind, *version));
        let delete = self.deletes.first();
        let delete = delete.map(|(kind, name, _)| Unseen::Deletion(target(kind, name)));
        let change = self.changes.first();
        let change = change
            .map(|(kind, name, _, version)| Unseen::Change(target(kind, name), version.clone()));
        version.or(delete).or(change)
    }
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
        let Action::Write(write) = action else {
            return;
        };
        let Target { kind, name } = &write.target;
        let Precondition {
            uid,
            resource_version,
        } = &write.precondition;
        match (write.shows(), answer, uid, resource_version) {
            (Shows::Version, Answer::Done(written), ..) => {
                self.wrote(key, *kind, &written.resource_version);
            }
            // Gone or replaced is as good as deleted: the cache has yet to show it.
            (Shows::Gone, answer, Some(uid), _) if is_gone(answer) => {
                let pending = self.pending.entry(key.clone()).or_default();
                pending.deletes.push((*kind, name.clone(), uid.clone()));
            }
            (Shows::Change, answer, Some(uid), Some(version)) if is_gone(answer) => {
                let pending = self.pending.entry(key.clone()).or_default();
                let change = (*kind, name.clone(), uid.clone(), version.clone());
                pending.changes.push(change);
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
    pub fn check(&mut self, key: &K, snapshot: &Snapshot) -> Result<(), Box<Unseen>> {
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
        pending.changes.retain(|(kind, name, uid, version)| {
            snapshot
                .meta_of(*kind, &name.namespace, &name.name)
                .is_some_and(|cached| cached.uid == uid && cached.resource_version == *version)
        });
        match pending.first() {
            Some(waiting) => Err(Box::new(waiting)),
            None => {
                self.pending.remove(key);
                Ok(())
            }
        }
    }

    /// Forgets a key that is no more.
    pub fn forget(&mut self, key: &K) {
        self.pending.remove(key);
    }

    /// Forgets all writes to a kind.
    pub fn forget_kind(&mut self, forgotten: Kind) {
        for pending in self.pending.values_mut() {
            pending.versions.retain(|(kind, _)| *kind != forgotten);
            pending.deletes.retain(|(kind, ..)| *kind != forgotten);
            pending.changes.retain(|(kind, ..)| *kind != forgotten);
        }
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

/// Whether a write took effect, or its object is gone or replaced. Any other conflict says nothing
/// about the incarnation: it may be there for ever, and be waited for in vain.
fn is_gone(answer: &Answer) -> bool {
    match answer {
        Answer::Done(_) => true,
        Answer::Failed(error) => error.is_gone_or_replaced(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
