//! The keys the queue knows of, each under a small number: its slot.
//!
//! Everything else in the queue speaks of slots, so a key is stored once. It is found again through
//! its hash; keys with the same hash form a list through their entries. A slot is given to another
//! key only after its entry was removed.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

use crate::lanes::LaneId;
use crate::moment::Moment;
use crate::options::Priority;

/// Where a key lives.
pub(crate) type Slot = u32;

/// What the queue is doing with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing now, but something is on the agenda.
    Resting,
    /// In a lane.
    Waiting,
    /// Handed out by `next` and not yet done.
    Running,
    /// Running, and added since.
    RunningDirty,
}

/// What is remembered about one key.
#[derive(Debug)]
pub(crate) struct Entry<K> {
    pub(crate) key: K,
    pub(crate) lane: LaneId,
    pub(crate) state: State,
    /// Of the waiting or dirty add.
    pub(crate) priority: Priority,
    /// When the waiting or dirty add was made.
    pub(crate) added_at: Moment,
    pub(crate) started_at: Moment,
    /// The next key with the same hash.
    same_hash: Option<Slot>,
}

/// All entries. Nothing ever iterates over the hash table, so its seed never shows.
#[derive(Debug)]
pub(crate) struct Entries<K> {
    hasher: RandomState,
    by_hash: HashMap<u64, Slot>,
    slots: Vec<Option<Entry<K>>>,
    free: Vec<Slot>,
}

impl<K: Eq + Hash> Entries<K> {
    pub(crate) fn new() -> Self {
        Entries {
            hasher: RandomState::new(),
            by_hash: HashMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn get(&self, slot: Slot) -> Option<&Entry<K>> {
        self.slots.get(slot as usize)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> Option<&mut Entry<K>> {
        self.slots.get_mut(slot as usize)?.as_mut()
    }

    pub(crate) fn find(&self, key: &K) -> Option<Slot> {
        let mut candidate = self.by_hash.get(&self.hasher.hash_one(key)).copied();
        while let Some(slot) = candidate {
            let entry = self.get(slot)?;
            if entry.key == *key {
                return Some(slot);
            }
            candidate = entry.same_hash;
        }
        None
    }

    /// The key must not be here yet.
    pub(crate) fn insert(&mut self, key: K, lane: LaneId) -> Slot {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            // The queue's capacity is capped below the numbers a slot can hold.
            (self.slots.len() - 1) as Slot
        });
        let same_hash = self.by_hash.insert(self.hasher.hash_one(&key), slot);
        self.slots[slot as usize] = Some(Entry {
            key,
            lane,
            state: State::Resting,
            priority: Priority::default(),
            added_at: Moment::default(),
            started_at: Moment::default(),
            same_hash,
        });
        slot
    }

    pub(crate) fn remove(&mut self, slot: Slot) -> Option<Entry<K>> {
        let entry = self.slots.get_mut(slot as usize)?.take()?;
        self.free.push(slot);
        self.unlink(self.hasher.hash_one(&entry.key), slot, entry.same_hash);
        Some(entry)
    }

    /// Takes a slot out of the list of its hash.
    fn unlink(&mut self, hash: u64, slot: Slot, after: Option<Slot>) {
        let Some(&first) = self.by_hash.get(&hash) else {
            return;
        };
        if first == slot {
            match after {
                Some(after) => self.by_hash.insert(hash, after),
                None => self.by_hash.remove(&hash),
            };
            return;
        }
        let mut before = Some(first);
        while let Some(entry) = before.and_then(|before| self.get_mut(before)) {
            if entry.same_hash == Some(slot) {
                entry.same_hash = after;
                return;
            }
            before = entry.same_hash;
        }
    }

    /// Gives the memory of an empty table back.
    pub(crate) fn reset(&mut self) {
        if self.len() == 0 {
            self.by_hash = HashMap::new();
            self.slots = Vec::new();
            self.free = Vec::new();
        }
    }

    /// How many keys there is memory for.
    pub(crate) fn slots_made(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher;

    use super::*;

    /// All of these share one hash.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Colliding(u32);

    impl Hash for Colliding {
        fn hash<H: Hasher>(&self, state: &mut H) {
            0u8.hash(state);
        }
    }

    #[test]
    fn keys_with_the_same_hash_are_told_apart_in_any_order_of_removal() {
        for removed in 0..4 {
            let mut entries = Entries::new();
            let slots: Vec<_> = (0..4)
                .map(|key| entries.insert(Colliding(key), 0))
                .collect();
            let gone = entries.remove(slots[removed]).unwrap();
            assert_eq!(gone.key, Colliding(removed as u32));
            for (key, slot) in slots.iter().enumerate() {
                let expected = (key != removed).then_some(*slot);
                assert_eq!(entries.find(&Colliding(key as u32)), expected);
            }
        }
    }

    #[test]
    fn slots_are_used_again() {
        let mut entries = Entries::new();
        let slot = entries.insert("a", 0);
        entries.remove(slot);
        assert_eq!(entries.insert("b", 0), slot);
        assert_eq!((entries.find(&"a"), entries.find(&"b")), (None, Some(slot)));
        assert_eq!((entries.len(), entries.slots_made()), (1, 1));
    }

    #[test]
    fn an_entry_is_small_beside_its_key() {
        assert!(size_of::<Option<Entry<[u64; 6]>>>() - size_of::<[u64; 6]>() <= 32);
    }
}
