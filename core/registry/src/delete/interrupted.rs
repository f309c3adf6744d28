//! Graceful deletions that a crash has interrupted.
//!
//! A pod that is deleted without a grace period is written with its `deletionTimestamp` and then removed, as upstream
//! does: watches see both. They are two commits, of which a crash may leave the first.

use flyball_schema::builtin;
use flyball_storage::{Query, Revision, Transaction};

use crate::object::Meta;
use crate::registry::{Registry, prefix};

/// The field without which nothing is deleted.
const MARK: &[u8] = b"\"deletionTimestamp\"";

impl Registry {
    /// Removes pods whose grace period is over and that no finalizer holds.
    pub(crate) fn finish_deletes(&mut self) {
        let Some(pods) = builtin().resource("", "v1", "pods") else {
            return;
        };
        let place = prefix(pods, "");
        let found = self.store().range(&Query::prefix(&place));
        let all = found.map(|page| page.items).unwrap_or_default();
        // Few are marked: only those are read.
        let marked = all.iter().filter(|item| {
            let text = item.value.bare();
            text.windows(MARK.len()).any(|part| part == MARK)
        });
        let finished = marked.filter(|item| {
            let pod = item.value.bare_object();
            let left = pod.meta()["deletionGracePeriodSeconds"].as_i64();
            pod.is_deleting() && left == Some(0) && !pod.has_finalizers()
        });
        let finished: Vec<(String, Revision)> = finished
            .map(|item| (item.key.to_string(), item.modified))
            .collect();
        for (key, seen) in finished {
            // Nothing can have come between.
            let _ = self.commit(Transaction::remove(key, seen));
        }
    }
}
