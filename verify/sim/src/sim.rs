//! The way in: what is simulated, and what came of it.

use std::sync::Arc;
use std::time::Duration;

use crate::bugs::Bug;
use crate::calm::{BOUNDS, QUIET, Unsettled, unsettled};
use crate::cluster::{Cluster, controller_names};
use crate::coverage::{Coverage, Reached, coverage};
use crate::invariants::{Always, Invariants, Violation};
use crate::parts::Part;
use crate::plan::{Plan, Planned, When};
use crate::tally::Tally;
use crate::trace::Trace;
use crate::truth::Truth;
use crate::workload::Edit;

/// How often it is looked whether everything has settled.
const LOOK: Duration = Duration::from_secs(30);

/// A cluster to be simulated, from any seed.
///
/// ```
/// use flyball_sim::{Part, Sim};
///
/// let outcome = Sim::kubernetes().run(1);
/// assert_eq!(outcome.violation, None);
/// ```
#[derive(Clone)]
pub struct Sim {
    parts: Vec<Part>,
    edits: Option<Vec<Planned<Edit>>>,
    always: Vec<Always>,
    settles: Option<Always>,
    bug: Option<Bug>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    /// What was wrong; `None` if nothing was.
    pub violation: Option<Violation>,
    /// How much virtual time passed.
    pub lasted: Duration,
    /// How long it took to settle once faults had stopped; `None` if it did not.
    pub settled_in: Option<Duration>,
    /// The trace.
    pub trace: Trace,
    /// What was reached.
    pub tally: Tally,
    /// How many writes of controllers the server took while faults could strike.
    pub writes: u64,
    /// How many events of watches were delivered until then.
    pub deliveries: u64,
}

impl Sim {
    /// Kubernetes, with workloads and edits that each seed draws.
    pub fn kubernetes() -> Self {
        Self::of(Part::kubernetes())
    }

    /// Other programs.
    pub fn of(parts: Vec<Part>) -> Self {
        Self {
            parts,
            edits: None,
            always: Vec::new(),
            settles: None,
            bug: None,
        }
    }

    /// With these edits instead of drawn ones, each at its time.
    pub fn edits(mut self, edits: impl IntoIterator<Item = (Duration, Edit)>) -> Self {
        let planned = edits.into_iter().enumerate();
        let planned = planned.map(|(number, (at, what))| Planned {
            when: When::At(at),
            what,
            number,
        });
        self.edits = Some(planned.collect());
        self
    }

    /// With one more property that must hold after every change.
    pub fn always(
        mut self,
        name: &'static str,
        holds: impl Fn(&Truth) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let holds = Arc::new(holds);
        self.always.push(Always { name, holds });
        self
    }

    /// With a property that must come to hold once faults have stopped, and stay so.
    pub fn settles(
        mut self,
        name: &'static str,
        holds: impl Fn(&Truth) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let holds = Arc::new(holds);
        self.settles = Some(Always { name, holds });
        self
    }

    /// With a deliberate bug.
    pub fn with_bug(mut self, bug: Option<Bug>) -> Self {
        self.bug = bug;
        self
    }

    /// The plan that a seed draws.
    pub fn plan(&self, seed: u64) -> Plan {
        Plan::of(seed, &Cluster::cast(&self.parts), self.edits.as_deref())
    }

    /// The names of all controllers.
    pub fn controllers(&self) -> Vec<&'static str> {
        controller_names(self.parts.iter())
    }

    /// What many runs of it came to, and what not.
    pub fn coverage(&self, tally: &Tally) -> Coverage {
        let makes = self.parts.iter().flat_map(|part| &part.controllers);
        let drivers: Vec<_> = makes.map(|make| make()).collect();
        coverage(tally, &drivers)
    }

    /// Runs the plan of a seed.
    pub fn run(&self, seed: u64) -> Outcome {
        self.run_plan(self.plan(seed), false)
    }

    /// Runs a plan; with a timeline, if somebody wants to read it.
    pub fn run_plan(&self, plan: Plan, readable: bool) -> Outcome {
        self.run_knowing(plan, readable, Reached::default())
    }

    /// Runs a plan when some rules are known to be reached already: nobody looks for them again.
    pub(crate) fn run_knowing(&self, plan: Plan, readable: bool, reached: Reached) -> Outcome {
        let trace = match readable {
            true => Trace::readable(),
            false => Trace::default(),
        };
        let mut invariants = Invariants::all();
        for always in &self.always {
            invariants.add(Box::new(always.clone()));
        }
        let rage = plan.rage;
        let mut cluster = match Cluster::new(plan, &self.parts, invariants, self.bug, trace) {
            Ok(cluster) => cluster,
            // The timing of elections is a constant that a test runs.
            Err(error) => unreachable!("{error}"),
        };
        cluster.tally.reached = reached;
        cluster.run(rage);
        let (writes, deliveries) = cluster.counts();
        let settled_in = match cluster.violation {
            Some(_) => None,
            None => self.settle(&mut cluster),
        };
        Outcome {
            violation: cluster.violation,
            lasted: cluster.now,
            settled_in,
            trace: cluster.trace,
            tally: cluster.tally,
            writes,
            deliveries,
        }
    }

    /// Faults have stopped: everything settles within its bound, once more after a last trial, and
    /// stays so.
    fn settle(&self, cluster: &mut Cluster) -> Option<Duration> {
        cluster.calm();
        let line = "--- faults have stopped".to_owned();
        cluster.trace.tell(cluster.now, || line);
        let settled_in = self.reach(cluster)?;
        let line = "--- a last trial".to_owned();
        cluster.trace.tell(cluster.now, || line);
        cluster.meddle_unseen(cluster.plan.seed);
        self.reach(cluster)?;
        cluster.watch_for_writes();
        cluster.run(cluster.now + QUIET);
        if cluster.violation.is_some() {
            return None;
        }
        if let Some(one) = self.open(&cluster.truth).first() {
            let what = format!("{}: {}", one.controller, one.what);
            violate(cluster, "stays in its desired state", what);
            return None;
        }
        Some(settled_in)
    }

    /// How long it takes until everything is as it should be; `None` if something is wrong.
    fn reach(&self, cluster: &mut Cluster) -> Option<Duration> {
        let began = cluster.now;
        loop {
            cluster.run(cluster.now + LOOK);
            if cluster.violation.is_some() {
                return None;
            }
            let passed = cluster.now - began;
            let open = self.open(&cluster.truth);
            if open.is_empty() {
                return Some(passed);
            }
            let late = open.iter().find(|one| passed > bound(one.controller));
            if let Some(late) = late {
                let what = format!("{}: {}", late.controller, late.what);
                violate(cluster, "reaches its desired state within its bound", what);
                return None;
            }
        }
    }

    /// What is not yet as it should be.
    fn open(&self, truth: &Truth) -> Vec<Unsettled> {
        let mut open = unsettled(truth);
        // What nobody is there to do is not waited for.
        let names = self.controllers();
        open.retain(|one| names.contains(&one.controller));
        if let Some(settles) = &self.settles
            && let Err(what) = (settles.holds)(truth)
        {
            open.push(Unsettled {
                controller: settles.name,
                what,
            });
        }
        open
    }
}

fn bound(controller: &str) -> Duration {
    let found = BOUNDS.iter().find(|(name, _)| *name == controller);
    found.map_or(Duration::from_secs(20 * 60), |(_, bound)| *bound)
}

fn violate(cluster: &mut Cluster, invariant: &str, what: String) {
    let at = cluster.now;
    let line = format!("VIOLATION: {invariant}: {what}");
    cluster.trace.tell(at, || line);
    cluster.violation = Some(Violation {
        invariant: invariant.to_owned(),
        what,
        at,
    });
}

#[cfg(test)]
mod tests;
