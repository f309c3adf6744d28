//! The naive store: every state it ever had, and every event.

use std::collections::BTreeMap;

use flyball_storage::{Event, Item, ReadError, Revision};

pub(crate) type Value = u8;
pub(crate) type State = BTreeMap<String, Item<Value>>;

/// One event with the weight that the history counts for it.
pub(crate) struct Noted {
    pub(crate) event: Event<Value>,
    pub(crate) weight: usize,
}

pub(crate) struct Model {
    /// The state at revision `i + 1`.
    pub(crate) states: Vec<State>,
    pub(crate) events: Vec<Noted>,
    pub(crate) oldest: u64,
    pub(crate) events_max: usize,
    pub(crate) bytes_max: usize,
}

impl Model {
    pub(crate) fn new(events_max: usize, bytes_max: usize) -> Self {
        Model {
            states: vec![State::new()],
            events: Vec::new(),
            oldest: 1,
            events_max,
            bytes_max,
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.states.len() as u64
    }

    pub(crate) fn now(&self) -> &State {
        self.state(self.revision())
    }

    pub(crate) fn state(&self, at: u64) -> &State {
        &self.states[at as usize - 1]
    }

    pub(crate) fn check(&self, at: u64) -> Result<(), ReadError> {
        if at > self.revision() {
            let current = Revision(self.revision());
            return Err(ReadError::Future { current });
        }
        if at < self.oldest {
            let oldest = Revision(self.oldest);
            return Err(ReadError::Compacted { oldest });
        }
        Ok(())
    }

    /// The next state, if the writes make one: a value is put, `None` is a delete.
    pub(crate) fn write(&mut self, writes: &[(String, Option<Value>)]) {
        let revision = Revision(self.revision() + 1);
        let mut state = self.now().clone();
        let mut changed = false;
        for (key, value) in writes {
            let before = state.remove(key);
            changed |= before.is_some() || value.is_some();
            if let Some(value) = *value {
                let item = Item {
                    key: key.as_str().into(),
                    value,
                    created: before.as_ref().map_or(revision, |item| item.created),
                    modified: revision,
                    version: before.map_or(1, |item| item.version + 1),
                };
                state.insert(key.clone(), item);
            }
        }
        if changed {
            self.states.push(state);
        }
    }

    /// Forgets, one revision after the other, until what is left fits.
    pub(crate) fn forget(&mut self) {
        let fits = |oldest: u64| {
            let left = || {
                let events = self.events.iter();
                events.filter(move |noted| noted.event.revision.0 > oldest)
            };
            left().count() <= self.events_max
                && left().map(|noted| noted.weight).sum::<usize>() <= self.bytes_max
        };
        let mut oldest = self.oldest;
        while !fits(oldest) {
            oldest += 1;
        }
        self.oldest = oldest;
    }
}
