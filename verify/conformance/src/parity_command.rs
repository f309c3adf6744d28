//! `conformance parity`: the same random requests to both API servers.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball_conformance::{PARITY_PAGE, ParityOptions, parity_page, run_parity};

pub(crate) fn command_line() -> Command {
    Command::new("parity")
        .about("Send the same random requests to kube-apiserver and to the embedded server; fails upon an unexplained difference")
        .arg(
            Arg::new("seed")
                .long("seed")
                .value_parser(value_parser!(u64))
                .help("Decides what is sent; drawn and printed if not given"),
        )
        .arg(
            Arg::new("requests")
                .long("requests")
                .default_value("3000")
                .value_parser(value_parser!(usize))
                .help("How many requests each server is sent"),
        )
        .arg(
            Arg::new("progress")
                .long("progress")
                .action(ArgAction::SetTrue)
                .help("Say which status codes were answered"),
        )
        .arg(
            Arg::new("explained")
                .long("explained")
                .action(ArgAction::SetTrue)
                .help("Tell the explained differences as well"),
        )
        .arg(
            Arg::new("write-page")
                .long("write-page")
                .action(ArgAction::SetTrue)
                .help("Only write docs/parity.md from the explained differences"),
        )
}

pub(crate) async fn run(arguments: &ArgMatches) -> Result<bool> {
    if arguments.get_flag("write-page") {
        std::fs::write(PARITY_PAGE, parity_page()?)
            .with_context(|| format!("cannot write {PARITY_PAGE}"))?;
        return Ok(true);
    }
    let seed = match arguments.get_one::<u64>("seed") {
        Some(seed) => *seed,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let requests = *arguments
        .get_one::<usize>("requests")
        .context("--requests")?;
    println!("conformance parity --seed {seed} --requests {requests}");
    let started = Instant::now();
    let options = ParityOptions {
        seed,
        requests,
        tell_explained: arguments.get_flag("explained"),
    };
    let outcome = run_parity(options, |report| println!("\n{report}")).await?;
    if arguments.get_flag("progress") {
        println!("\nstatus codes of upstream: {:?}", outcome.codes);
    }
    for (title, times) in &outcome.explained {
        println!("explained {times:>5} differences: {title}");
    }
    let gaps = outcome.explained.iter();
    let gaps = gaps.filter(|(title, _)| title.starts_with("gap: "));
    let gaps: usize = gaps.map(|(_, times)| times).sum();
    println!(
        "{} requests, {gaps} known gaps, {} unexplained differences, seed {seed} ({:.0} s)",
        outcome.requests,
        outcome.unexplained,
        started.elapsed().as_secs_f64()
    );
    Ok(outcome.unexplained == 0)
}
