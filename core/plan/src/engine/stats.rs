//! What an engine tells about itself.

use flyball_api::Kind;
use flyball_workqueue::Metrics;

/// How an engine fares.
#[derive(Clone, Debug)]
pub struct EngineStats {
    /// Its queue.
    pub queue: Metrics,
    /// Per kind, how often a sync was put off because the cache had not shown a write.
    pub stale_skips: Vec<(Kind, u64)>,
    /// Syncs under way.
    pub syncs_running: usize,
    /// Keys with writes that the caches have not shown.
    pub keys_gated: usize,
    /// How often syncs ended otherwise than well.
    pub endings: Endings,
}

/// How often syncs ended otherwise than well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// An object had changed since it was seen.
    pub conflict: u64,
    /// The server's validation refused what was sent.
    pub permanent: u64,
    /// They failed as often as they may.
    pub given_up: u64,
}
