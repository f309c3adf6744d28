//! Invariants: what must hold after every step, whatever goes wrong.
//!
//! One small file per property. Each cites its authority and looks at what just happened, at what
//! whoever did it had seen, and at what is so.
//!
//! Controllers to come bring theirs along: at most one pod per identity of a StatefulSet, over all
//! that still run (`identities.rs`); an index of a Job counted once (`indexes.rs`); disruptions
//! never beyond a budget (`budgets.rs`). Each becomes one more line of [`Invariants::all`].

mod availability;
mod collection;
mod completeness;
mod conditions;
mod emptiness;
mod freshness;
mod handover;
mod histories;
mod incarnations;
mod leadership;
mod own_writes;
mod ownership;
mod pace;
mod preconditions;
mod quiet;
mod release;
mod revisions;
mod rollouts;
mod status;
mod surge;
mod users;

use std::time::Duration;

use flyball_informer::Snapshot;
use flyball_plan::{Action, Answer};

use crate::cluster::{Decided, Flight};
use crate::step::Life;
use crate::truth::{Changed, Truth};

pub use users::Always;

/// What just happened.
pub(crate) enum Happened<'a> {
    /// A sync decided on a stage.
    Decided(&'a Decided<'a>),
    /// A write of a controller leaves.
    Sent {
        controller: &'static str,
        /// Under which name it takes part in an election, if it needs one.
        holder: Option<String>,
        part: &'a str,
    },
    /// A request of a controller has reached the server.
    Requested {
        life: Life,
        controller: &'static str,
    },
    /// Something changed; by whom, if it was a replica, and which controller of it.
    Committed {
        by: Option<(&'a Flight, Option<&'static str>)>,
        changed: &'a Changed,
    },
    /// A backup was made, from which this fault will restore the server.
    BackedUp(usize),
    /// The server was restored from the backup of this fault.
    Restored(usize),
    /// A controller hears what became of an action.
    Answered {
        life: Life,
        controller: &'static str,
        key: &'a str,
        seen: &'a Snapshot,
        action: &'a Action,
        answer: &'a Answer,
    },
}

/// One property.
pub(crate) trait Invariant {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// Says what is wrong, if anything is.
    fn check(
        &mut self,
        happened: &Happened<'_>,
        truth: &Truth,
        now: Duration,
    ) -> Result<(), String>;
}

/// Something that must never be, was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which invariant.
    pub invariant: String,
    /// What was wrong.
    pub what: String,
    /// When.
    pub at: Duration,
}

/// All properties, and what they remember.
pub(crate) struct Invariants(Vec<Box<dyn Invariant>>);

impl Invariants {
    /// Those that every controller keeps, and those of the production controllers.
    pub(crate) fn all() -> Self {
        Self(vec![
            Box::new(preconditions::Preconditions),
            Box::new(leadership::Leadership),
            Box::new(completeness::Completeness),
            Box::new(conditions::Conditions),
            Box::new(freshness::Freshness::default()),
            Box::new(handover::Handover::default()),
            Box::new(histories::Histories::default()),
            Box::new(incarnations::Incarnations),
            Box::new(own_writes::OwnWrites::default()),
            Box::new(ownership::Ownership),
            Box::new(collection::Collection::default()),
            Box::new(release::Release),
            Box::new(emptiness::Emptiness),
            Box::new(surge::Surge),
            Box::new(availability::Availability),
            Box::new(revisions::Revisions),
            Box::new(status::Status),
            Box::new(pace::Pace::default()),
        ])
    }

    /// From now on nothing may be written.
    pub(crate) fn be_quiet(&mut self) {
        self.add(Box::new(quiet::Quiet));
    }

    /// One more.
    pub(crate) fn add(&mut self, invariant: Box<dyn Invariant>) {
        self.0.push(invariant);
    }

    /// The first property that does not hold.
    pub(crate) fn check(
        &mut self,
        happened: &Happened<'_>,
        truth: &Truth,
        now: Duration,
    ) -> Option<Violation> {
        for invariant in &mut self.0 {
            if let Err(what) = invariant.check(happened, truth, now) {
                return Some(Violation {
                    invariant: invariant.name().to_owned(),
                    what,
                    at: now,
                });
            }
        }
        None
    }
}
