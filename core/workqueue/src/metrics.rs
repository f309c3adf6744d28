//! The counts that upstream exports for each of its work queues, as plain numbers.
//!
//! Names and meanings are those of client-go `util/workqueue/metrics.go` and component-base
//! `metrics/prometheus/workqueue`; the shell adds the `workqueue_` prefix and the `name` label.

use std::time::Duration;

use crate::moment::nanos;

/// How many durations fell into which range, and their sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    counts: [u64; Histogram::BOUNDS_SECONDS.len() + 1],
    sum: Duration,
}

impl Histogram {
    /// The upper, inclusive bounds of the buckets: 10⁻⁸ s and each ten times the one before.
    pub const BOUNDS_SECONDS: [f64; 10] =
        [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0];

    pub(crate) fn observe(&mut self, duration: Duration) {
        // Counted in whole nanoseconds: a duration that equals a bound must not miss it by rounding.
        let mut bound: u64 = 10;
        let mut bucket = 0;
        while bucket < Self::BOUNDS_SECONDS.len() && nanos(duration) > bound {
            bound *= 10;
            bucket += 1;
        }
        self.counts[bucket] += 1;
        self.sum = self.sum.saturating_add(duration);
    }

    /// How many durations fell into each bucket alone (not cumulated); the last number counts
    /// those above every bound.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many durations were observed.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all durations observed, in seconds.
    pub fn sum_seconds(&self) -> f64 {
        self.sum.as_secs_f64()
    }
}

/// A queue's metrics at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Keys that wait, including those that will wait again once their processing is done.
    pub depth: usize,
    /// Adds that were not merged into a waiting one, delayed ones counted when due.
    pub adds_total: u64,
    /// How long keys waited before they were processed.
    pub queue_duration_seconds: Histogram,
    /// How long keys were processed.
    pub work_duration_seconds: Histogram,
    /// The time spent so far on all keys being processed, in seconds. It grows when workers hang.
    pub unfinished_work_seconds: f64,
    /// The time spent so far on the key that has been processed for longest, in seconds.
    pub longest_running_processor_seconds: f64,
    /// Delayed adds and retries asked for.
    pub retries_total: u64,
    /// Keys that did not fit. Upstream has no such metric: its queues have no bound.
    pub overflows_total: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_equal_to_a_bound_falls_into_its_bucket() {
        for (bucket, bound) in Histogram::BOUNDS_SECONDS.iter().enumerate() {
            let mut histogram = Histogram::default();
            let exact = Duration::from_secs_f64(*bound);
            histogram.observe(exact);
            histogram.observe(exact + Duration::from_nanos(1));
            assert_eq!(
                (histogram.counts()[bucket], histogram.counts()[bucket + 1]),
                (1, 1)
            );
        }
    }

    #[test]
    fn everything_is_counted_and_summed() {
        let mut histogram = Histogram::default();
        for duration in [
            Duration::ZERO,
            Duration::from_millis(250),
            Duration::from_secs(3600),
        ] {
            histogram.observe(duration);
        }
        assert_eq!(histogram.counts(), [1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
        assert_eq!(histogram.count(), 3);
        assert!((histogram.sum_seconds() - 3600.25).abs() < 1e-9);
    }
}
