//! The overall budget of retries: a token bucket that always grants, but later and later.
//!
//! One number holds the whole state: the moment at which the bucket will be full again. Each grant
//! pushes it one token's interval into the future; a grant whose push goes further than a full
//! bucket's worth of intervals has to wait for the difference. It is the same schedule as counting
//! tokens (golang.org/x/time/rate `Reserve`), without the drift of adding fractions.

use std::time::Duration;

use crate::moment::Moment;

#[derive(Debug)]
pub(crate) struct Bucket {
    /// `None` is no limit.
    interval: Option<Duration>,
    burst: u32,
    full_at: Moment,
}

impl Bucket {
    pub(crate) fn new(rate_per_second: f64, burst: u32) -> Self {
        let interval = if rate_per_second > 0.0 {
            // A rate so slow that its interval does not fit grants once in a lifetime.
            let seconds = rate_per_second.recip();
            Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
        } else {
            None
        };
        Bucket {
            interval,
            burst,
            full_at: Moment::default(),
        }
    }

    /// Takes one token and says how long to wait until it is there.
    pub(crate) fn reserve(&mut self, now: Moment) -> Duration {
        let Some(interval) = self.interval else {
            return Duration::ZERO;
        };
        self.full_at = self.full_at.max(now).after(interval);
        let full_in = self.full_at.since(now);
        full_in.saturating_sub(interval.saturating_mul(self.burst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Moment {
        Moment::at(Duration::from_secs_f64(seconds))
    }

    #[test]
    fn the_burst_is_free_and_then_ten_per_second_are_granted() {
        let mut bucket = Bucket::new(10.0, 100);
        for _ in 0..100 {
            assert_eq!(bucket.reserve(seconds(0.0)), Duration::ZERO);
        }
        for waiting in 1..=50 {
            assert_eq!(
                bucket.reserve(seconds(0.0)),
                Duration::from_millis(100 * waiting)
            );
        }
    }

    #[test]
    fn an_unused_bucket_never_holds_more_than_the_burst() {
        let mut bucket = Bucket::new(10.0, 2);
        let now = seconds(1_000.0);
        let waits: Vec<_> = (0..3).map(|_| bucket.reserve(now)).collect();
        assert_eq!(
            waits,
            [Duration::ZERO, Duration::ZERO, Duration::from_millis(100)]
        );
    }

    #[test]
    fn time_refills_the_bucket() {
        let mut bucket = Bucket::new(10.0, 1);
        assert_eq!(bucket.reserve(seconds(0.0)), Duration::ZERO);
        assert_eq!(bucket.reserve(seconds(0.04)), Duration::from_millis(60));
        assert_eq!(bucket.reserve(seconds(0.2)), Duration::ZERO);
    }

    #[test]
    fn a_rate_that_is_not_positive_or_is_infinite_limits_nothing() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut bucket = Bucket::new(rate, 0);
            assert_eq!(bucket.reserve(seconds(1.0)), Duration::ZERO, "rate {rate}");
            assert_eq!(bucket.reserve(seconds(1.0)), Duration::ZERO, "rate {rate}");
        }
    }

    #[test]
    fn an_absurdly_slow_rate_waits_without_overflow() {
        let mut bucket = Bucket::new(f64::MIN_POSITIVE, 0);
        assert!(bucket.reserve(seconds(1.0)) > Duration::from_secs(1_000_000_000));
        assert!(bucket.reserve(seconds(1.0)) > Duration::from_secs(1_000_000_000));
    }
}
