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
}
