//! Shrinking: the smallest part of a plan that still goes wrong in the same way.

use crate::{Plan, Planned, Sim};

/// The most runs that are spent on it.
const RUNS_MAX: usize = 400;

/// Takes faults and then edits away, in ever smaller portions, as long as the same invariant is
/// violated. The plan itself is the answer if it violates nothing.
pub fn shrink(sim: &Sim, plan: &Plan) -> Plan {
    let violated = |plan: &Plan| {
        let outcome = sim.run_plan(plan.clone(), false);
        outcome.violation.map(|violation| violation.invariant)
    };
    let Some(wanted) = violated(plan) else {
        return plan.clone();
    };
    let mut runs = 0;
    let mut still_wrong = |plan: &Plan| {
        runs += 1;
        runs <= RUNS_MAX && violated(plan).as_ref() == Some(&wanted)
    };
    let mut best = plan.clone();
    // Fewer edits may make more faults needless.
    for _ in 0..2 {
        best.faults = smallest(&best.faults, |faults| {
            let faults = faults.to_vec();
            still_wrong(&Plan {
                faults,
                ..best.clone()
            })
        });
        best.edits = smallest(&best.edits, |edits| {
            let edits = edits.to_vec();
            still_wrong(&Plan {
                edits,
                ..best.clone()
            })
        });
    }
    best
}

/// Delta debugging: leaves out portions, halves of them, and so on.
fn smallest<T: Clone>(
    all: &[Planned<T>],
    mut still_wrong: impl FnMut(&[Planned<T>]) -> bool,
) -> Vec<Planned<T>> {
    let mut kept = all.to_vec();
    let mut portion = kept.len().div_ceil(2);
    while portion > 0 {
        let mut from = 0;
        while from < kept.len() {
            let to = (from + portion).min(kept.len());
            let without: Vec<_> = [&kept[..from], &kept[to..]].concat();
            if still_wrong(&without) {
                kept = without;
            } else {
                from = to;
            }
        }
        portion = match portion {
            1 => 0,
            more => more.div_ceil(2),
        };
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::When;

    #[test]
    fn only_what_is_needed_is_left() {
        let all: Vec<Planned<u32>> = (0..40)
            .map(|number| Planned {
                when: When::At(Duration::ZERO),
                what: 0,
                number,
            })
            .collect();
        let needs = |kept: &[Planned<u32>]| {
            let has = |number| kept.iter().any(|one| one.number == number);
            has(3) && has(29)
        };
        let left: Vec<usize> = smallest(&all, needs).iter().map(|one| one.number).collect();
        assert_eq!(left, [3, 29]);
    }
}
