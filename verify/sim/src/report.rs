//! Reports: what many runs came to, in words and tables.

use std::fmt::Write as _;
use std::time::Duration;

use crate::faults::KINDS;
use crate::{BUGS, Bug, Coverage, Plan, Replays, Sim, Summary, Systematic, many};

/// What came of many seeds that took this long in real time.
pub fn summary(sim: &Sim, summary: &Summary, took: Duration) -> String {
    let names = &sim.controllers();
    let mut text = String::new();
    let seconds = took.as_secs_f64().max(1e-9);
    let ratio = summary.lasted.as_secs_f64() / seconds;
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{} seeds, {} failed; {:.1} s, {:.1} seeds/s; {:.0} virtual hours, {ratio:.0} times real time",
        summary.seeds,
        summary.failures.len(),
        seconds,
        per(summary.seeds, seconds),
        summary.lasted.as_secs_f64() / 3600.0,
    );
    let _ = writeln!(
        text,
        "{} steps, {} requests, {} terms; at least {} faults in each; settled within {} s; traces {:016x}",
        summary.steps,
        summary.tally.requests,
        summary.tally.terms,
        summary.faults_min,
        summary.settled_in_max.as_secs(),
        summary.hash,
    );
    let _ = writeln!(text, "\nfaults, and how often each concerned a controller:");
    faults(&mut text, summary, names);
    let _ = writeln!(text, "\nwhat each controller came to:");
    for name in names {
        let count = |map: &std::collections::BTreeMap<_, std::collections::BTreeSet<_>>| {
            map.get(name).map_or(0, |set| set.len())
        };
        let _ = writeln!(
            text,
            "  {name}: {} stages, {} rules, {} reasons",
            count(&summary.tally.stages),
            count(&summary.tally.rules),
            count(&summary.tally.reasons),
        );
        if let Some(rules) = summary.tally.rules.get(name) {
            let rules: Vec<&str> = rules.iter().copied().collect();
            let _ = writeln!(text, "    {}", rules.join("; "));
        }
    }
    let Coverage {
        rules,
        pairings,
        missing,
    } = sim.coverage(&summary.tally);
    let _ = writeln!(
        text,
        "\n{} of {} files with rules reached, {} of {} pairings of a fault and a controller hit",
        rules.0, rules.1, pairings.0, pairings.1
    );
    for one in &missing {
        let _ = writeln!(text, "  MISSING {one}");
    }
    for failure in &summary.failures {
        let seed = failure.seed;
        let _ = writeln!(
            text,
            "\nFAILED seed {seed}: {}: {}\n  flyball sim --seed {seed}",
            failure.violation.invariant, failure.violation.what
        );
    }
    text
}

fn faults(text: &mut String, summary: &Summary, names: &[&'static str]) {
    let _ = write!(text, "  {:18}{:>8}", "", "struck");
    for (at, _) in names.iter().enumerate() {
        let _ = write!(text, "{:>8}", format!("({})", at + 1));
    }
    let _ = writeln!(text);
    for kind in KINDS {
        let struck = summary.tally.faults.get(kind).copied().unwrap_or_default();
        let _ = write!(text, "  {kind:18}{struck:>8}");
        for name in names {
            let hit = summary.tally.hits.get(&(*kind, *name));
            let told = hit.map_or_else(|| "-".to_owned(), u64::to_string);
            let _ = write!(text, "{told:>8}");
        }
        let _ = writeln!(text);
    }
    for (at, name) in names.iter().enumerate() {
        let _ = writeln!(text, "  ({}) {name}", at + 1);
    }
}

fn per(count: u64, seconds: f64) -> f64 {
    // Far below the numbers that a float cannot hold.
    count as f64 / seconds
}

/// What a run of one plan was, to be read from top to bottom.
pub fn timeline(sim: &Sim, plan: Plan) -> (String, bool) {
    let seed = plan.seed;
    let outcome = sim.run_plan(plan, true);
    let mut text = outcome.trace.lines().join("\n");
    let _ = writeln!(
        text,
        "\n\nseed {seed}: {} steps, {} faults, trace {:016x}",
        outcome.trace.steps(),
        outcome.tally.faults_total(),
        outcome.trace.hash()
    );
    let failed = match &outcome.violation {
        None => {
            let settled = outcome.settled_in.unwrap_or_default();
            let _ = write!(text, "nothing was wrong; settled within {settled:?}");
            false
        }
        Some(violation) => {
            let _ = write!(text, "WRONG: {}: {}", violation.invariant, violation.what);
            true
        }
    };
    (text, failed)
}

/// The one command that runs a plan again.
pub fn command(plan: &Plan, bug: Option<Bug>) -> String {
    let numbers = |all: Vec<usize>| {
        let all: Vec<String> = all.iter().map(usize::to_string).collect();
        all.join(",")
    };
    let faults = numbers(plan.faults.iter().map(|fault| fault.number).collect());
    let edits = numbers(plan.edits.iter().map(|edit| edit.number).collect());
    let seed = plan.seed;
    let mut command = format!("flyball sim --seed {seed} --faults={faults} --edits={edits}");
    if let Some((_, name, _)) = BUGS.iter().find(|(one, ..)| Some(*one) == bug) {
        let _ = write!(command, " --bug {name}");
    }
    command
}

/// Lets every deliberate bug be caught, by at most so many seeds each; a table, and whether all
/// were.
pub fn bugs(seeds_max: u64, threads: usize) -> (String, bool) {
    let mut text = String::from("| bug | drawn from | seed | caught by |\n|---|---|---|---|\n");
    let mut all_caught = true;
    let portion = u64::try_from(threads.max(1)).unwrap_or(1);
    for (bug, name, drawn_from) in BUGS {
        let sim = Sim::kubernetes().with_bug(Some(*bug));
        let mut from = 0;
        // In portions, so that the first seed that catches it is the one that is told.
        let caught = loop {
            let found = many(&sim, from, portion, threads, usize::MAX);
            match found.failures.into_iter().next() {
                Some(failure) => break Some(failure),
                None if from + portion >= seeds_max => break None,
                None => from += portion,
            }
        };
        let (seed, by) = match caught {
            Some(failure) => (failure.seed.to_string(), failure.violation.invariant),
            None => {
                all_caught = false;
                ("-".to_owned(), format!("NOT CAUGHT by {seeds_max} seeds"))
            }
        };
        let _ = writeln!(text, "| `{name}` | {drawn_from} | {seed} | {by} |");
    }
    (text, all_caught)
}

/// What came of running seeds twice.
pub fn replays(found: &Replays, took: Duration) -> String {
    let mut text = String::new();
    for seed in &found.different {
        let _ = writeln!(text, "DIFFERENT: seed {seed}");
    }
    let _ = write!(
        text,
        "{} seeds run twice, {} different; digest {:016x}; {:.1} s",
        found.seeds,
        found.different.len(),
        found.digest,
        took.as_secs_f64()
    );
    text
}

/// What the systematic mode came to.
pub fn systematic(found: &Systematic, took: Duration) -> String {
    let mut text = String::new();
    let mut plans = 0;
    for one in &found.scenarios {
        plans += one.singles + one.pairs.0;
        let _ = writeln!(
            text,
            "{}: {} writes, {} events: {} plans with one fault, {} with two of {}",
            one.name, one.writes, one.events, one.singles, one.pairs.0, one.pairs.1
        );
    }
    for (name, fault, violation) in &found.failures {
        let _ = writeln!(
            text,
            "FAILED {name}: {fault}: {}: {}",
            violation.invariant, violation.what
        );
    }
    let _ = write!(
        text,
        "{plans} plans, {} violations, {:.1} s",
        found.failures.len(),
        took.as_secs_f64()
    );
    text
}
