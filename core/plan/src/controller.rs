//! The contract of a controller.

use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use flyball_api::{ObjectName, Remedy, Timestamp};
use flyball_informer::{Change, Snapshot};

use crate::{Actions, Answers, Descriptor, Failure, Report, Rule, Sight, Target};

/// A control loop as pure functions.
///
/// `&self` holds settings (from flags), never state. What a controller remembers between syncs is in
/// its [`Controller::Memory`], which it must be able to lose at any time.
pub trait Controller: Send + Sized + 'static {
    /// What is queued and synced: typed, never a string to be split again.
    type Key: Key;
    /// What it remembers between syncs; `()` for nothing.
    ///
    /// It begins empty with every term and may be emptied before any sync. It only ever saves work or
    /// paces: with an empty memory before every sync the same objects are written.
    type Memory: Default + fmt::Debug + Send + 'static;
    /// All that a sync looks at: immutable, cheap to build from indexed caches, printable.
    type Observation: fmt::Debug + Send + 'static;

    /// Names, watched kinds and pacing.
    const DESCRIPTOR: Descriptor;

    /// What it sees besides the kinds it watches by name.
    const SIGHT: Sight = Sight::Named;

    /// The rules that its reports name, besides [`crate::COMMON`]. Their codes are stable.
    const RULES: &'static [Rule] = &[];

    /// The object that a key stands for, so that reports can be followed from one to the next.
    fn about(&self, _key: &Self::Key) -> Option<Target> {
        None
    }

    /// Which keys a change concerns. Asking for too many costs a sync each; too few loses a
    /// trigger.
    fn route(&self, change: &Change, store: &Snapshot) -> Keys<Self::Key>;

    /// How long a key that a change concerns is left alone before it is looked at. Changes that
    /// follow meanwhile do not put it off any further.
    fn patience(&self, _key: &Self::Key) -> Duration {
        Duration::ZERO
    }

    /// The keys that exist without a change: they are enqueued when the controller begins a term.
    /// One that is to be synced periodically rests for its period.
    fn initial(&self) -> Keys<Self::Key> {
        Keys::new()
    }

    /// What there is to see of a key; `None` if there is nothing to reconcile (any more).
    fn observe(
        &self,
        key: &Self::Key,
        store: &Snapshot,
        memory: &Self::Memory,
    ) -> Option<Self::Observation>;

    /// Decides what comes next, given what was seen and what was answered so far in this sync.
    ///
    /// Called again with the answers appended after each [`Step::Do`], until it rests. It must
    /// rest after a bounded number of stages, and each stage has a name of its own.
    fn step(&self, seen: &Self::Observation, answers: &Answers, now: Now) -> Step;

    /// Changes the memory. Nothing else does.
    fn remember(&self, _memory: &mut Self::Memory, _learnt: &Learnt<'_, Self>, _now: Now) {}

    /// Which other keys are to be looked at now that a sync has come to its rest, because of what
    /// it was answered: what a sync has learnt may matter to more than its own key.
    fn follow(&self, _seen: &Self::Observation, _answers: &Answers) -> Keys<Self::Key> {
        Keys::new()
    }
}

/// Something that a controller may remember.
pub enum Learnt<'a, C: Controller> {
    /// A change was routed to some key of the controller.
    Changed(&'a Change),
    /// A sync came to its rest.
    Rested {
        /// What was synced.
        key: &'a C::Key,
        /// What it saw.
        seen: &'a C::Observation,
        /// What it was answered.
        answers: &'a Answers,
    },
}

/// What a work queue can hold.
pub trait Key: Clone + Eq + Ord + Hash + fmt::Display + fmt::Debug + Send + 'static {
    /// The namespace it belongs to, for fairness; empty if none.
    fn namespace(&self) -> &str;
}

impl Key for ObjectName {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// The keys that a change concerns.
pub type Keys<K> = Vec<K>;

/// The two clocks: one that never jumps for waiting, one that objects are stamped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Time since an origin that stays the same for the life of the process.
    pub monotonic: Duration,
    /// The time of day.
    pub wall: Timestamp,
}

impl Now {
    /// The origin of the first clock, at this time of day: for a look at a single moment.
    pub const fn at(wall: Timestamp) -> Self {
        Self {
            monotonic: Duration::ZERO,
            wall,
        }
    }
}

/// What comes next in a sync.
#[derive(Clone, Debug)]
pub enum Step {
    /// Run these, then ask again.
    Do(Actions),
    /// Nothing more to do for now.
    Rest(Box<Rest>),
}

/// The end of a sync.
#[derive(Clone, Debug)]
pub struct Rest {
    /// When to look again.
    pub revisit: Revisit,
    /// Why.
    pub report: Report,
}

impl Step {
    /// Rests until something changes.
    pub fn rest(report: Report) -> Self {
        Self::rest_until(Revisit::OnChange, report)
    }

    /// Rests for a while.
    pub fn rest_for(delay: Duration, report: Report) -> Self {
        Self::rest_until(Revisit::After(delay), report)
    }

    /// Gives up this sync, for another try when that may help: see [`Failure`]. A report that names
    /// no wait waits for what the failure does.
    pub fn retry(error: impl Into<Failure>, mut report: Report) -> Self {
        let Failure { text, remedy, wait } = error.into();
        report.waits_for.get_or_insert(*wait);
        let revisit = match remedy {
            Remedy::Retry => Revisit::BackOff(text),
            Remedy::LookAgain => Revisit::Conflict(text),
            Remedy::Edit => Revisit::Permanent(text),
        };
        Self::rest_until(revisit, report)
    }

    fn rest_until(revisit: Revisit, report: Report) -> Self {
        Self::Rest(Box::new(Rest { revisit, report }))
    }
}

/// When to look at a key again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revisit {
    /// When something changes.
    OnChange,
    /// After this time, or earlier if something changes.
    After(Duration),
    /// The sync failed for this reason: again with growing delay.
    BackOff(String),
    /// An object had changed since it was seen: again soon. This counts as no failure.
    Conflict(String),
    /// The server's validation refused what was sent, for this reason: again when something
    /// changes, and once in a long while, because a webhook may have made the object what it is.
    Permanent(String),
}
