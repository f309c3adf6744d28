//! News for people: logs, and Events on the Lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flyball_plan::{Now, RecordKind};
use flyball_process::News;

use crate::election::ElectionOptions;
use crate::events::Events;

/// The reason of Events about a term, as upstream has it.
const LEADER_ELECTION: &str = "LeaderElection";

/// The reason of an Event about a server with another history.
const HISTORY_CHANGED: &str = "ServerHistoryChanged";

/// Logs news, and records on the Lease what concerns its holder.
#[derive(Default)]
pub(crate) struct NewsDesk {
    lease: Option<(ElectionOptions, Arc<Events>)>,
    /// Whether the Lease is being given up by a stop.
    is_releasing: AtomicBool,
}

impl NewsDesk {
    pub(crate) fn new(lease: Option<(ElectionOptions, Arc<Events>)>) -> Self {
        Self {
            lease,
            is_releasing: AtomicBool::new(false),
        }
    }

    /// The end of the term that follows is part of a stop.
    pub(crate) fn expect_release(&self) {
        self.is_releasing.store(true, Ordering::SeqCst);
    }

    /// The name of the Lease; empty if there is none.
    pub(crate) fn lease_name(&self) -> &str {
        self.lease.as_ref().map_or("", |(options, _)| &options.name)
    }

    /// Tells people.
    pub(crate) fn tell(&self, news: &News, now: Now) {
        let lease = self.lease_name();
        match news {
            News::BecameLeader => {
                let identity = self.identity();
                tracing::info!(identity, lease, "became leader");
                self.record_term("became leader", now);
            }
            // The Event was recorded while there was time to send it.
            News::LostLease if self.is_releasing.load(Ordering::SeqCst) => {}
            News::LostLease => {
                let identity = self.identity();
                tracing::error!(identity, lease, "leaderelection lost: writing has stopped");
                self.record_term("stopped leading", now);
            }
            News::NewLeader(holder) => {
                let leader = match holder.as_str() {
                    "" => "none",
                    holder => holder,
                };
                tracing::info!(leader, lease, "new leader elected");
            }
            News::SteppedDown(why) => {
                tracing::warn!(lease, why, "giving up the lease");
                self.record_term(&format!("stepped down: {why}"), now);
            }
            News::HistoryChanged(why) => {
                tracing::warn!(
                    why,
                    "the server's history has changed, everything is listed again"
                );
                let message = format!("the server's history has changed: {why}");
                self.record(RecordKind::Warning, HISTORY_CHANGED, message, now);
            }
            News::Doubt(lost) => tracing::info!(
                lost,
                "connection lost, writing waits for the next renewal of the lease"
            ),
            News::KindAdded(kind) => tracing::debug!(resource = %kind, "watched from now on"),
            News::KindRemoved(kind) => tracing::info!(
                resource = %kind,
                "no longer watched: the server does not have it any more"
            ),
            News::KindReplaced { old, new } => tracing::info!(
                resource = %new,
                from = old.version,
                to = new.version,
                "watched in another version"
            ),
            News::StopTimedOut => {
                tracing::warn!("shutdown timeout: cutting off what still runs; the lease is kept");
            }
        }
    }

    /// Records what became of the term on the Lease.
    pub(crate) fn record_term(&self, what: &str, now: Now) {
        let message = format!("{} {what}", self.identity());
        self.record(RecordKind::Normal, LEADER_ELECTION, message, now);
    }

    fn record(&self, kind: RecordKind, reason: &'static str, message: String, now: Now) {
        if let Some((options, events)) = &self.lease {
            events.record(&options.record(kind, reason, message), now);
        }
    }

    fn identity(&self) -> &str {
        let lease = self.lease.as_ref();
        lease.map_or("", |(options, _)| &options.settings.identity)
    }
}
