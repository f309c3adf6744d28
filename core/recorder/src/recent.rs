//! A map that remembers only what was used lately.

use std::collections::HashMap;

/// At most `limit` values by key; when full, the least recently used quarter is forgotten.
///
/// Keys are hashes: a false match among 4,096 of 2⁶⁴ is not going to happen, and the strings they
/// stand for would be the larger part of the memory.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    values: HashMap<u64, (V, u64)>,
    limit: usize,
    uses: u64,
}

impl<V> Recent<V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            values: HashMap::new(),
            limit,
            uses: 0,
        }
    }

    /// The value of a key, made if it is not there; now the most recently used.
    pub(crate) fn get_or(&mut self, key: u64, make: impl FnOnce() -> V) -> &mut V {
        self.uses += 1;
        if self.values.len() >= self.limit && !self.values.contains_key(&key) {
            self.forget_quarter();
        }
        let (value, used) = self.values.entry(key).or_insert_with(|| (make(), 0));
        *used = self.uses;
        value
    }

    /// The value of a key, if it is there.
    pub(crate) fn get(&mut self, key: u64) -> Option<&mut V> {
        self.values.get_mut(&key).map(|(value, _)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    fn forget_quarter(&mut self) {
        let mut uses: Vec<u64> = self.values.values().map(|(_, used)| *used).collect();
        let at = uses.len() / 4;
        let (_, oldest_kept, _) = uses.select_nth_unstable(at);
        let oldest_kept = *oldest_kept;
        self.values.retain(|_, (_, used)| *used >= oldest_kept);
    }
}
