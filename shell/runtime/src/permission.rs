//! The permission to write: whether this process has it, and when it ended.

use std::sync::Arc;
use std::time::Duration;

use flyball_client::Permit;
use flyball_process::Process;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::shared::Shared;

/// The permission as it was last announced. By the clock it may have ended since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Permission {
    pub(crate) is_given: bool,
    round: u64,
    /// How often it has ended. A write that was under way at an end is void, even if the
    /// permission was given again at once.
    ends: u64,
}

/// Announces the permission.
#[derive(Debug, Default)]
pub(crate) struct Permissions(watch::Sender<Permission>);

impl Permissions {
    /// Announces the permission as the process has it. It also ends with a round: what was planned
    /// before may not be written after.
    pub(crate) fn update(&self, process: &Process, now: Duration) {
        let (is_given, round) = (process.may_write(now), process.round());
        self.0.send_if_modified(|permission| {
            let was = *permission;
            let has_ended = was.is_given && (!is_given || was.round != round);
            *permission = Permission {
                is_given,
                round,
                ends: was.ends + u64::from(has_ended),
            };
            if is_given != was.is_given {
                tracing::debug!(is_given, round, "permission to write");
            }
            *permission != was
        });
    }

    /// Follows the announcements.
    pub(crate) fn follow(&self) -> watch::Receiver<Permission> {
        self.0.subscribe()
    }

    /// How often the permission has ended.
    pub(crate) fn ends(&self) -> u64 {
        self.0.borrow().ends
    }
}

/// The permission as clients ask for it.
pub(crate) struct WritePermit {
    pub(crate) shared: Arc<Shared>,
    /// The round in which the work was handed out; `None` for what depends on no plan.
    pub(crate) round: Option<u64>,
}

impl WritePermit {
    /// Whether a write that began after so many ends may have been kept back or given up.
    pub(crate) fn has_ended_since(&self, ends: u64) -> bool {
        self.shared.permissions.ends() != ends || !self.may_write()
    }
}

impl Permit for WritePermit {
    fn may_write(&self) -> bool {
        self.shared.look(|process, now| match self.round {
            Some(round) => process.may_send(round, now.monotonic),
            None => process.may_write(now.monotonic),
        })
    }

    fn ended(&self) -> BoxFuture<'static, ()> {
        let mut permission = self.shared.permissions.follow();
        let ends = permission.borrow().ends;
        let ended = async move {
            // A process that is gone has no permission either.
            let _ = permission
                .wait_for(|permission| !permission.is_given || permission.ends != ends)
                .await;
        };
        ended.boxed()
    }
}
