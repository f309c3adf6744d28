//! The process behind its lock, and the wake-ups of the tasks that carry its decisions out.

use std::sync::{Arc, Mutex};

use flyball_client::Client;
use flyball_informer::Command;
use flyball_plan::Now;
use flyball_process::{CacheId, Moment, Process};
use tokio::sync::Notify;

use crate::clock::{Clock, lock};
use crate::feeds::Feeds;
use crate::news::NewsDesk;
use crate::permission::Permissions;

/// A process, and what its decisions reach.
///
/// Invariant: the lock is never held across an await, and effects are carried out before it is
/// released. So no task sees a decision whose effects are still to come.
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) clock: Clock,
    /// What lists, watches and discovery are made with.
    pub(crate) informers: Client,
    pub(crate) wakeups: WakeUps,
    pub(crate) permissions: Permissions,
    pub(crate) news: NewsDesk,
}

/// What the lock protects.
pub(crate) struct State {
    pub(crate) process: Process,
    pub(crate) feeds: Feeds,
}

/// The wake-ups of the parts that sleep until something is due.
pub(crate) struct WakeUps {
    /// One for each controller, by its id.
    pub(crate) controllers: Vec<Notify>,
    pub(crate) election: Notify,
    pub(crate) discovery: Notify,
    /// The task that follows a stop.
    pub(crate) stop: Notify,
}

impl Shared {
    pub(crate) fn new(process: Process, informers: Client, clock: Clock, news: NewsDesk) -> Self {
        let controllers = process.descriptors().map(|_| Notify::new()).collect();
        let permissions = Permissions::default();
        permissions.update(&process, clock.monotonic());
        Self {
            state: Mutex::new(State {
                process,
                feeds: Feeds::default(),
            }),
            clock,
            informers,
            wakeups: WakeUps {
                controllers,
                election: Notify::new(),
                discovery: Notify::new(),
                stop: Notify::new(),
            },
            permissions,
            news,
        }
    }

    /// Lets the process decide, and carries the effects out.
    pub(crate) fn act<T>(
        self: &Arc<Self>,
        decide: impl FnOnce(&mut Process, &mut Moment<'_>) -> T,
    ) -> T {
        self.act_on(&mut lock(&self.state), decide)
    }

    /// As [`Shared::act`], on behalf of the task that feeds a cache. A command in its mailbox comes
    /// first: what the task has to say is then about a request that is no longer wanted.
    pub(crate) fn feed<T>(
        self: &Arc<Self>,
        id: CacheId,
        decide: impl FnOnce(&mut Process, &mut Moment<'_>) -> T,
    ) -> Result<T, Command> {
        let mut state = lock(&self.state);
        match self.take_mail_of(&mut state, id) {
            Some(command) => Err(command),
            None => Ok(self.act_on(&mut state, decide)),
        }
    }

    /// Takes the command that waits in the mailbox of a cache.
    pub(crate) fn take_mail(self: &Arc<Self>, id: CacheId) -> Option<Command> {
        self.take_mail_of(&mut lock(&self.state), id)
    }

    fn take_mail_of(self: &Arc<Self>, state: &mut State, id: CacheId) -> Option<Command> {
        let command = state.feeds.take_mail(id)?;
        // What was fed before the command came does not wait for the answer to it.
        self.act_on(state, |process, moment| process.publish(id, moment));
        Some(command)
    }

    /// Looks at the process without changing it.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Process, Now) -> T) -> T {
        let now = self.clock.now();
        look(&lock(&self.state).process, now)
    }

    /// Ends all tasks that feed caches, and starts no other.
    pub(crate) fn close_feeds(&self) {
        lock(&self.state).feeds.close();
    }

    fn act_on<T>(
        self: &Arc<Self>,
        state: &mut State,
        decide: impl FnOnce(&mut Process, &mut Moment<'_>) -> T,
    ) -> T {
        let mut moment = Moment {
            now: self.clock.now(),
            chance: &mut fastrand::f64,
        };
        let decided = decide(&mut state.process, &mut moment);
        self.carry_out(state, &mut moment);
        decided
    }
}
