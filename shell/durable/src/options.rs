//! What can be set about a log.

/// The settings of a [`Log`](crate::Log).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many commits may wait for the disk at once. Default 1024; at least 1.
    pub queue_max: usize,
    /// At how many bytes a log is finished and folded into a snapshot, unless the last snapshot is
    /// larger: then at the size of that, so that folding costs no more than logging does.
    /// Default 64 MiB. Reading that much again is what a restart costs.
    pub log_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            queue_max: 1024,
            log_bytes: 64 << 20,
        }
    }
}
