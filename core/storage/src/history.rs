//! What happened, as far back as the limits allow.

use std::collections::VecDeque;

use crate::lanes::{Lane, Lanes, Number};
use crate::{Event, Events, Limits, ReadError, Revision};

struct Kept<V> {
    event: Event<V>,
    weight: usize,
}

/// The events after `oldest`, in order.
// Invariant: every event after `oldest` is kept, and none at or before it; the event at place `i`
// has the number `first + i`.
pub(crate) struct History<V> {
    kept: VecDeque<Kept<V>>,
    first: Number,
    lanes: Lanes,
    weight: usize,
    oldest: Revision,
    limits: Limits<V>,
}

impl<V> History<V> {
    /// A history that begins at a revision.
    pub(crate) fn from(oldest: Revision, limits: Limits<V>) -> Self {
        History {
            kept: VecDeque::new(),
            first: 0,
            lanes: Lanes::default(),
            weight: 0,
            oldest,
            limits,
        }
    }

    /// The oldest revision whose state, and everything after it, is known.
    pub(crate) fn oldest(&self) -> Revision {
        self.oldest
    }

    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// Adds the events of one transaction and forgets what has become too much.
    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = Event<V>>) {
        for event in events {
            let replaced = event.previous.as_ref();
            let weight = size_of::<Kept<V>>()
                + event.key().len()
                + replaced.map_or(0, |item| (self.limits.weigh)(&item.value));
            let number = self.first + self.kept.len() as u64;
            self.lanes.push(event.key(), number);
            self.weight += weight;
            self.kept.push_back(Kept { event, weight });
        }
        while self.kept.len() > self.limits.events_max || self.weight > self.limits.bytes_max {
            let Some(oldest) = self.kept.front().map(|kept| kept.event.revision) else {
                break;
            };
            self.forget_through(oldest);
        }
    }

    /// Forgets everything up to and including a revision.
    pub(crate) fn forget_through(&mut self, revision: Revision) {
        self.oldest = self.oldest.max(revision);
        while let Some(kept) = self.kept.front()
            && kept.event.revision <= revision
        {
            self.lanes.pop(kept.event.key(), self.first);
            self.first += 1;
            self.weight -= kept.weight;
            self.kept.pop_front();
        }
    }

    /// Says whether a revision can be read, given the present one.
    pub(crate) fn check(&self, wanted: Revision, current: Revision) -> Result<(), ReadError> {
        if wanted > current {
            return Err(ReadError::Future { current });
        }
        if wanted < self.oldest {
            return Err(ReadError::Compacted {
                oldest: self.oldest,
            });
        }
        Ok(())
    }

    /// The first events with a prefix after a revision, `max` or a few more; `current` is the
    /// present revision.
    pub(crate) fn read<'s>(
        &'s self,
        after: Revision,
        prefix: &'s str,
        max: usize,
        current: Revision,
    ) -> Events<'s, V> {
        let mut events: Vec<&Event<V>> = Vec::new();
        for event in self.after(after, prefix) {
            if let Some(last) = events.last().map(|last| last.revision)
                && events.len() >= max
                && event.revision > last
            {
                return Events {
                    events,
                    through: last,
                };
            }
            events.push(event);
        }
        Events {
            events,
            through: current,
        }
    }

    /// The events with a prefix after a revision, in order; they can be read from the end.
    pub(crate) fn after<'s>(
        &'s self,
        revision: Revision,
        prefix: &'s str,
    ) -> Box<dyn DoubleEndedIterator<Item = &'s Event<V>> + 's> {
        let is_old = |event: &Event<V>| event.revision <= revision;
        match self.lanes.find(prefix) {
            Lane::Nothing => Box::new(std::iter::empty()),
            Lane::All => {
                let start = self.kept.partition_point(|kept| is_old(&kept.event));
                let events = self.kept.range(start..).map(|kept| &kept.event);
                Box::new(events.filter(move |event| event.key().starts_with(prefix)))
            }
            Lane::Only(lane) => {
                let start = lane.partition_point(|number| self.at(*number).is_some_and(is_old));
                let events = lane.range(start..).filter_map(|number| self.at(*number));
                Box::new(events.filter(move |event| event.key().starts_with(prefix)))
            }
        }
    }

    fn at(&self, number: Number) -> Option<&Event<V>> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.kept.get(place).map(|kept| &kept.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Item;

    fn event(key: &str, revision: u64, previous: Option<usize>) -> Event<usize> {
        let item = |value, modified| Item {
            key: key.into(),
            value,
            created: Revision(2),
            modified,
            version: 1,
        };
        let previous = previous.map(|value| item(value, Revision(1)));
        Event::put(item(0, Revision(revision)), previous)
    }

    fn limits(events_max: usize, bytes_max: usize) -> Limits<usize> {
        Limits {
            events_max,
            bytes_max,
            weigh: |value| *value,
        }
    }

    #[test]
    fn whole_revisions_are_forgotten() {
        let mut history = History::from(Revision::FIRST, limits(3, usize::MAX));
        history.extend([event("/a/b/c", 2, None), event("/a/b/d", 2, None)]);
        history.extend([event("/a/b/e", 3, None)]);
        assert_eq!((history.len(), history.oldest()), (3, Revision(1)));
        history.extend([event("/a/b/f", 4, None)]);
        assert_eq!((history.len(), history.oldest()), (2, Revision(2)));
    }

    #[test]
    fn an_event_weighs_what_it_alone_keeps_alive() {
        let own = size_of::<Kept<usize>>() + "/a/b/c".len();
        let mut history = History::from(Revision::FIRST, limits(100, 2 * own + 1000));
        history.extend([event("/a/b/c", 2, None)]);
        assert_eq!(history.weight(), own);
        history.extend([event("/a/b/c", 3, Some(1000))]);
        assert_eq!(history.weight(), 2 * own + 1000);
        history.extend([event("/a/b/c", 4, Some(1))]);
        assert_eq!(history.oldest(), Revision(3), "1001 bytes are too many");
        assert_eq!(history.weight(), own + 1);
    }

    #[test]
    fn a_transaction_that_is_too_large_for_the_history_empties_it() {
        let mut history = History::from(Revision::FIRST, limits(1, usize::MAX));
        history.extend([event("/a/b/c", 2, None), event("/a/b/d", 2, None)]);
        assert_eq!((history.len(), history.weight()), (0, 0));
        assert_eq!(history.oldest(), Revision(2));
    }

    #[test]
    fn a_transaction_is_never_split_between_two_reads() {
        let mut history = History::from(Revision::FIRST, limits(100, usize::MAX));
        history.extend([event("/a/b/c", 2, None)]);
        history.extend([event("/a/b/c", 3, None), event("/a/b/d", 3, None)]);
        history.extend([event("/a/b/c", 4, None)]);
        let current = Revision(4);
        let read = |after, max| {
            let read = history.read(Revision(after), "/a/b/", max, current);
            (read.events.len(), read.through.0)
        };
        assert_eq!(read(1, 1), (1, 2));
        assert_eq!(read(1, 2), (3, 3));
        assert_eq!(read(2, 1), (2, 3));
        assert_eq!(read(3, 1), (1, 4));
        assert_eq!(read(4, 1), (0, 4));
        assert_eq!(read(1, 0), (1, 2), "zero would never get anywhere");
    }
}
