//! What the queue answers when it is asked for a run.

use std::time::Duration;

/// What became of an add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// The key will run because of this add.
    Queued,
    /// A run that was asked for before serves this add too.
    Merged,
    /// The queue holds [`Options::capacity`](crate::Options::capacity) other keys. The key was not taken; see
    /// [`WorkQueue::take_overflow`](crate::WorkQueue::take_overflow).
    Overflow,
    /// The queue is shut down and takes nothing.
    Closed,
}

/// What became of a failed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The key runs again after this long, or earlier if something else brings it forward.
    After(Duration),
    /// The ceiling on retries is reached: the key is not retried and its count starts afresh.
    Exhausted {
        /// How many failures were counted, this one included.
        failures: u32,
    },
    /// Nothing was done: the queue is shut down, or the key is not being processed.
    Refused,
}
