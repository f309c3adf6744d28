//! The tasks that feed caches, and their mailboxes.

use std::collections::BTreeMap;
use std::sync::Arc;

use flyball_informer::Command;
use flyball_process::CacheId;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// All tasks that feed caches, one for each cache.
#[derive(Default)]
pub(crate) struct Feeds {
    all: BTreeMap<CacheId, Mailbox>,
    is_closed: bool,
}

/// A task, and the newest command for it. A later command voids an earlier one, so there is room
/// for one only.
struct Mailbox {
    command: Option<Command>,
    /// Wakes the task when a command has come.
    arrival: Arc<Notify>,
    task: AbortHandle,
}

impl Feeds {
    /// Puts a command into the mailbox of a cache. `start` starts the task of a new cache; what it
    /// is given wakes it when a command has come.
    pub(crate) fn post(
        &mut self,
        id: CacheId,
        command: Command,
        start: impl FnOnce(Arc<Notify>) -> AbortHandle,
    ) {
        if self.is_closed {
            return;
        }
        let mailbox = self.all.entry(id).or_insert_with(|| {
            let arrival = Arc::new(Notify::new());
            Mailbox {
                command: None,
                task: start(arrival.clone()),
                arrival,
            }
        });
        mailbox.command = Some(command);
        mailbox.arrival.notify_one();
    }

    /// Takes the command that waits for a cache.
    pub(crate) fn take_mail(&mut self, id: CacheId) -> Option<Command> {
        self.all.get_mut(&id)?.command.take()
    }

    /// Ends the task of a cache that is gone.
    pub(crate) fn end(&mut self, id: CacheId) {
        if let Some(mailbox) = self.all.remove(&id) {
            mailbox.task.abort();
        }
    }

    /// Ends all tasks, and starts no other.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
        for mailbox in std::mem::take(&mut self.all).into_values() {
            mailbox.task.abort();
        }
    }
}

impl Drop for Feeds {
    fn drop(&mut self) {
        self.close();
    }
}
