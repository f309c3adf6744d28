//! A point in time in eight bytes: nanoseconds since the caller's origin.
//!
//! A `Duration` takes sixteen, and a hot queue stores several per key.

use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

impl Moment {
    /// Saturates after 584 years, which is as good as never.
    pub(crate) fn at(since_origin: Duration) -> Self {
        Moment(nanos(since_origin))
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Moment(self.0.saturating_add(nanos(delay)))
    }

    /// Zero if `earlier` is later.
    pub(crate) fn since(self, earlier: Moment) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    pub(crate) fn since_origin(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

/// Whole nanoseconds, saturating.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
