//! The agenda: which keys are to be added when.
//!
//! A key can be on it twice. A *revisit* was asked for by the caller and happens at the earliest
//! time that was asked; a *retry* follows a failure, and the latest failure decides when. Keys due
//! at the same moment come in the order in which they were put down.

use std::collections::{BTreeSet, HashMap};

use crate::entries::Slot;
use crate::moment::Moment;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Revisit,
    Retry,
}

/// When, and which of those due at the same moment first.
type Due = (Moment, u64);

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    by_time: BTreeSet<(Due, Slot, Cause)>,
    revisits: HashMap<Slot, Due>,
    retries: HashMap<Slot, Due>,
    entered: u64,
}

impl Agenda {
    /// Puts a revisit down, unless an earlier one is there already. Says whether it did.
    pub(crate) fn revisit(&mut self, slot: Slot, at: Moment) -> bool {
        if self.revisits.get(&slot).is_some_and(|known| known.0 <= at) {
            return false;
        }
        let due = self.next_due(at);
        if let Some(later) = self.revisits.insert(slot, due) {
            self.by_time.remove(&(later, slot, Cause::Revisit));
        }
        self.by_time.insert((due, slot, Cause::Revisit));
        true
    }

    /// Puts a retry down in place of the one before.
    pub(crate) fn retry(&mut self, slot: Slot, at: Moment) {
        self.cancel_retry(slot);
        let due = self.next_due(at);
        self.retries.insert(slot, due);
        self.by_time.insert((due, slot, Cause::Retry));
    }

    pub(crate) fn cancel_retry(&mut self, slot: Slot) {
        if let Some(due) = self.retries.remove(&slot) {
            self.by_time.remove(&(due, slot, Cause::Retry));
        }
    }

    /// Takes the earliest item that is due, with the moment at which it was.
    pub(crate) fn pop_due(&mut self, now: Moment) -> Option<(Moment, Slot)> {
        let &(due, _, _) = self.by_time.first()?;
        if due.0 > now {
            return None;
        }
        let (due, slot, cause) = self.by_time.pop_first()?;
        match cause {
            Cause::Revisit => self.revisits.remove(&slot),
            Cause::Retry => self.retries.remove(&slot),
        };
        Some((due.0, slot))
    }

    pub(crate) fn contains(&self, slot: Slot) -> bool {
        self.revisits.contains_key(&slot) || self.retries.contains_key(&slot)
    }

    pub(crate) fn first_at(&self) -> Option<Moment> {
        self.by_time.first().map(|&(due, _, _)| due.0)
    }

    /// How many items there are; a key with a revisit and a retry counts twice.
    pub(crate) fn len(&self) -> usize {
        self.by_time.len()
    }

    /// Strikes everything out and names the keys concerned, some of them twice.
    pub(crate) fn clear(&mut self) -> Vec<Slot> {
        self.revisits = HashMap::new();
        self.retries = HashMap::new();
        std::mem::take(&mut self.by_time)
            .into_iter()
            .map(|(_, slot, _)| slot)
            .collect()
    }

    fn next_due(&mut self, at: Moment) -> Due {
        self.entered += 1;
        (at, self.entered)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn moment(ms: u64) -> Moment {
        Moment::at(Duration::from_millis(ms))
    }

    #[test]
    fn the_earliest_revisit_of_a_key_is_kept() {
        let mut agenda = Agenda::default();
        assert!(agenda.revisit(1, moment(50)));
        assert!(!agenda.revisit(1, moment(60)));
        assert!(agenda.revisit(1, moment(40)));
        assert_eq!(agenda.pop_due(moment(39)), None);
        assert_eq!(agenda.pop_due(moment(100)), Some((moment(40), 1)));
        assert_eq!(agenda.pop_due(moment(100)), None);
        assert!(!agenda.contains(1));
    }

    #[test]
    fn the_latest_retry_of_a_key_is_kept() {
        let mut agenda = Agenda::default();
        agenda.retry(1, moment(10));
        agenda.retry(1, moment(30));
        assert_eq!(agenda.first_at(), Some(moment(30)));
        agenda.cancel_retry(1);
        assert_eq!(agenda.len(), 0);
    }

    #[test]
    fn a_cancelled_retry_leaves_the_revisit() {
        let mut agenda = Agenda::default();
        agenda.revisit(1, moment(20));
        agenda.retry(1, moment(10));
        agenda.cancel_retry(1);
        assert!(agenda.contains(1));
        assert_eq!(agenda.first_at(), Some(moment(20)));
    }

    #[test]
    fn keys_come_by_time_and_then_in_the_order_they_were_put_down() {
        let mut agenda = Agenda::default();
        for (slot, ms) in [(9, 20), (3, 10), (1, 10), (2, 5)] {
            agenda.revisit(slot, moment(ms));
        }
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop_due(moment(20)))
            .map(|due| due.1)
            .collect();
        assert_eq!(order, [2, 3, 1, 9]);
    }
}
