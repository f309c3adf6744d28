//! Answers that syncs share which ask the same at about the same time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use flyball_api::{ApiError, Kind};
use flyball_plan::Listing;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::clock::lock;

/// The last answer to one question; cheap to clone.
pub(crate) struct Recent<T>(Arc<Mutex<Option<Found<T>>>>);

/// What was found, and when.
struct Found<T> {
    asked: Instant,
    answered: Instant,
    what: Result<T, ApiError>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Recent<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone> Recent<T> {
    /// What the server says, or said if that was asked no longer than `age_max` ago. Whoever asks
    /// while somebody else does gets the same answer, if it is new enough.
    ///
    /// A failure says nothing about the server that could be out of date: it counts from its end,
    /// so that those who waited for it do not wait for the next one as well.
    pub(crate) async fn get(
        &self,
        age_max: Duration,
        ask: impl AsyncFnOnce() -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let mut last = self.0.lock().await;
        if let Some(found) = &*last {
            let from = match &found.what {
                Ok(_) => found.asked,
                Err(_) => found.answered,
            };
            if from.elapsed() <= age_max {
                return found.what.clone();
            }
        }
        let asked = Instant::now();
        let what = ask().await;
        *last = Some(Found {
            asked,
            answered: Instant::now(),
            what: what.clone(),
        });
        what
    }
}

/// The last lists of whole kinds, one of each.
#[derive(Clone, Default)]
pub(crate) struct RecentLists(Arc<std::sync::Mutex<HashMap<Kind, Recent<Arc<Listing>>>>>);

impl RecentLists {
    /// The last list of this kind.
    pub(crate) fn of(&self, kind: Kind) -> Recent<Arc<Listing>> {
        lock(&self.0).entry(kind).or_default().clone()
    }
}
