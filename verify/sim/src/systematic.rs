//! Systematic mode: not drawn but counted out. For each scenario a run without faults says how
//! many writes and events there are; then every one of them has its own run in which the writer
//! dies right after that write, that event is hidden for a minute, or the writer comes back to
//! ever older views. Then come pairs of these, evenly over all that there are, as many as fit the
//! budget.

mod scenarios;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::{Fault, Plan, Planned, Sim, Violation, When};

/// How old the oldest view is that a writer comes back to, in revisions.
const BEHIND_MAX: u64 = 6;

/// For how long an event is hidden: longer than a term lasts.
const HIDDEN: Duration = Duration::from_secs(60);

/// How long the edits of a scenario and what follows take.
const LASTS: Duration = Duration::from_secs(240);

/// What came of it.
#[derive(Debug, Default)]
pub struct Systematic {
    /// What was gone through.
    pub scenarios: Vec<Counted>,
    /// What was wrong: the scenario, the faults, and how.
    pub failures: Vec<(&'static str, String, Violation)>,
}

/// How much there was of one scenario.
#[derive(Debug)]
pub struct Counted {
    /// Its name.
    pub name: &'static str,
    /// How often controllers wrote.
    pub writes: u64,
    /// How many events watches told of.
    pub events: u64,
    /// How many plans had one fault.
    pub singles: usize,
    /// How many plans had two, and how many pairs there are.
    pub pairs: (usize, usize),
}

/// Faults, each with its moment.
type Faults = Vec<(When, Fault)>;

/// Goes through all scenarios, on so many threads, with so many pairs of faults for each.
pub fn systematic(threads: usize, pairs_max: usize) -> Systematic {
    let mut all = Systematic::default();
    for (name, edits) in scenarios::all() {
        let sim = Sim::kubernetes().edits(edits);
        let calm = Plan {
            faults: Vec::new(),
            rage: LASTS,
            ..sim.plan(1)
        };
        let outcome = sim.run_plan(calm.clone(), false);
        if let Some(violation) = outcome.violation {
            all.failures.push((name, "no fault".to_owned(), violation));
            continue;
        }
        let singles = every(outcome.writes, outcome.deliveries);
        let (pairs, pairs_all) = pairs(&singles, pairs_max);
        all.scenarios.push(Counted {
            name,
            writes: outcome.writes,
            events: outcome.deliveries,
            singles: singles.len(),
            pairs: (pairs.len(), pairs_all),
        });
        let singles = singles.into_iter().map(|one| vec![one]);
        let plans: Vec<Faults> = singles.chain(pairs).collect();
        let failures = run_each(&sim, &calm, &plans, threads);
        let failures = failures.into_iter();
        all.failures
            .extend(failures.map(|(fault, violation)| (name, fault, violation)));
    }
    all
}

/// One fault for everything that is counted.
fn every(writes: u64, deliveries: u64) -> Faults {
    let crash = |behind| Fault::CrashWriter {
        down: Duration::from_secs(1),
        behind,
    };
    let mut faults = Vec::new();
    for write in 1..=writes {
        for behind in 0..=BEHIND_MAX {
            faults.push((When::AfterWrite(write), crash(behind)));
        }
    }
    for delivery in 1..=deliveries {
        let hide = Fault::HideEvent { lasts: HIDDEN };
        faults.push((When::BeforeDelivery(delivery), hide));
    }
    faults
}

/// At most so many pairs, evenly over all, and how many there are. Of crashes only those that come
/// back to the present are paired.
fn pairs(singles: &Faults, pairs_max: usize) -> (Vec<Faults>, usize) {
    let is_plain = |fault: &Fault| match fault {
        Fault::CrashWriter { behind, .. } => *behind == 0,
        _ => true,
    };
    let plain: Vec<_> = singles
        .iter()
        .filter(|(_, fault)| is_plain(fault))
        .collect();
    let all = plain.len() * plain.len().saturating_sub(1) / 2;
    let stride = all.div_ceil(pairs_max.max(1)).max(1);
    let firsts = plain.iter().enumerate();
    let every = firsts.flat_map(|(at, one)| {
        let others = plain[at + 1..].iter();
        others.map(move |other| vec![(*one).clone(), (*other).clone()])
    });
    let wanted = every.step_by(stride).take(pairs_max);
    (wanted.collect(), all)
}

fn run_each(sim: &Sim, calm: &Plan, plans: &[Faults], threads: usize) -> Vec<(String, Violation)> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while let Some(faults) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let told = faults
                        .iter()
                        .map(|(when, what)| format!("{what:?} {when:?}"));
                    let told = told.collect::<Vec<_>>().join(", ");
                    let planned = faults.iter().enumerate();
                    let planned = planned.map(|(number, (when, what))| Planned {
                        when: *when,
                        what: what.clone(),
                        number,
                    });
                    let plan = Plan {
                        faults: planned.collect(),
                        ..calm.clone()
                    };
                    if let Some(violation) = sim.run_plan(plan, false).violation {
                        let mut found = match found.lock() {
                            Ok(found) => found,
                            Err(poisoned) => poisoned.into_inner(),
                        };
                        found.push((told, violation));
                    }
                }
            });
        }
    });
    let mut found = found
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_counted_out_once_and_pairs_fit_the_budget() {
        let singles = every(3, 4);
        assert_eq!(singles.len(), 3 * 7 + 4);
        let (some, all) = pairs(&singles, 1000);
        assert_eq!((some.len(), all), (21, 21));
        let (some, all) = pairs(&singles, 5);
        assert_eq!((some.len(), all), (5, 21));
        assert_eq!(pairs(&singles, 0).0.len(), 0);
    }
}
