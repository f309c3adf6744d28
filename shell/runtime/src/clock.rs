//! The clocks of the process, read in one place.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use flyball_api::Timestamp;
use flyball_plan::Now;
use tokio::time::Instant;

/// Time since the process started, and the time of day.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock whose monotonic time begins now.
    pub fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }

    /// Both clocks.
    pub fn now(&self) -> Now {
        Now {
            monotonic: self.monotonic(),
            wall: wall(),
        }
    }

    /// Time since the clock was started.
    pub fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    /// The moment at which the monotonic clock shows `at`, for sleeping until then.
    pub fn instant(&self, at: Duration) -> Instant {
        // A year stands for any time that is further away.
        self.origin + at.min(Duration::from_secs(60 * 60 * 24 * 365))
    }
}

/// The time of day.
fn wall() -> Timestamp {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::UNIX_EPOCH.saturating_add(since_epoch)
}

/// Locks, even after a panic elsewhere: what these locks protect is changed by pure code in whole
/// steps, and a process that panicked is on its way out.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
