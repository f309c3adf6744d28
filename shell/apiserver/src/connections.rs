//! The connections that there are, and which of them goes when another needs its place or its memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::Id;

use crate::activity::Activity;

/// The connections by the tasks that serve them.
#[derive(Debug, Default)]
pub(crate) struct Connections(Mutex<HashMap<Id, Arc<Activity>>>);

impl Connections {
    fn known(&self) -> MutexGuard<'_, HashMap<Id, Arc<Activity>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn insert(&self, id: Id, activity: Arc<Activity>) {
        self.known().insert(id, activity);
    }

    pub(crate) fn remove(&self, id: Id) {
        self.known().remove(&id);
    }

    pub(crate) fn len(&self) -> usize {
        self.known().len()
    }

    /// Asks the connection to leave that deserves its place the least.
    pub(crate) fn make_room(&self) {
        let known = self.known();
        let claims = known.values().filter_map(|one| Some((one.claim()?, one)));
        if let Some((_, activity)) = claims.min_by_key(|(claim, _)| *claim) {
            activity.ask_to_leave();
        }
    }

    /// Asks the connection to leave whose client does not take what is held for it, for the longest.
    pub(crate) fn free_memory(&self) {
        let known = self.known();
        let hoarding = known.values();
        let hoarding = hoarding.filter_map(|one| Some((one.hoarding_since()?, one)));
        if let Some((_, activity)) = hoarding.min_by_key(|(since, _)| *since) {
            tracing::info!(
                bytes = activity.held(),
                "a connection is closed: its client does not take what is held for it"
            );
            activity.ask_to_leave();
        }
    }
}
