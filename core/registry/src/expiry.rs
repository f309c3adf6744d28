//! Events, which are kept for a time only.
//!
//! Upstream gives an Event a lease of `--event-ttl` with every write, and etcd deletes what is left of
//! a lease in one transaction; after a restart a lease has its whole time again. Here the revisions of
//! the past are noted with their times: an Event that was last written before the newest revision of
//! sufficient age is deleted. Upstream: `pkg/registry/core/event/storage/storage.go`,
//! `apiserver/pkg/storage/etcd3/lease_manager.go`.

use std::collections::VecDeque;
use std::time::Duration;

use flyball_api::Timestamp;
use flyball_storage::{Key, Query, Revision, Transaction};

use crate::registry::Registry;

/// Where Events of both groups are kept.
const PLACE: &str = "/registry/events/";

/// How many Events are looked at in one step.
const LOOKED_AT_MAX: usize = 1_000;

/// Revisions of the past and the times at which they were the newest.
#[derive(Debug, Default)]
pub struct RevisionTimes(VecDeque<(Timestamp, Revision)>);

impl RevisionTimes {
    /// Notes the newest revision. Returns the newest of those that were noted at least `age` ago, and
    /// forgets the ones before it.
    pub fn note(&mut self, now: Timestamp, newest: Revision, age: Duration) -> Option<Revision> {
        self.0.push_back((now, newest));
        let is_old = |(time, _): &(Timestamp, Revision)| time.saturating_add(age) <= now;
        while self.0.get(1).is_some_and(is_old) {
            self.0.pop_front();
        }
        let oldest = self.0.front().filter(|one| is_old(one));
        oldest.map(|(_, revision)| *revision)
    }
}

impl Registry {
    /// Deletes Events that were last written at or before a revision: one step, which looks at a bounded
    /// number of them after a key. Returns the key to go on after, if there may be more.
    pub fn expire_events(&mut self, written: Revision, after: Option<&str>) -> Option<Key> {
        let mut query = Query::prefix(PLACE);
        query.after = after;
        let mut expired = Transaction::new();
        let mut last = None;
        let mut looked_at = 0;
        for item in self.store().scan(&query).take(LOOKED_AT_MAX) {
            looked_at += 1;
            if item.modified <= written {
                expired = expired.delete(item.key.clone());
            }
            last = Some(item.key.clone());
        }
        // Nothing is expected of what is deleted, so nothing can be in the way.
        let _ = self.commit(expired);
        last.filter(|_| looked_at == LOOKED_AT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Server;
    use serde_json::json;

    const EVENTS: &str = "/api/v1/namespaces/default/events";

    fn post(server: &mut Server, name: &str) {
        let event = json!({
            "metadata": {"name": name},
            "involvedObject": {"kind": "Pod", "name": "a", "namespace": "default"},
        });
        let (code, told) = server.post(EVENTS, &event);
        assert_eq!(code, 201, "{told}");
    }

    #[test]
    fn only_a_revision_of_sufficient_age_counts() {
        let mut times = RevisionTimes::default();
        let start: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        let at = |seconds| start.saturating_add(Duration::from_secs(seconds));
        let mut note = |seconds, revision| {
            let noted = times.note(at(seconds), Revision(revision), Duration::from_secs(60));
            (noted.map(|revision| revision.0), times.0.len())
        };
        assert_eq!(note(0, 10), (None, 1));
        assert_eq!(note(30, 20), (None, 2));
        assert_eq!(note(59, 30), (None, 3));
        assert_eq!(note(60, 30), (Some(10), 4));
        assert_eq!(note(95, 40), (Some(20), 4));
        assert_eq!(note(500, 40), (Some(40), 2));
    }

    #[test]
    fn events_expire_after_their_last_write_and_watches_see_it() {
        let mut server = Server::new();
        post(&mut server, "old");
        post(&mut server, "renewed");
        let written = server.registry.revision();
        let patch = json!({"count": 2});
        let renewed = format!("{EVENTS}/renewed");
        assert_eq!(server.patch(&renewed, "merge-patch", &patch).0, 200);
        let before = server.registry.revision();
        let mut watch = server.watch(&format!("{EVENTS}?watch=1&resourceVersion={before}"));
        assert_eq!(server.registry.expire_events(written, None), None);
        assert_eq!(server.registry.revision(), before.next());
        let lines = server.lines(&mut watch);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0]["type"], "DELETED");
        assert_eq!(lines[0]["object"]["metadata"]["name"], "old");
        assert_eq!(server.registry.expire_events(written, None), None);
        assert_eq!(
            server.registry.revision(),
            before.next(),
            "nothing is left to expire"
        );
    }

    #[test]
    fn a_step_is_bounded() {
        let mut server = Server::new();
        for number in 0..LOOKED_AT_MAX + 5 {
            post(&mut server, &format!("event-{number:05}"));
        }
        let written = server.registry.revision();
        let count = |server: &Server| server.registry.store().scan(&Query::prefix(PLACE)).count();
        let next = server.registry.expire_events(written, None).unwrap();
        assert_eq!(count(&server), 5);
        assert_eq!(server.registry.expire_events(written, Some(&next)), None);
        assert_eq!(count(&server), 0);
    }
}
