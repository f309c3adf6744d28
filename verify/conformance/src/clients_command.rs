//! `conformance clients`: the command line of other people's clients.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball_conformance::{ClientOptions, ClientOutcome, ClientScript, run_clients};

pub(crate) fn command_line() -> Command {
    let folder = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("FOLDER")
            .default_value(default)
            .value_parser(value_parser!(PathBuf))
            .help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("clients")
        .about("kubectl of two releases, helm and client-go's informers against `flyball up`")
        .arg(
            Arg::new("flyball")
                .long("flyball")
                .value_name("PATH")
                .help("The flyball binary")
                .default_value("target/release/flyball")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(folder(
            "scripts",
            concat!(env!("CARGO_MANIFEST_DIR"), "/clients"),
            "Where the scripts are",
        ))
        .arg(folder(
            "assets",
            concat!(env!("CARGO_MANIFEST_DIR"), "/clients/assets"),
            "What scripts find at $ASSETS",
        ))
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("NAME")
                .num_args(1)
                .action(ArgAction::Append)
                .help("Only scripts whose name contains this; may be repeated"),
        )
        .arg(
            Arg::new("jobs")
                .long("jobs")
                .value_name("N")
                .default_value("4")
                .value_parser(value_parser!(usize))
                .help("Scripts at a time"),
        )
        .arg(flag("list", "List the scripts and their stories"))
        .arg(flag(
            "alone",
            "Leave out the reference: ours must say what the scripts ask for, and nothing is compared",
        ))
        .arg(flag(
            "keep",
            "Leave transcripts, logs and data on disk, in the system's temporary folder",
        ))
}

pub(crate) async fn run(arguments: &ArgMatches) -> Result<bool> {
    let path = |name: &str| arguments.get_one::<PathBuf>(name).cloned();
    let mut scripts = ClientScript::read_all(&path("scripts").context("--scripts")?)?;
    if let Some(only) = arguments.get_many::<String>("only") {
        let only: Vec<&String> = only.collect();
        scripts.retain(|script| only.iter().any(|part| script.name.contains(*part)));
        if scripts.is_empty() {
            bail!("no script's name contains any of {only:?}");
        }
    }
    if arguments.get_flag("list") {
        for script in scripts {
            println!("{:<20} {}", script.name, script.story.trim());
        }
        return Ok(true);
    }
    let flyball = path("flyball").context("--flyball")?;
    if !flyball.is_file() {
        bail!(
            "there is no flyball at {}: build it with `cargo build --release -p flyball-cli`, or name it with \
             --flyball",
            flyball.display()
        );
    }
    let options = ClientOptions {
        flyball,
        scripts,
        assets: path("assets").context("--assets")?,
        reference: !arguments.get_flag("alone"),
        jobs: *arguments.get_one::<usize>("jobs").context("--jobs")?,
        keep_folders: arguments.get_flag("keep"),
    };
    let started = Instant::now();
    let counts = std::cell::RefCell::new((0, 0, 0));
    let all_held = run_clients(options, |outcome| {
        show(outcome);
        let mut counts = counts.borrow_mut();
        counts.0 += outcome.steps;
        counts.1 += outcome.faults.len();
        counts.2 += outcome.apart;
    })
    .await?;
    let (steps, failed, apart) = *counts.borrow();
    println!(
        "\n{steps} steps, {failed} failed ({apart} known to be apart from the reference), {:.0} s in all",
        started.elapsed().as_secs_f64()
    );
    Ok(all_held)
}

fn show(outcome: &ClientOutcome) {
    let word = if outcome.faults.is_empty() {
        "ok"
    } else {
        "FAIL"
    };
    println!(
        "{word:<4} {:<28} {:<20} {:>3} steps {:>5.1} s",
        outcome.on,
        outcome.script,
        outcome.steps,
        outcome.took.as_secs_f64()
    );
    for fault in &outcome.faults {
        for line in fault.lines() {
            println!("     {line}");
        }
    }
}
