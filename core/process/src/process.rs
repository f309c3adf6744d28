//! The process: what it is made of, and how it starts.

use std::time::Duration;

use flyball_election::Candidate;
use flyball_plan::{Driver, Now, Sight};

use crate::caches::Caches;
use crate::controllers::Slot;
use crate::discovery::Follower;
use crate::effect::Effect;
use crate::election::Standing;
use crate::flaws::{Flaw, Flaws, Sound};
use crate::history::History;
use crate::stop::Stopping;
use crate::views::{ViewConflict, find_conflict};

/// The instant of a decision, and its chance.
pub struct Moment<'a> {
    /// Both clocks.
    pub now: Now,
    /// Draws a number from 0 to 1.
    pub chance: &'a mut dyn FnMut() -> f64,
}

impl Moment<'_> {
    pub(crate) fn jitter(&mut self) -> f64 {
        (self.chance)()
    }
}

/// How a process behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// After this time everything cached is routed once more.
    pub resync_period: Duration,
    /// How long a stop may take before what still runs is cut off; zero for as long as it takes.
    pub shutdown_timeout: Duration,
    /// Whether a clean stop gives the Lease up at once.
    pub release_on_exit: bool,
}

/// A process of controllers.
///
/// To run one: call [`Process::start`], carry out effects, feed it what they lead to, and ask the
/// parts for what is due ([`Process::elect`], [`Process::next`], [`Process::discovery_due`],
/// [`Process::resync_due`]).
pub struct Process<F = Sound> {
    pub(crate) flaws: F,
    pub(crate) settings: Settings,
    pub(crate) caches: Caches,
    pub(crate) caches_started: bool,
    pub(crate) controllers: Vec<Slot>,
    pub(crate) follower: Option<Follower>,
    pub(crate) standing: Option<Standing>,
    pub(crate) history: History,
    pub(crate) stopping: Option<Stopping>,
    pub(crate) resync_at: Duration,
    pub(crate) needs_resync: bool,
    /// Whether kinds were listed anew since everything was last routed.
    pub(crate) resync_at_begin: bool,
    pub(crate) effects: Vec<Effect>,
}

impl Process<Sound> {
    /// A process that has not started. Without a candidate it leads from the start.
    ///
    /// # Errors
    /// When two controllers want one kind cached as different types.
    pub fn new(
        drivers: Vec<Box<dyn Driver>>,
        candidate: Option<Candidate>,
        settings: Settings,
    ) -> Result<Self, Box<ViewConflict>> {
        Self::with_flaws(drivers, candidate, settings, Sound)
    }
}

impl<F: Flaws> Process<F> {
    /// A process that makes mistakes, for the simulator.
    ///
    /// # Errors
    /// As [`Process::new`].
    pub fn with_flaws(
        drivers: Vec<Box<dyn Driver>>,
        candidate: Option<Candidate>,
        settings: Settings,
        flaws: F,
    ) -> Result<Self, Box<ViewConflict>> {
        let sight = drivers.iter().map(|driver| driver.sight()).max();
        let sight = sight.unwrap_or_default();
        let descriptors: Vec<_> = drivers.iter().map(|driver| driver.descriptor()).collect();
        match find_conflict(&descriptors) {
            Some(conflict) if !flaws.has(Flaw::SecondView) => return Err(conflict.into()),
            _ => {}
        }
        let watches = descriptors.iter().flat_map(|one| one.watches);
        let caches = Caches::new(watches, sight == Sight::Everything);
        Ok(Self {
            flaws,
            settings,
            caches,
            caches_started: false,
            controllers: drivers.into_iter().map(Slot::new).collect(),
            follower: (sight != Sight::Named).then(|| Follower::new(sight)),
            standing: candidate.map(Standing::new),
            history: History::default(),
            stopping: None,
            resync_at: Duration::MAX,
            needs_resync: false,
            resync_at_begin: false,
            effects: Vec::new(),
        })
    }

    /// Starts. A process that takes part in an election lists once the election has answered, so
    /// that a leader's first lists are newer than its term.
    pub fn start(&mut self, moment: &mut Moment<'_>) {
        self.plan_resync(moment);
        match self.standing {
            Some(_) => self.effects.push(Effect::Elect),
            None => self.start_caches(moment),
        }
    }

    /// What is to be carried out, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Whether anything is to be carried out.
    pub fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// Whether a write may be sent now. Ask immediately before it is handed to a connection.
    pub fn may_write(&self, now: Duration) -> bool {
        let overstays = self.flaws.has(Flaw::TermBeyondClock) && self.holds_lease();
        (self.leads(now) || overstays) && self.history.doubt.is_none()
    }

    /// Whether a write that was handed out in a round may be sent now.
    pub fn may_send(&self, round: u64, now: Duration) -> bool {
        round == self.caches.round && self.may_write(now)
    }
}
