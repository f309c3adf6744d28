//! The store: the present items, the history, and the revision that both are at.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::history::History;
use crate::item::Stored;
use crate::range::{page, past, present};
use crate::{
    CommitError, Committed, Event, Events, Expect, Item, Key, Limits, Page, Query, ReadError,
    ReplayError, RestoreError, Revision, Transaction, Write,
};

/// A revisioned store. See the crate's documentation for what it promises.
// Invariant: no item was modified after `revision`, and the history ends there.
pub struct Store<V> {
    items: BTreeSet<Stored<V>>,
    history: History<V>,
    revision: Revision,
}

impl<V: Clone> Store<V> {
    /// An empty store, at the first revision.
    pub fn new(limits: Limits<V>) -> Self {
        Store {
            items: BTreeSet::new(),
            history: History::from(Revision::FIRST, limits),
            revision: Revision::FIRST,
        }
    }

    /// A store with these items at this revision. Its history begins there.
    pub fn restore(
        revision: Revision,
        items: impl IntoIterator<Item = Item<V>>,
        limits: Limits<V>,
    ) -> Result<Self, RestoreError> {
        if revision < Revision::FIRST {
            return Err(RestoreError::RevisionInvalid(revision));
        }
        // Collected first, because a set is built from a sorted row in one go, and packed tightly.
        let items: Vec<Stored<V>> = items.into_iter().map(Stored).collect();
        for Stored(item) in &items {
            if let Some(problem) = contradiction(item, revision) {
                let key = item.key.clone();
                return Err(RestoreError::ItemInvalid { key, problem });
            }
        }
        let mut sorted: Vec<&Key> = items.iter().map(|stored| &stored.0.key).collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let (key, problem) = (pair[0].clone(), "it is there twice");
            return Err(RestoreError::ItemInvalid { key, problem });
        }
        Ok(Store {
            items: items.into_iter().collect(),
            history: History::from(revision, limits),
            revision,
        })
    }

    /// The revision of the last change.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The oldest revision that can be read and watched from.
    pub fn oldest(&self) -> Revision {
        self.history.oldest()
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How many events are kept.
    pub fn events_kept(&self) -> usize {
        self.history.len()
    }

    /// What the kept events weigh, in bytes.
    pub fn events_weight(&self) -> usize {
        self.history.weight()
    }

    /// What is stored under a key, now.
    pub fn get(&self, key: &str) -> Option<&Item<V>> {
        self.items.get(key).map(|stored| &stored.0)
    }

    /// All items, by key, now: with [`Store::revision`] what [`Store::restore`] takes.
    pub fn iter(&self) -> impl Iterator<Item = &Item<V>> {
        self.items.iter().map(|stored| &stored.0)
    }

    /// The present items under a query's prefix, by key, one at a time; its limit and its revision do
    /// not count.
    pub fn scan<'s>(&'s self, query: &Query<'s>) -> impl Iterator<Item = &'s Item<V>> + use<'s, V> {
        present(&self.items, query)
    }

    /// The items that a query wants.
    pub fn range<'s>(&'s self, query: &Query<'s>) -> Result<Page<'s, V>, ReadError> {
        let at = query.at.unwrap_or(self.revision);
        self.history.check(at, self.revision)?;
        if at == self.revision {
            return Ok(page(present(&self.items, query), query.limit, at));
        }
        let later = self.history.after(at, query.prefix).rev();
        Ok(page(past(&self.items, query, later), query.limit, at))
    }

    /// What happened under a prefix after a revision: `max` events, or a few more so that no
    /// transaction is split. At least one transaction is answered if there is one, so asking on
    /// from [`Events::through`] always gets to the present.
    pub fn events<'s>(
        &'s self,
        after: Revision,
        prefix: &'s str,
        max: usize,
    ) -> Result<Events<'s, V>, ReadError> {
        self.history.check(after, self.revision)?;
        Ok(self.history.read(after, prefix, max, self.revision))
    }

    /// Applies a transaction if all its expectations hold.
    pub fn commit(&mut self, transaction: Transaction<V>) -> Result<Committed<V>, CommitError<V>> {
        if let Some(key) = transaction.duplicate() {
            return Err(CommitError::DuplicateKey { key: key.clone() });
        }
        for (key, expected) in &transaction.expectations {
            let found = self.get(key);
            let is_met = match expected {
                Expect::Absent => found.is_none(),
                Expect::ModifiedAt(seen) => found.is_some_and(|item| item.modified == *seen),
                Expect::Any => true,
            };
            if !is_met {
                return Err(CommitError::Unmet {
                    key: key.clone(),
                    found: found.cloned(),
                });
            }
        }
        Ok(self.apply(transaction.writes))
    }

    /// Applies the writes of a transaction that was committed before, at the revision that it had
    /// then: the one after the present one.
    pub fn replay(
        &mut self,
        revision: Revision,
        writes: Vec<(Key, Write<V>)>,
    ) -> Result<(), ReplayError> {
        let expected = self.revision.next();
        if revision != expected {
            return Err(ReplayError::OutOfOrder {
                expected,
                given: revision,
            });
        }
        let transaction = Transaction {
            expectations: Vec::new(),
            writes,
        };
        if let Some(key) = transaction.duplicate() {
            let key = key.clone();
            return Err(ReplayError::DuplicateKey { revision, key });
        }
        match self.apply(transaction.writes).events.is_empty() {
            true => Err(ReplayError::Empty { revision }),
            false => Ok(()),
        }
    }

    /// Forgets what happened up to a revision, whose state can still be read. Forgetting what is
    /// forgotten already is no error.
    pub fn compact(&mut self, revision: Revision) -> Result<(), ReadError> {
        if revision > self.revision {
            let current = self.revision;
            return Err(ReadError::Future { current });
        }
        self.history.forget_through(revision);
        Ok(())
    }

    fn apply(&mut self, writes: Vec<(Key, Write<V>)>) -> Committed<V> {
        let revision = self.revision.next();
        let mut events = Vec::with_capacity(writes.len());
        for (key, write) in writes {
            match write {
                Write::Put(value) => events.push(self.put(key, value, revision)),
                Write::Delete => {
                    let previous = self.items.take(&*key);
                    events.extend(previous.map(|stored| Event::deleted(revision, stored.0)));
                }
            }
        }
        if !events.is_empty() {
            self.revision = revision;
            self.history.extend(events.iter().cloned());
        }
        Committed {
            revision: self.revision,
            events,
        }
    }

    fn put(&mut self, key: Key, value: V, revision: Revision) -> Event<V> {
        let previous = self.items.take(&*key).map(|stored| stored.0);
        let item = match &previous {
            // The key that is there is kept, so that one allocation serves all versions.
            Some(previous) => Item {
                key: previous.key.clone(),
                value,
                created: previous.created,
                modified: revision,
                version: previous.version.saturating_add(1),
            },
            None => Item {
                key,
                value,
                created: revision,
                modified: revision,
                version: 1,
            },
        };
        self.items.insert(Stored(item.clone()));
        Event::put(item, previous)
    }
}

fn contradiction<V>(item: &Item<V>, revision: Revision) -> Option<&'static str> {
    if item.modified > revision {
        Some("it was modified after the revision of the store")
    } else if item.created > item.modified {
        Some("it was modified before it was created")
    } else if item.created <= Revision::FIRST {
        Some("it was created before anything could be")
    } else if item.version == 0 {
        Some("it was never put")
    } else {
        None
    }
}
