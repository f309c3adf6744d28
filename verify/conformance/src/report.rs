//! What the terminal shows: a line per scenario as it goes, then the verdicts.

use std::collections::{BTreeMap, BTreeSet};

use flyball_conformance::{Scenario, Side, Trial, Verdict, judge};

type Trials = BTreeMap<String, Trial>;

/// A line for a scenario that has just run.
pub(crate) fn progress(label: &str, name: &str, trial: &Trial) -> String {
    match &trial.outcome {
        Ok(outcome) => format!(
            "  {label:<9} {name:<31} {:>5.1} s",
            outcome.elapsed.as_secs_f64()
        ),
        Err(_) => format!("  {label:<9} {name:<31} failed"),
    }
}

/// Prints the verdict on each scenario and the sum; true if all is well.
pub(crate) fn summary(
    sides: &[(&str, Side)],
    scenarios: &[Scenario],
    trials: &[Trials],
    show_requests: bool,
) -> bool {
    let labels: Vec<&str> = sides.iter().map(|(label, _)| *label).collect();
    println!("\n{:<4} {:<31} {}", "", "scenario", heading(&labels));
    let mut failed = 0;
    for scenario in scenarios {
        let runs: Vec<&Trial> = trials
            .iter()
            .filter_map(|trials| trials.get(&scenario.name))
            .collect();
        let Verdict { faults, allowed } = verdict(scenario, &runs);
        let word = if faults.is_empty() { "ok" } else { "FAIL" };
        println!("{word:<4} {:<31} {}", scenario.name, counts(&runs));
        if show_requests {
            requests(&runs);
        }
        for difference in &allowed {
            println!("       allowed: {difference}");
        }
        for fault in &faults {
            println!("       {fault}");
        }
        failed += usize::from(!faults.is_empty());
    }
    println!(
        "\n{} scenarios, {failed} failed ({})",
        scenarios.len(),
        labels.join(" | ")
    );
    failed == 0
}

fn verdict(scenario: &Scenario, runs: &[&Trial]) -> Verdict {
    match runs {
        [first, second] => judge(scenario, first, second),
        _ => {
            let errors = runs.iter().filter_map(|run| run.outcome.as_ref().err());
            let faults = errors.map(|error| format!("{error:#}")).collect();
            Verdict {
                faults,
                ..Verdict::default()
            }
        }
    }
}

fn heading(labels: &[&str]) -> String {
    ["writes", "events", "reads", "seconds"]
        .iter()
        .map(|what| format!("{what:>8} {:<18}", labels.join(" | ")))
        .collect()
}

fn counts(runs: &[&Trial]) -> String {
    let column = |value: &dyn Fn(&Trial) -> String| {
        let values: Vec<String> = runs.iter().map(|run| value(run)).collect();
        format!("{:<27}", format!("{:>8} {}", "", values.join(" | ")))
    };
    let count = |number: usize| number.to_string();
    [
        column(&|run| count(run.requests.writes().len())),
        column(&|run| count(run.requests.filter(|one| one.is_event()).len())),
        column(&|run| count(run.requests.filter(|one| !one.is_write()).len())),
        column(&|run| match &run.outcome {
            Ok(outcome) => format!("{:.1}", outcome.elapsed.as_secs_f64()),
            Err(_) => "-".to_owned(),
        }),
    ]
    .concat()
}

fn requests(runs: &[&Trial]) {
    let tables: Vec<_> = runs.iter().map(|run| run.requests.by_verb()).collect();
    let keys: BTreeSet<_> = tables.iter().flat_map(BTreeMap::keys).collect();
    for key in keys {
        let (verb, resource) = key;
        let values: Vec<String> = tables
            .iter()
            .map(|table| table.get(key).map_or("0".to_owned(), ToString::to_string))
            .collect();
        println!(
            "       {:<34} {}",
            format!("{verb} {resource}"),
            values.join(" | ")
        );
    }
}
