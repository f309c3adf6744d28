//! How long to wait before trying again.

use std::time::Duration;

/// The first wait, before jitter.
pub(super) const FIRST: Duration = Duration::from_millis(800);
/// The longest wait, before jitter.
pub(super) const LONGEST: Duration = Duration::from_secs(30);
/// After so long without a wait the next one is short again.
pub(super) const FORGET_AFTER: Duration = Duration::from_secs(120);

/// Waits that double, and up to double again by jitter, so that a thousand clients of a server
/// that comes back do not all come back with it.
// Upstream: client-go tools/cache/reflector.go, the back-off given to the list and watch loop.
#[derive(Default)]
pub(super) struct Backoff {
    /// When the last wait began and how long it was before jitter.
    last: Option<(Duration, Duration)>,
}

impl Backoff {
    /// The next wait. `jitter` is drawn from 0 to 1 by the caller.
    pub(super) fn next(&mut self, now: Duration, jitter: f64) -> Duration {
        let wait = match self.last {
            Some((_, last)) if !self.is_fresh(now) => (last * 2).min(LONGEST),
            _ => FIRST,
        };
        self.last = Some((now, wait));
        wait.mul_f64(1.0 + jitter.clamp(0.0, 1.0))
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

    #[test]
    fn waits_double_up_to_the_longest_and_jitter_doubles_them_once_more() {
        let mut backoff = Backoff::default();
        let waits: Vec<_> = (0..7)
            .map(|_| backoff.next(Duration::ZERO, 0.0).as_millis())
            .collect();
        assert_eq!(waits, [800, 1600, 3200, 6400, 12_800, 25_600, 30_000]);
        assert_eq!(backoff.next(Duration::ZERO, 1.0).as_millis(), 60_000);
    }

    #[test]
    fn two_quiet_minutes_make_the_next_wait_short_again() {
        let mut backoff = Backoff::default();
        backoff.next(Duration::ZERO, 0.5);
        assert_eq!(backoff.next(FORGET_AFTER, 0.0), FIRST * 2);
        let later = FORGET_AFTER * 2 + Duration::from_nanos(1);
        assert!(backoff.is_fresh(later));
        assert_eq!(backoff.next(later, 0.0), FIRST);
    }
}
