//! Sharing of what many cached objects have in common.
//!
//! Pods of one ReplicaSet carry the same labels and the same owner references; cached once per
//! set instead of once per pod they all but vanish from the memory bill.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use crate::{Labels, OwnerReference, Text};

/// One shared copy of each label set and owner list in use.
#[derive(Default)]
pub struct Pool {
    labels: Shelf<(Text, Text)>,
    owners: Shelf<OwnerReference>,
}

impl Pool {
    /// The shared copy of these labels.
    pub fn labels(&mut self, labels: Labels) -> Labels {
        Labels(self.labels.share(labels.0))
    }

    /// The shared copy of this owner list.
    pub fn owners(&mut self, owners: Arc<[OwnerReference]>) -> Arc<[OwnerReference]> {
        self.owners.share(owners)
    }
}

/// Copies on offer. Those that no object uses any more are dropped whenever the shelf has doubled
/// since it was last swept, so it never holds more than twice what is in use.
struct Shelf<T> {
    copies: HashSet<Arc<[T]>>,
    sweep_at: usize,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self {
            copies: HashSet::new(),
            sweep_at: 64,
        }
    }
}

impl<T: Eq + Hash> Shelf<T> {
    fn share(&mut self, value: Arc<[T]>) -> Arc<[T]> {
        if let Some(copy) = self.copies.get(&value) {
            return copy.clone();
        }
        if self.copies.len() >= self.sweep_at {
            self.copies.retain(|copy| Arc::strong_count(copy) > 1);
            self.sweep_at = (self.copies.len() * 2).max(64);
        }
        self.copies.insert(value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_labels_become_one_copy() {
        let mut pool = Pool::default();
        let a = pool.labels(Labels::from_iter([("app", "web")]));
        let b = pool.labels(Labels::from_iter([("app", "web")]));
        assert!(Arc::ptr_eq(&a.0, &b.0));
    }

    #[test]
    fn unused_copies_do_not_pile_up() {
        let mut pool = Pool::default();
        for i in 0..100_000 {
            pool.labels(Labels::from_iter([("i", i.to_string().as_str())]));
        }
        assert!(pool.labels.copies.len() <= 64);
    }
}
