//! What can be seen of a queue without changing it.

use std::hash::Hash;
use std::time::Duration;

use super::WorkQueue;
use crate::entries::State;
use crate::metrics::Metrics;
use crate::moment::Moment;

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// How many failures of the key count at present.
    pub fn failures(&self, key: &K) -> u32 {
        self.entries
            .find(key)
            .map_or(0, |slot| self.backoff.count(slot))
    }

    /// When the next delayed key is due: after `next` returned nothing, the earliest time at which
    /// it may return something without another add or done. `None` means not before one of these.
    pub fn wake_at(&self) -> Option<Duration> {
        self.agenda.first_at().map(Moment::since_origin)
    }

    /// How many keys wait.
    pub fn len(&self) -> usize {
        self.lanes.len()
    }

    /// Whether no key waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys are being processed.
    pub fn processing(&self) -> usize {
        self.running_count
    }

    /// Whether this key is being processed.
    pub fn is_processing(&self, key: &K) -> bool {
        let entry = self
            .entries
            .find(key)
            .and_then(|slot| self.entries.get(slot));
        entry.is_some_and(|entry| matches!(entry.state, State::Running | State::RunningDirty))
    }

    /// How many delayed adds and retries are pending.
    pub fn delayed(&self) -> usize {
        self.agenda.len()
    }

    /// How many keys are known: waiting, processing or delayed. At most [`Options::capacity`](crate::Options::capacity).
    pub fn tracked(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing waits, is processed or is delayed. An idle queue holds no key at all.
    pub fn is_idle(&self) -> bool {
        self.tracked() == 0
    }

    /// Whether [`shut_down`](WorkQueue::shut_down) was called.
    pub fn is_shut_down(&self) -> bool {
        self.closed
    }

    /// Whether the queue is shut down and all its work is done.
    pub fn is_drained(&self) -> bool {
        self.closed && self.is_idle()
    }

    /// The metrics at this moment. Keys that fell due since the last call with a `now` are not in
    /// them yet; [`step`](WorkQueue::step) sees to that.
    pub fn metrics(&self, now: Duration) -> Metrics {
        let now = self.latest.max(Moment::at(now));
        let mut metrics = self.counted.clone();
        metrics.depth = self.lanes.len() + self.dirty_count;
        for entry in self
            .running
            .iter(&self.running_links)
            .filter_map(|it| self.entries.get(it))
        {
            let age = now.since(entry.started_at).as_secs_f64();
            metrics.unfinished_work_seconds += age;
            metrics.longest_running_processor_seconds =
                metrics.longest_running_processor_seconds.max(age);
        }
        metrics
    }
}
