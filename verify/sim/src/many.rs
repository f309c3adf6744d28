//! Many seeds, on as many threads as there are: each run is a thread's own, so that nothing of it
//! depends on how many there are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::chance::Seed;
use crate::{Outcome, Reached, Sim, Tally, Violation};

/// A seed that something was wrong with.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// What was wrong.
    pub violation: Violation,
}

/// What came of many seeds.
#[derive(Debug, Default)]
pub struct Summary {
    /// How many were run.
    pub seeds: u64,
    /// What was wrong, by seed.
    pub failures: Vec<Failure>,
    /// How much virtual time passed in all of them.
    pub lasted: Duration,
    /// The longest time that one took to settle.
    pub settled_in_max: Duration,
    /// The fewest faults that struck in one run.
    pub faults_min: u64,
    /// How many steps were made.
    pub steps: u64,
    /// What was reached.
    pub tally: Tally,
    /// The hashes of all traces, mixed without regard to order.
    pub hash: u64,
}

impl Summary {
    fn add(&mut self, seed: u64, outcome: &Outcome) {
        let faults = outcome.tally.faults_total();
        self.faults_min = match self.seeds {
            0 => faults,
            _ => self.faults_min.min(faults),
        };
        self.seeds += 1;
        self.lasted += outcome.lasted;
        self.settled_in_max = self
            .settled_in_max
            .max(outcome.settled_in.unwrap_or_default());
        self.steps += outcome.trace.steps();
        self.hash = self
            .hash
            .wrapping_add(outcome.trace.hash().rotate_left((seed % 64) as u32));
        self.tally.add(&outcome.tally);
        if let Some(violation) = &outcome.violation {
            self.failures.push(Failure {
                seed,
                violation: violation.clone(),
            });
        }
    }
}

/// Runs the seeds from one on; stops early after so many failures.
pub fn many(sim: &Sim, first: u64, count: u64, threads: usize, failures_max: usize) -> Summary {
    let next = AtomicU64::new(0);
    let summary = Mutex::new(Summary::default());
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        (at < count).then(|| first.wrapping_add(at))
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let mut reached = Reached::default();
                while let Some(seed) = take() {
                    let outcome = sim.run_knowing(sim.plan(seed), false, reached);
                    let mut summary = match summary.lock() {
                        Ok(summary) => summary,
                        Err(poisoned) => poisoned.into_inner(),
                    };
                    summary.add(seed, &outcome);
                    reached = summary.tally.reached;
                    if summary.failures.len() >= failures_max {
                        next.store(count, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let mut summary = summary
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    summary.failures.sort_by_key(|failure| failure.seed);
    summary
}

/// What came of running seeds twice.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Replays {
    /// How many seeds were run.
    pub seeds: u64,
    /// A sum over the hashes of all traces: the same on every machine and in every build.
    pub digest: u64,
    /// Those whose second run was another than the first.
    pub different: Vec<u64>,
}

/// Runs so many seeds, which are far apart, twice each, and compares their traces.
pub fn replays(sim: &Sim, count: u64, threads: usize) -> Replays {
    let next = AtomicU64::new(0);
    let found = Mutex::new(Replays::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let seed = Seed(at).child("replays").u64(..);
                    let (one, other) = (sim.run(seed).trace.hash(), sim.run(seed).trace.hash());
                    let mut found = match found.lock() {
                        Ok(found) => found,
                        Err(poisoned) => poisoned.into_inner(),
                    };
                    found.seeds += 1;
                    let turned = one.rotate_left((at % 64) as u32);
                    found.digest = found.digest.wrapping_add(turned);
                    if one != other {
                        found.different.push(seed);
                    }
                }
            });
        }
    });
    let mut found = found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    found.different.sort_unstable();
    found
}
