//! The patience with one key: each failure doubles the delay before the next try.
//!
//! A failure counts only if its delay was honoured. When an event brings a key forward and it
//! fails once more, that says nothing new about the key: the count, and with it the delay, stay
//! as they were, and the wait begins again. Otherwise a busy key with one bad minute would back
//! off for a quarter of an hour after a handful of events.

use std::collections::HashMap;
use std::time::Duration;

use crate::entries::Slot;
use crate::moment::Moment;

#[derive(Clone, Copy, Debug)]
struct Failures {
    count: u32,
    /// A run that starts earlier than this did not honour the delay.
    not_before: Moment,
}

/// What a failure leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Try again after this long at the earliest.
    Wait(Duration),
    /// The ceiling is reached: this many failures counted. The key starts afresh.
    GiveUp { failures: u32 },
}

/// The failures of the keys that have any.
#[derive(Debug)]
pub(crate) struct Backoff {
    base: Duration,
    max: Duration,
    max_retries: Option<u32>,
    failures: HashMap<Slot, Failures>,
}

impl Backoff {
    pub(crate) fn new(base: Duration, max: Duration, max_retries: Option<u32>) -> Self {
        Backoff {
            base,
            max,
            max_retries,
            failures: HashMap::new(),
        }
    }

    /// Judges the failure of a run that started at `started`. After [`Verdict::Wait`] the caller
    /// says with [`Backoff::hold`] until when the key will really be held back.
    pub(crate) fn fail(&mut self, slot: Slot, started: Moment) -> Verdict {
        let count = match self.failures.get(&slot) {
            Some(known) if started < known.not_before => known.count,
            Some(known) => known.count.saturating_add(1),
            None => 1,
        };
        if self.max_retries.is_some_and(|ceiling| count > ceiling) {
            self.failures.remove(&slot);
            return Verdict::GiveUp { failures: count };
        }
        self.failures.insert(
            slot,
            Failures {
                count,
                not_before: started,
            },
        );
        Verdict::Wait(self.delay(count))
    }

    pub(crate) fn hold(&mut self, slot: Slot, until: Moment) {
        if let Some(known) = self.failures.get_mut(&slot) {
            known.not_before = until;
        }
    }

    pub(crate) fn count(&self, slot: Slot) -> u32 {
        self.failures.get(&slot).map_or(0, |known| known.count)
    }

    pub(crate) fn forget(&mut self, slot: Slot) {
        self.failures.remove(&slot);
    }

    /// The delay after the `count`-th failure: base, 2·base, 4·base … max.
    fn delay(&self, count: u32) -> Duration {
        let doublings = count.saturating_sub(1);
        let factor = 1u32.checked_shl(doublings).unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(max_retries: Option<u32>) -> Backoff {
        Backoff::new(
            Duration::from_millis(5),
            Duration::from_secs(1000),
            max_retries,
        )
    }

    fn moment(ms: u64) -> Moment {
        Moment::at(Duration::from_millis(ms))
    }

    #[test]
    fn delays_double_from_5_ms_and_stop_at_1000_s() {
        let mut backoff = backoff(None);
        let delays: Vec<_> = (0..70)
            .map(|_| match backoff.fail(3, moment(0)) {
                Verdict::Wait(delay) => delay.as_millis(),
                Verdict::GiveUp { .. } => 0,
            })
            .collect();
        assert_eq!(delays[..5], [5, 10, 20, 40, 80]);
        assert_eq!(delays[16..19], [327_680, 655_360, 1_000_000]);
        assert!(delays[18..].iter().all(|&delay| delay == 1_000_000));
    }

    #[test]
    fn a_failure_that_did_not_honour_its_delay_does_not_count() {
        let mut backoff = backoff(None);
        backoff.fail(0, moment(0));
        backoff.hold(0, moment(100));
        assert_eq!(
            backoff.fail(0, moment(99)),
            Verdict::Wait(Duration::from_millis(5))
        );
        assert_eq!(backoff.count(0), 1);
        backoff.hold(0, moment(200));
        assert_eq!(
            backoff.fail(0, moment(200)),
            Verdict::Wait(Duration::from_millis(10))
        );
        assert_eq!(backoff.count(0), 2);
    }

    #[test]
    fn a_key_is_given_up_after_its_last_retry_failed_and_then_starts_afresh() {
        let mut backoff = backoff(Some(2));
        assert!(matches!(backoff.fail(0, moment(0)), Verdict::Wait(_)));
        assert!(matches!(backoff.fail(0, moment(1)), Verdict::Wait(_)));
        assert_eq!(backoff.fail(0, moment(2)), Verdict::GiveUp { failures: 3 });
        assert_eq!(backoff.count(0), 0);
        assert_eq!(
            backoff.fail(0, moment(3)),
            Verdict::Wait(Duration::from_millis(5))
        );
    }

    #[test]
    fn a_failure_that_does_not_count_does_not_exhaust_a_key() {
        let mut backoff = backoff(Some(1));
        backoff.fail(0, moment(0));
        backoff.hold(0, moment(50));
        assert!(matches!(backoff.fail(0, moment(10)), Verdict::Wait(_)));
    }

    #[test]
    fn a_base_beyond_the_maximum_is_the_maximum() {
        let mut backoff = Backoff::new(Duration::MAX, Duration::from_secs(1), None);
        for _ in 0..40 {
            assert_eq!(
                backoff.fail(0, moment(0)),
                Verdict::Wait(Duration::from_secs(1))
            );
        }
    }
}
