//! How much of the past is kept.

/// The bounds of the history. When one is exceeded, the oldest revisions are forgotten.
#[derive(Clone, Copy, Debug)]
pub struct Limits<V> {
    /// How many events are kept. Default 100,000.
    pub events_max: usize,
    /// How many bytes the kept events may weigh. Default 64 MiB.
    ///
    /// An event weighs its own size, its key, and the state that it replaced: the state it made is
    /// either present still or replaced by a later event, and would be counted twice.
    pub bytes_max: usize,
    /// What a value weighs, in bytes. It must give the same answer for the same value.
    /// Default: the size of the type itself, which knows nothing of what a pointer leads to.
    pub weigh: fn(&V) -> usize,
}

impl<V> Default for Limits<V> {
    fn default() -> Self {
        Limits {
            events_max: 100_000,
            bytes_max: 64 << 20,
            weigh: |_| size_of::<V>(),
        }
    }
}
