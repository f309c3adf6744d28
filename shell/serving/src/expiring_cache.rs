//! Answers that are good for a while. Bounded: when it is full the oldest entry leaves, whoever fills it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// What a cache entry is found by. Always a digest: keys cost 32 bytes however long the input is, and a secret used
/// as input does not stay in memory.
pub(crate) type Key = [u8; 32];

/// A map from digests to values that forgets each value after its own time to live.
pub(crate) struct ExpiringCache<V> {
    entries_max: usize,
    state: Mutex<State<V>>,
}

struct State<V> {
    entries: HashMap<Key, Entry<V>>,
    // Invariant: holds exactly one row for each entry, so it is bounded with the entries.
    by_age: BTreeMap<u64, Key>,
    next_age: u64,
}

struct Entry<V> {
    value: V,
    expires: Instant,
    age: u64,
}

impl<V: Clone> ExpiringCache<V> {
    pub(crate) fn new(entries_max: usize) -> Self {
        let state = State {
            entries: HashMap::new(),
            by_age: BTreeMap::new(),
            next_age: 0,
        };
        Self {
            entries_max,
            state: Mutex::new(state),
        }
    }

    /// The value for `key` unless its time is over.
    pub(crate) fn get(&self, key: &Key) -> Option<V> {
        let now = Instant::now();
        let state = self.lock();
        let entry = state.entries.get(key)?;
        (now < entry.expires).then(|| entry.value.clone())
    }

    /// Keeps `value` for `ttl`; a `ttl` of zero keeps nothing.
    pub(crate) fn insert(&self, key: Key, value: V, ttl: Duration) {
        let now = Instant::now();
        let mut state = self.lock();
        state.remove(&key);
        if ttl.is_zero() || self.entries_max == 0 {
            return;
        }
        while state.oldest_must_leave(now, self.entries_max) {
            let Some((_, oldest)) = state.by_age.pop_first() else {
                break;
            };
            state.entries.remove(&oldest);
        }
        let age = state.next_age;
        state.next_age += 1;
        state.by_age.insert(age, key);
        state.entries.insert(
            key,
            Entry {
                value,
                expires: now + ttl,
                age,
            },
        );
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let state = self.lock();
        assert_eq!(state.entries.len(), state.by_age.len());
        state.entries.len()
    }

    fn lock(&self) -> MutexGuard<'_, State<V>> {
        // Every change leaves the state whole before it can panic, so a poisoned lock guards good data.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> State<V> {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_age.remove(&entry.age);
        }
    }

    fn oldest_must_leave(&self, now: Instant, entries_max: usize) -> bool {
        if self.entries.len() >= entries_max {
            return true;
        }
        let oldest = self
            .by_age
            .first_key_value()
            .and_then(|(_, key)| self.entries.get(key));
        oldest.is_some_and(|entry| entry.expires <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn an_entry_is_forgotten_after_its_time_to_live() {
        let cache = ExpiringCache::new(8);
        cache.insert([1; 32], "yes", TTL);
        tokio::time::advance(Duration::from_millis(9_999)).await;
        assert_eq!(cache.get(&[1; 32]), Some("yes"));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(cache.get(&[1; 32]), None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_entry_leaves_when_the_cache_is_full() {
        let cache = ExpiringCache::new(3);
        for number in 0..5_u8 {
            cache.insert([number; 32], number, TTL);
        }
        assert_eq!(cache.len(), 3);
        assert_eq!(cache.get(&[1; 32]), None);
        assert_eq!(cache.get(&[2; 32]), Some(2));
    }

    #[tokio::test(start_paused = true)]
    async fn replacing_one_key_for_ever_keeps_one_entry() {
        let cache = ExpiringCache::new(3);
        for number in 0..1_000 {
            cache.insert([0; 32], number, TTL);
        }
        assert_eq!(cache.len(), 1);
        assert_eq!(cache.get(&[0; 32]), Some(999));
    }

    #[tokio::test(start_paused = true)]
    async fn expired_entries_leave_when_another_comes() {
        let cache = ExpiringCache::new(100);
        cache.insert([1; 32], 1, TTL);
        cache.insert([2; 32], 2, TTL);
        tokio::time::advance(TTL).await;
        cache.insert([3; 32], 3, TTL);
        assert_eq!(cache.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_to_live_of_zero_bypasses_the_cache() {
        let cache = ExpiringCache::new(100);
        cache.insert([1; 32], 1, Duration::ZERO);
        assert_eq!(cache.get(&[1; 32]), None);
    }
}
