//! How long to wait before trying again.

use std::time::Duration;

/// The first wait, before jitter.
pub(super) const FIRST: Duration = Duration::from_millis(800);
/// The longest wait of our own, before jitter.
pub(super) const LONGEST: Duration = Duration::from_secs(30);
/// The longest `Retry-After` that is heeded, before jitter.
pub(super) const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// The longest wait of any kind.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(40);
/// After so long without a wait the next one is short again.
pub(super) const FORGET_AFTER: Duration = Duration::from_secs(120);

/// Waits that double, and up to double again by jitter, so that a thousand clients of a server
/// that comes back do not all come back with it. They stay spread at the upper bound.
// Upstream: client-go tools/cache/reflector.go, the back-off given to the list and watch loop.
#[derive(Default)]
pub(super) struct Backoff {
    /// When the last wait began and how long it was before jitter.
    last: Option<(Duration, Duration)>,
}

impl Backoff {
    /// The next wait. `jitter` is drawn from 0 to 1 by the caller; `retry_after` is the server's.
    pub(super) fn next(
        &mut self,
        now: Duration,
        jitter: f64,
        retry_after: Option<Duration>,
    ) -> Duration {
        let jitter = jitter.clamp(0.0, 1.0);
        let wait = match self.last {
            Some((_, last)) if !self.is_fresh(now) => (last * 2).min(LONGEST),
            _ => FIRST,
        };
        self.last = Some((now, wait));
        let spread = wait.min(WAIT_MAX.saturating_sub(wait)).mul_f64(jitter);
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_MAX);
        let asked = asked.mul_f64(1.0 + 0.25 * jitter);
        (wait + spread).max(asked).min(WAIT_MAX)
    }

    /// Whether the last trouble is long over.
    pub(super) fn is_fresh(&self, now: Duration) -> bool {
        self.last
            .is_none_or(|(began, _)| now.saturating_sub(began) > FORGET_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn waits_double_up_to_the_longest_and_jitter_up_to_doubles_them_once_more() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..7)
            .map(|_| backoff.next(Duration::ZERO, 0.0, None).as_millis())
            .collect();
        assert_eq!(waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
        // No wait is longer than 40 s, and the longest ones differ by jitter too.
        assert_eq!(backoff.next(Duration::ZERO, 0.5, None), seconds(35));
        assert_eq!(backoff.next(Duration::ZERO, 1.0, None), WAIT_MAX);
        assert_eq!(
            Backoff::default().next(Duration::ZERO, 1.0, None),
            FIRST * 2
        );
    }

    #[test]
    fn a_retry_after_is_heeded_up_to_thirty_seconds_and_spread_by_jitter() {
        let next = |asked, jitter| {
            let asked = Some(Duration::from_secs(asked));
            Backoff::default().next(Duration::ZERO, jitter, asked)
        };
        assert_eq!(next(17, 0.0), seconds(17));
        assert_eq!(next(20, 1.0), seconds(25));
        assert_eq!(next(600, 0.0), seconds(30));
        assert_eq!(next(600, 1.0), Duration::from_millis(37_500));
        assert_eq!(next(u64::MAX, 1.0), Duration::from_millis(37_500));
        assert_eq!(next(0, 0.0), FIRST);
    }

    #[test]
    fn two_quiet_minutes_make_the_next_wait_short_again() {
        let mut backoff = Backoff::default();
        backoff.next(Duration::ZERO, 0.5, None);
        assert_eq!(backoff.next(FORGET_AFTER, 0.0, None), FIRST * 2);
        let later = FORGET_AFTER * 2 + Duration::from_nanos(1);
        assert!(backoff.is_fresh(later));
        assert_eq!(backoff.next(later, 0.0, None), FIRST);
    }
}
