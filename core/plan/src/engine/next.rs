//! What an engine has to say.

use std::time::Duration;

use crate::{Actions, Report, Target, Unseen};

/// Names one running sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SyncId(pub(super) u64);

/// Actions that a running sync wants done.
#[derive(Debug)]
pub struct Work {
    /// Whom to answer.
    pub id: SyncId,
    /// What is being synced, for logs.
    pub key: String,
    /// What to do.
    pub actions: Actions,
}

/// How a sync ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It rests until something changes.
    Rested,
    /// It looks again after this time.
    Waits(Duration),
    /// It failed and is tried again after this time.
    Retries {
        /// Why it failed.
        error: String,
        /// When it is tried again.
        after: Duration,
    },
    /// An object had changed since it was seen: it looks again after this time.
    Conflicts {
        /// What the server said.
        error: String,
        /// When it looks again.
        after: Duration,
    },
    /// The server's validation refused what was sent: it is left until something changes, and
    /// looked at once in a long while.
    Permanent {
        /// What the server said.
        error: String,
    },
    /// It failed too often and is left until something changes.
    GaveUp {
        /// Why it failed the last time.
        error: String,
        /// How often it failed.
        failures: u32,
    },
    /// There is nothing to reconcile under this key.
    Absent,
    /// The caches have not shown its own writes yet.
    Gated(Unseen),
}

/// The end of a sync, for logs, metrics and whoever explains decisions.
#[derive(Clone, Debug)]
pub struct Finished {
    /// What was synced.
    pub key: String,
    /// The object that the key stands for, if it is one.
    pub about: Option<Target>,
    /// How it ended.
    pub outcome: Outcome,
    /// Why; empty if nothing was decided.
    pub report: Report,
}

/// What an engine has to say when asked to go on.
#[derive(Debug)]
pub enum Next {
    /// A sync wants these actions done.
    Work(Work),
    /// A sync ended without wanting anything more.
    Finished(Box<Finished>),
    /// Nothing to do before the next change, answer, or this time.
    Idle(Option<Duration>),
}
