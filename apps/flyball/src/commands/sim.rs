//! `flyball sim`: a whole cluster in one thread, on virtual time, with seeded faults.

use std::time::Instant;

use anyhow::bail;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball_sim::{Bug, Sim, many, replays, report, shrink, systematic};

use super::words::{self, Asked};

/// So many seeds must come to everything there is to come to.
const COVERING: u64 = 600;

/// So many pairs of faults are tried for each scenario.
const PAIRS: u64 = 200;

/// After so many failed seeds there is enough to look at.
const FAILURES_MAX: usize = 20;

pub(super) fn run(words: &[String]) -> anyhow::Result<Option<String>> {
    let matches = match words::read(command_line(), words)? {
        Asked::Print(text) => return Ok(Some(text)),
        Asked::Run(matches) => matches,
    };
    let bug = match matches.get_one::<String>("bug") {
        None => None,
        Some(name) => match Bug::named(name) {
            Some(bug) => Some(bug),
            None => bail!("there is no bug {name:?}; --bugs lists them"),
        },
    };
    let sim = Sim::kubernetes().with_bug(bug);
    let threads = matches.get_one::<usize>("threads").copied();
    let threads = threads.unwrap_or_else(available);
    let seeds_max = number(&matches, "seeds").unwrap_or(1000);
    let began = Instant::now();
    if matches.get_flag("bugs") {
        let (table, all_caught) = report::bugs(seeds_max, threads);
        return ended(table, !all_caught);
    }
    if matches.get_flag("systematic") {
        let pairs = number(&matches, "pairs").unwrap_or(PAIRS);
        let found = systematic(threads, usize::try_from(pairs).unwrap_or(usize::MAX));
        let text = report::systematic(&found, began.elapsed());
        return ended(text, !found.failures.is_empty());
    }
    if let Some(count) = number(&matches, "replays") {
        let found = replays(&sim, count, threads);
        let text = report::replays(&found, began.elapsed());
        return ended(text, !found.different.is_empty());
    }
    if let Some(seed) = number(&matches, "seed") {
        return one(&sim, bug, seed, &matches);
    }
    let first = number(&matches, "first").unwrap_or(0);
    let summary = many(&sim, first, seeds_max, threads, FAILURES_MAX);
    let text = report::summary(&sim, &summary, began.elapsed());
    let coverage = sim.coverage(&summary.tally);
    let is_short = seeds_max >= COVERING && !coverage.missing.is_empty();
    ended(text, !summary.failures.is_empty() || is_short)
}

/// Runs one seed, with its timeline.
fn one(
    sim: &Sim,
    bug: Option<Bug>,
    seed: u64,
    matches: &ArgMatches,
) -> anyhow::Result<Option<String>> {
    let faults = numbers(matches, "faults")?;
    let edits = numbers(matches, "edits")?;
    let mut plan = sim.plan(seed).keeping(faults.as_deref(), edits.as_deref());
    if matches.get_flag("shrink") {
        plan = shrink(sim, &plan);
    }
    let again = report::command(&plan, bug);
    let (timeline, failed) = report::timeline(sim, plan);
    let again = if failed {
        format!("\n{again}")
    } else {
        String::new()
    };
    ended(format!("{timeline}{again}"), failed)
}

/// What went well is printed; what did not is the error, so that the program says so.
fn ended(text: String, failed: bool) -> anyhow::Result<Option<String>> {
    if failed {
        bail!("{text}");
    }
    Ok(Some(text))
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn number(matches: &ArgMatches, name: &str) -> Option<u64> {
    matches.get_one::<u64>(name).copied()
}

/// The numbers of a list, if there is one; an empty list keeps nothing.
fn numbers(matches: &ArgMatches, name: &str) -> anyhow::Result<Option<Vec<usize>>> {
    let Some(list) = matches.get_one::<String>(name) else {
        return Ok(None);
    };
    let parts = list.split(',').filter(|part| !part.is_empty());
    let parsed = parts.map(|part| {
        let wrong = |_| anyhow::anyhow!("--{name} takes numbers, and {part:?} is none");
        part.parse::<usize>().map_err(wrong)
    });
    parsed.collect::<Result<Vec<_>, _>>().map(Some)
}

fn command_line() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let number = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(value_parser!(u64))
            .help(help)
    };
    let list = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("LIST").help(help)
    };
    Command::new("flyball sim")
        .bin_name("flyball sim")
        .about("Simulate a whole cluster on virtual time, with faults, from a seed")
        .arg(number(
            "seed",
            "Run one seed and tell who saw what, decided what, and why",
        ))
        .arg(number("seeds", "How many seeds to run [default: 1000]"))
        .arg(number("first", "The first of them [default: 0]"))
        .arg(list(
            "faults",
            "Of the seed's faults only these, by their numbers",
        ))
        .arg(list(
            "edits",
            "Of the users' edits only these, by their numbers",
        ))
        .arg(flag(
            "shrink",
            "Cut the seed's plan down to what still goes wrong",
        ))
        .arg(flag(
            "systematic",
            "Crash after every write, hide every event, serve every older view",
        ))
        .arg(number(
            "pairs",
            "With --systematic, how many pairs of faults for each scenario [default: 200]",
        ))
        .arg(flag(
            "bugs",
            "Let every deliberate bug be caught, by at most --seeds seeds each",
        ))
        .arg(number(
            "replays",
            "Run so many seeds twice each, compare their traces and print one digest of all",
        ))
        .arg(list("bug", "Run with a deliberate bug"))
        .arg(
            Arg::new("threads")
                .long("threads")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("How many runs at once [default: one for each processor]"),
        )
}
