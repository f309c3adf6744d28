//! How an informer is, for health checks.

use std::time::Duration;

/// How an informer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Whether the cache has been filled by a whole list. Once filled it keeps serving, whatever
    /// happens to the server.
    pub synced: bool,
    /// Why not, if it has not.
    pub why: Option<String>,
    /// What is wrong between the cache and the server right now.
    pub last_error: Option<String>,
    /// For how long this has been so: not synced, in trouble, or well. Zero before the start.
    pub since: Duration,
    /// For how long no watch has been accepted and no list answered, counted from the first request
    /// that failed, or from the start. `None` while requests are answered, and before the start.
    pub out_of_touch: Option<Duration>,
}

/// What went wrong lately, and since when.
#[derive(Default)]
pub(super) struct Health {
    /// When the informer began to be in its present condition; `None` before the start.
    since: Option<Duration>,
    /// What went wrong last, until something goes well again.
    trouble: Option<String>,
}

impl Health {
    /// Notes that another condition begins.
    pub(super) fn turn(&mut self, now: Duration) {
        self.since = Some(now);
    }

    /// Notes what is wrong now. Before the first list the condition is the same all along.
    pub(super) fn note(&mut self, trouble: Option<String>, synced: bool, now: Duration) {
        if self.trouble.is_some() != trouble.is_some() && synced {
            self.turn(now);
        }
        self.trouble = trouble;
    }

    pub(super) fn readiness(
        &self,
        synced: bool,
        out_of_touch: Option<Duration>,
        now: Duration,
    ) -> Readiness {
        let waiting = || "waiting for the first list".to_owned();
        let since = self.since.map(|since| now.saturating_sub(since));
        Readiness {
            synced,
            why: (!synced).then(|| self.trouble.clone().unwrap_or_else(waiting)),
            last_error: self.trouble.clone(),
            since: since.unwrap_or_default(),
            out_of_touch,
        }
    }
}
