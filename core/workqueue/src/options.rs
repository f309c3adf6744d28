//! What can be set about a queue, with upstream's defaults where upstream has one.

use std::time::Duration;

/// The settings of a queue.
///
/// The delays and the overall rate default to upstream's default controller rate limiter
/// (client-go `util/workqueue/default_rate_limiters.go`).
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The delay after a key's first failure; it doubles with each further one. Default 5 ms.
    pub base_delay: Duration,
    /// The longest a key's own failures delay it. Default 1000 s.
    pub max_delay: Duration,
    /// How many retries per second all keys together may use in the long run. Default 10.
    /// A rate that is not a positive number means no overall limit.
    pub rate_per_second: f64,
    /// How many retries may be used at once before `rate_per_second` applies. Default 100.
    pub burst: u32,
    /// After how many retries a key that still fails is given up. Default `None`: never.
    pub max_retries: Option<u32>,
    /// How many distinct keys may wait, run or be delayed at once. Default 1,000,000: far above
    /// any real cluster and, at some 100 bytes per key beside the key itself, a bound on memory.
    pub capacity: usize,
    /// How long the oldest key of a priority waits before that priority takes turns with the
    /// higher ones. Default 5 s. Zero serves all priorities in turn; `Duration::MAX` makes
    /// priorities strict and gives up the bound on the wait.
    pub aging: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            base_delay: Duration::from_millis(5),
            max_delay: Duration::from_secs(1000),
            rate_per_second: 10.0,
            burst: 100,
            max_retries: None,
            capacity: 1_000_000,
            aging: Duration::from_secs(5),
        }
    }
}

/// How urgent a key is compared with other waiting keys.
///
/// Upstream has one priority; a caller that wants its order uses [`Priority::Normal`] throughout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// Work that can wait, such as the keys of a first listing or a resync.
    Low,
    /// Everything else; delayed adds and retries come back with it.
    #[default]
    Normal,
    /// Work that somebody waits for.
    High,
}

impl Priority {
    /// How many priorities there are.
    pub(crate) const COUNT: usize = 3;
}
