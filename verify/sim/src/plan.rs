//! The plan of a run: what users do, and what goes wrong, as data.
//!
//! A seed draws a plan; a plan can be cut down to what makes a run fail.

use std::time::Duration;

use crate::chance::Seed;
use crate::faults::{self, Fault};
use crate::workload::{self, Edit};

/// When something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At a virtual moment.
    At(Duration),
    /// Right after the server has taken so many writes of controllers.
    AfterWrite(u64),
    /// Right before so many events of watches have been delivered.
    BeforeDelivery(u64),
}

/// Something that happens, and when.
#[derive(Clone, Debug)]
pub struct Planned<T> {
    /// When.
    pub when: When,
    /// What.
    pub what: T,
    /// Its place in the plan that the seed drew, by which people name it.
    pub number: usize,
}

/// How a run goes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What decides everything that is not in the plan.
    pub seed: u64,
    /// How long faults may strike.
    pub rage: Duration,
    /// How many events the server keeps for watches.
    pub events_max: usize,
    /// Whether the server streams lists.
    pub streams_lists: bool,
    /// What users do.
    pub edits: Vec<Planned<Edit>>,
    /// What goes wrong.
    pub faults: Vec<Planned<Fault>>,
}

impl Plan {
    /// The plan that a seed draws for replicas with so many caches and controllers each.
    pub(crate) fn of(seed: u64, cast: &faults::Cast, own: Option<&[Planned<Edit>]>) -> Self {
        let mut draws = Seed(seed).child("plan");
        let rage = Duration::from_secs(draws.u64(600..720));
        let events_max = *[150, 600, 5000].get(draws.usize(0..3)).unwrap_or(&600);
        let streams_lists = draws.bool();
        let edits = match own {
            Some(own) => own.to_vec(),
            None => workload::draw(Seed(seed), rage),
        };
        let faults = faults::draw(&mut Seed(seed).child("faults"), cast, rage);
        Self {
            seed,
            rage,
            events_max,
            streams_lists,
            edits,
            faults,
        }
    }

    /// The same plan with only some of its faults and edits, by their numbers.
    pub fn keeping(&self, faults: Option<&[usize]>, edits: Option<&[usize]>) -> Self {
        let mut plan = self.clone();
        if let Some(kept) = faults {
            plan.faults.retain(|fault| kept.contains(&fault.number));
        }
        if let Some(kept) = edits {
            plan.edits.retain(|edit| kept.contains(&edit.number));
        }
        plan
    }
}
