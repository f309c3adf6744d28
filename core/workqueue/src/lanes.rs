//! The order in which waiting keys leave: namespaces in turn, priorities with aging.
//!
//! Each namespace has one lane per priority, first in first out. A priority's occupied lanes stand
//! in a rotation: the front one gives one key and goes to the back. A lane that becomes occupied
//! joins at the back, so between two turns of a lane every other one has at most one.
//!
//! The highest occupied priority may be served, and so may each lower one whose oldest key has
//! waited for the aging time; among these the one served longest ago is next. So an aged priority
//! gets at least every third turn. Aging lifts the whole priority and not single keys on purpose:
//! a namespace whose thousands of keys have all aged still gets one turn per rotation, and cannot
//! crowd out a key that another namespace has just added.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::chain::{Chain, Links};
use crate::entries::Slot;
use crate::moment::Moment;
use crate::options::Priority;

/// Names a namespace for as long as a key of it is known.
pub(crate) type LaneId = u32;

/// The lanes of one namespace.
#[derive(Debug)]
struct Namespace {
    name: Arc<str>,
    /// How many known keys are in this namespace, waiting or not.
    keys: usize,
    waiting: [Chain; Priority::COUNT],
}

/// All that waits with one priority.
#[derive(Debug, Default)]
struct Level {
    /// Occupied lanes, the next to be served first.
    rotation: Chain,
    rotation_links: Links,
    /// Waiting keys, the oldest first.
    by_age: Chain,
    /// When this level was last served, in turns.
    last_turn: u64,
}

/// All lanes. Slots and lanes are handed in by the queue, which keeps track of who waits where.
#[derive(Debug)]
pub(crate) struct Lanes {
    aging: Duration,
    by_name: HashMap<Arc<str>, LaneId>,
    namespaces: Vec<Namespace>,
    free: Vec<LaneId>,
    levels: [Level; Priority::COUNT],
    lane_links: Links,
    age_links: Links,
    /// Since when each slot has waited with its present priority.
    since: Vec<Moment>,
    turns: u64,
    waiting: usize,
}

impl Lanes {
    pub(crate) fn new(aging: Duration) -> Self {
        Lanes {
            aging,
            by_name: HashMap::new(),
            namespaces: Vec::new(),
            free: Vec::new(),
            levels: Default::default(),
            lane_links: Links::default(),
            age_links: Links::default(),
            since: Vec::new(),
            turns: 0,
            waiting: 0,
        }
    }

    /// How many keys wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting
    }

    /// Registers one more key of a namespace.
    pub(crate) fn join(&mut self, namespace: &str) -> LaneId {
        if let Some(&lane) = self.by_name.get(namespace) {
            self.namespaces[lane as usize].keys += 1;
            return lane;
        }
        let name: Arc<str> = namespace.into();
        let opened = Namespace {
            name: Arc::clone(&name),
            keys: 1,
            waiting: Default::default(),
        };
        let lane = match self.free.pop() {
            Some(lane) => {
                self.namespaces[lane as usize] = opened;
                lane
            }
            None => {
                self.namespaces.push(opened);
                (self.namespaces.len() - 1) as LaneId
            }
        };
        self.by_name.insert(name, lane);
        lane
    }

    /// Unregisters one key, which must not be waiting; with its last key a namespace is forgotten.
    pub(crate) fn leave(&mut self, lane: LaneId) {
        let namespace = &mut self.namespaces[lane as usize];
        namespace.keys -= 1;
        if namespace.keys == 0 {
            self.by_name.remove(&namespace.name);
            self.free.push(lane);
        }
    }

    /// Puts a key that does not wait at the end of its lane. Calls must not go back in time.
    pub(crate) fn push(&mut self, slot: Slot, lane: LaneId, priority: Priority, now: Moment) {
        let level = &mut self.levels[priority as usize];
        let chain = &mut self.namespaces[lane as usize].waiting[priority as usize];
        if chain.is_empty() {
            level.rotation.push_back(&mut level.rotation_links, lane);
        }
        chain.push_back(&mut self.lane_links, slot);
        level.by_age.push_back(&mut self.age_links, slot);
        let index = slot as usize;
        if self.since.len() <= index {
            self.since.resize(index + 1, Moment::default());
        }
        self.since[index] = now;
        self.waiting += 1;
    }

    /// Moves a waiting key to the end of its namespace's lane of a higher priority.
    pub(crate) fn raise(
        &mut self,
        slot: Slot,
        lane: LaneId,
        from: Priority,
        to: Priority,
        now: Moment,
    ) {
        let level = &mut self.levels[from as usize];
        let chain = &mut self.namespaces[lane as usize].waiting[from as usize];
        chain.remove(&mut self.lane_links, slot);
        if chain.is_empty() {
            level.rotation.remove(&mut level.rotation_links, lane);
        }
        level.by_age.remove(&mut self.age_links, slot);
        self.waiting -= 1;
        self.push(slot, lane, to, now);
    }

    /// Takes the key whose turn it is.
    pub(crate) fn pop(&mut self, now: Moment) -> Option<Slot> {
        let priority = self.priority_in_turn(now)?;
        let level = &mut self.levels[priority];
        let lane = level.rotation.pop_front(&mut level.rotation_links)?;
        let chain = &mut self.namespaces[lane as usize].waiting[priority];
        let slot = chain.pop_front(&mut self.lane_links)?;
        if !chain.is_empty() {
            level.rotation.push_back(&mut level.rotation_links, lane);
        }
        level.by_age.remove(&mut self.age_links, slot);
        self.turns += 1;
        level.last_turn = self.turns;
        self.waiting -= 1;
        Some(slot)
    }

    fn priority_in_turn(&self, now: Moment) -> Option<usize> {
        let mut in_turn: Option<usize> = None;
        for (priority, level) in self.levels.iter().enumerate().rev() {
            let Some(oldest) = level.by_age.first() else {
                continue;
            };
            let aged = now.since(self.since[oldest as usize]) >= self.aging;
            let served_longer_ago = |best: usize| level.last_turn < self.levels[best].last_turn;
            match in_turn {
                None => in_turn = Some(priority),
                Some(best) if aged && served_longer_ago(best) => in_turn = Some(priority),
                Some(_) => {}
            }
        }
        in_turn
    }

    /// Gives the memory back once no key is known. Whose turn it is stays as it was.
    pub(crate) fn reset(&mut self) {
        if !self.by_name.is_empty() {
            return;
        }
        self.by_name = HashMap::new();
        self.namespaces = Vec::new();
        self.free = Vec::new();
        self.since = Vec::new();
        self.lane_links.reset();
        self.age_links.reset();
        for level in &mut self.levels {
            level.rotation_links.reset();
        }
    }
}

#[cfg(test)]
mod tests;
