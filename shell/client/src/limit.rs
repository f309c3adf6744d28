//! Client-side rate limit: a token bucket per named client, as upstream's QPS and burst.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// A token bucket that requests wait for.
#[derive(Debug)]
pub struct RateLimit {
    per_second: f64,
    burst: f64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tokens: f64,
    at: Instant,
}

impl RateLimit {
    /// A bucket that fills at `qps` tokens a second and holds `burst`; `None` if `qps` asks for no
    /// limit (zero or less).
    pub fn new(qps: f64, burst: u32) -> Option<Self> {
        (qps > 0.0).then(|| Self {
            per_second: qps,
            burst: f64::from(burst.max(1)),
            state: Mutex::new(State {
                tokens: f64::from(burst.max(1)),
                at: Instant::now(),
            }),
        })
    }

    /// Waits for a token and returns how long that took.
    pub async fn wait(&self) -> Duration {
        let delay = self.reserve(Instant::now());
        if !delay.is_zero() {
            tokio::time::sleep(delay).await;
        }
        delay
    }

    /// Takes a token, on credit if need be, and says when it becomes valid. Those who come later
    /// wait longer: first come, first served.
    fn reserve(&self, now: Instant) -> Duration {
        let mut state = match self.state.lock() {
            Ok(state) => state,
            // The bucket holds two numbers; whoever panicked could not leave them half-written.
            Err(poisoned) => poisoned.into_inner(),
        };
        let elapsed = now.saturating_duration_since(state.at).as_secs_f64();
        state.tokens = (state.tokens + elapsed * self.per_second).min(self.burst);
        state.at = now.max(state.at);
        state.tokens -= 1.0;
        if state.tokens >= 0.0 {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(-state.tokens / self.per_second)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_burst_is_free_and_then_the_rate_holds() {
        let limit = RateLimit::new(20.0, 30).unwrap();
        let start = Instant::now();
        for _ in 0..30 {
            limit.wait().await;
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..20 {
            limit.wait().await;
        }
        let took = start.elapsed().as_secs_f64();
        assert!((0.95..1.06).contains(&took), "{took}");
    }

    #[test]
    fn no_qps_means_no_limit() {
        assert!(RateLimit::new(0.0, 10).is_none());
        assert!(RateLimit::new(-1.0, 10).is_none());
    }
}
