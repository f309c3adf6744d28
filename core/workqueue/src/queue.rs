//! The queue itself: the life of a key from add to done.
//!
//! ```text
//! unknown ─add→ waiting ─next→ running ─done→ unknown, or resting if something is on the agenda
//! unknown ─add_after→ resting ─due, or add→ waiting
//! running ─due, or add→ running and dirty ─done→ waiting
//! ```
//!
//! Every call that is told the time first moves what is due from the agenda into the lanes, so what
//! happens next does not depend on how often somebody looks.

mod census;

use std::hash::Hash;
use std::time::Duration;

use crate::answers::{Added, Retry};
use crate::backoff::{Backoff, Verdict};
use crate::bucket::Bucket;
use crate::chain::{Chain, Links};
use crate::delay::Agenda;
use crate::entries::{Entries, Slot, State};
use crate::lanes::Lanes;
use crate::metrics::Metrics;
use crate::moment::Moment;
use crate::options::{Options, Priority};

/// A work queue. The crate's documentation says what it promises.
///
/// A worker's round is: [`next`](WorkQueue::next), process, then [`forget`](WorkQueue::forget)
/// after a success or [`retry`](WorkQueue::retry) after a failure, then [`done`](WorkQueue::done).
#[derive(Debug)]
pub struct WorkQueue<K> {
    entries: Entries<K>,
    lanes: Lanes,
    agenda: Agenda,
    backoff: Backoff,
    bucket: Bucket,
    capacity: usize,
    /// Running keys, the one running for longest first.
    running: Chain,
    running_links: Links,
    running_count: usize,
    dirty_count: usize,
    latest: Moment,
    closed: bool,
    overflowed: bool,
    /// The counters and histograms; the gauges in it are filled in when asked for.
    counted: Metrics,
}

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// An empty, open queue whose retry budget is full.
    pub fn new(options: Options) -> Self {
        WorkQueue {
            entries: Entries::new(),
            lanes: Lanes::new(options.aging),
            agenda: Agenda::default(),
            backoff: Backoff::new(options.base_delay, options.max_delay, options.max_retries),
            bucket: Bucket::new(options.rate_per_second, options.burst),
            // Slots are 32 bits wide and the last number means "none".
            capacity: options.capacity.min(u32::MAX as usize - 1),
            running: Chain::default(),
            running_links: Links::default(),
            running_count: 0,
            dirty_count: 0,
            latest: Moment::default(),
            closed: false,
            overflowed: false,
            counted: Metrics::default(),
        }
    }

    /// Asks for a run of the key that starts after this call.
    ///
    /// A waiting key keeps its place, or moves to the end of its lane of a higher priority if this
    /// add has one. A key being processed waits again once it is done. `namespace` names the lane,
    /// the empty string that of cluster-scoped keys; the one given first counts for as long as the
    /// key is known.
    pub fn add(&mut self, key: K, namespace: &str, priority: Priority, now: Duration) -> Added {
        let now = self.advance(now);
        match self.admit(key, namespace) {
            Ok(slot) => self.enqueue(slot, priority, now),
            Err(refused) => refused,
        }
    }

    /// Asks for a run of the key that starts at or after `now + delay`, with normal priority.
    /// Asked several times before it is due, the earliest time counts. No delay is an `add`.
    pub fn add_after(&mut self, key: K, namespace: &str, delay: Duration, now: Duration) -> Added {
        let now = self.advance(now);
        let slot = match self.admit(key, namespace) {
            Ok(slot) => slot,
            Err(refused) => return refused,
        };
        self.counted.retries_total += 1;
        if delay.is_zero() {
            return self.enqueue(slot, Priority::Normal, now);
        }
        if self.agenda.revisit(slot, now.after(delay)) {
            Added::Queued
        } else {
            Added::Merged
        }
    }

    /// Moves what is due into the lanes. All other calls with a `now` do so too; this one is for
    /// a caller that has no worker free but wants [`metrics`](WorkQueue::metrics) up to date.
    pub fn step(&mut self, now: Duration) {
        self.advance(now);
    }

    /// Hands out the key whose turn it is; it counts as being processed until it is done.
    pub fn next(&mut self, now: Duration) -> Option<K> {
        let now = self.advance(now);
        let slot = self.lanes.pop(now)?;
        let entry = self.entries.get_mut(slot)?;
        entry.state = State::Running;
        entry.started_at = now;
        self.counted
            .queue_duration_seconds
            .observe(now.since(entry.added_at));
        self.running.push_back(&mut self.running_links, slot);
        self.running_count += 1;
        // This run is the one that the retry wanted.
        self.agenda.cancel_retry(slot);
        Some(entry.key.clone())
    }

    /// Ends the processing of a key; if it was added meanwhile it waits again. A key that then
    /// neither waits nor is delayed is forgotten altogether, its failures included.
    ///
    /// Nothing happens if the key is not being processed.
    pub fn done(&mut self, key: &K, now: Duration) {
        let now = self.advance(now);
        let Some(slot) = self.entries.find(key) else {
            return;
        };
        let Some(entry) = self.entries.get_mut(slot) else {
            return;
        };
        match entry.state {
            State::Resting | State::Waiting => return,
            State::Running => entry.state = State::Resting,
            State::RunningDirty => {
                entry.state = State::Waiting;
                self.dirty_count -= 1;
                self.lanes.push(slot, entry.lane, entry.priority, now);
            }
        }
        self.counted
            .work_duration_seconds
            .observe(now.since(entry.started_at));
        self.running.remove(&mut self.running_links, slot);
        self.running_count -= 1;
        self.release_if_idle(slot);
    }

    /// Says that the run of a key being processed failed, and schedules the next one: after the
    /// key's own exponential delay or when the overall budget allows, whichever is later.
    ///
    /// The failure counts towards the delay and the ceiling only if the run started no earlier
    /// than the retry before was due. [`done`](WorkQueue::done) must still be called.
    pub fn retry(&mut self, key: &K, now: Duration) -> Retry {
        let now = self.advance(now);
        if self.closed {
            return Retry::Refused;
        }
        let Some(slot) = self.entries.find(key) else {
            return Retry::Refused;
        };
        let Some(entry) = self.entries.get(slot) else {
            return Retry::Refused;
        };
        if !matches!(entry.state, State::Running | State::RunningDirty) {
            return Retry::Refused;
        }
        match self.backoff.fail(slot, entry.started_at) {
            Verdict::GiveUp { failures } => Retry::Exhausted { failures },
            Verdict::Wait(own_delay) => {
                let delay = own_delay.max(self.bucket.reserve(now));
                let at = now.after(delay);
                self.backoff.hold(slot, at);
                self.agenda.retry(slot, at);
                self.counted.retries_total += 1;
                Retry::After(delay)
            }
        }
    }

    /// Sets the key's count of failures back to zero. What is scheduled stays scheduled.
    pub fn forget(&mut self, key: &K) {
        if let Some(slot) = self.entries.find(key) {
            self.backoff.forget(slot);
        }
    }

    /// Whether a key did not fit since this was last asked.
    ///
    /// The key is lost to the queue, but not to the caller: once there is room again it adds every
    /// key that its caches name, as after a start. Level-triggered work needs no more.
    pub fn take_overflow(&mut self) -> bool {
        std::mem::take(&mut self.overflowed)
    }

    /// Ends the intake: adds are ignored from now on and what is delayed is dropped. What waits is
    /// still handed out, and so is what was added while being processed.
    pub fn shut_down(&mut self) {
        self.closed = true;
        for slot in self.agenda.clear() {
            self.release_if_idle(slot);
        }
    }

    /// Takes note of the time and moves what is due into the lanes.
    fn advance(&mut self, now: Duration) -> Moment {
        self.latest = self.latest.max(Moment::at(now));
        while let Some((due, slot)) = self.agenda.pop_due(self.latest) {
            // The wait counts from the moment it was due, no matter when somebody looked.
            self.enqueue(slot, Priority::Normal, due);
        }
        self.latest
    }

    /// The slot of a key that something is wanted of.
    fn admit(&mut self, key: K, namespace: &str) -> Result<Slot, Added> {
        if self.closed {
            return Err(Added::Closed);
        }
        if let Some(slot) = self.entries.find(&key) {
            return Ok(slot);
        }
        if self.entries.len() >= self.capacity {
            self.overflowed = true;
            self.counted.overflows_total += 1;
            return Err(Added::Overflow);
        }
        let lane = self.lanes.join(namespace);
        Ok(self.entries.insert(key, lane))
    }

    /// Invariant: called in order of time, for the lanes age by it.
    fn enqueue(&mut self, slot: Slot, priority: Priority, at: Moment) -> Added {
        let Some(entry) = self.entries.get_mut(slot) else {
            return Added::Merged;
        };
        match entry.state {
            State::Resting => {
                entry.state = State::Waiting;
                self.lanes.push(slot, entry.lane, priority, at);
            }
            State::Running => {
                entry.state = State::RunningDirty;
                self.dirty_count += 1;
            }
            State::Waiting if priority > entry.priority => {
                self.lanes
                    .raise(slot, entry.lane, entry.priority, priority, at);
                entry.priority = priority;
                return Added::Merged;
            }
            State::Waiting => return Added::Merged,
            State::RunningDirty => {
                entry.priority = entry.priority.max(priority);
                return Added::Merged;
            }
        }
        entry.priority = priority;
        entry.added_at = at;
        self.counted.adds_total += 1;
        Added::Queued
    }

    /// Forgets a key of which nothing is wanted any more.
    fn release_if_idle(&mut self, slot: Slot) {
        let resting = self
            .entries
            .get(slot)
            .is_some_and(|entry| entry.state == State::Resting);
        if !resting || self.agenda.contains(slot) {
            return;
        }
        self.backoff.forget(slot);
        if let Some(entry) = self.entries.remove(slot) {
            self.lanes.leave(entry.lane);
        }
        if self.entries.len() == 0 && self.entries.slots_made() > SLOTS_KEPT {
            self.entries.reset();
            self.lanes.reset();
            self.running_links.reset();
        }
    }
}

/// An idle queue keeps the memory for this many keys and gives back the rest of a burst.
const SLOTS_KEPT: usize = 4096;

#[cfg(test)]
mod tests;
