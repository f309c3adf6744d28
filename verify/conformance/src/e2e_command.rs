//! `conformance e2e`: the command line of Kubernetes' own e2e tests.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball_conformance::{E2E_AREAS, E2E_PAGE, E2eOptions, Side, run_e2e};

pub(crate) fn command_line() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u32).range(1..))
            .help(help)
    };
    let texts = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("TEXT")
            .num_args(1)
            .action(ArgAction::Append)
            .help(help)
    };
    Command::new("e2e")
        .about(
            "Run Kubernetes' own e2e tests with upstream's manager and ours; fails unless ours passes all that \
             upstream's passes",
        )
        .arg(
            Arg::new("manager")
                .long("manager")
                .value_parser(["both", "go", "flyball"])
                .default_value("both")
                .help("Whose manager to run"),
        )
        .arg(
            Arg::new("flyball")
                .long("flyball")
                .value_name("PATH")
                .help("The flyball binary, for the simulated nodes on both sides, too")
                .default_value("target/release/flyball")
                .value_parser(value_parser!(PathBuf)),
        )
        .arg(texts(
            "area",
            "Tests whose name begins with this instead of the usual ones; may be repeated",
        ))
        .arg(texts(
            "only",
            "Of these, only tests whose name contains this; may be repeated",
        ))
        .arg(flag(
            "conformance-only",
            "Only tests of the conformance list",
        ))
        .arg(number("shards", "4", "Tests that run side by side"))
        .arg(number(
            "limit-seconds",
            "600",
            "How long one test may take",
        ))
        .arg(flag("write-page", "Write docs/conformance.md, too"))
        .arg(flag(
            "keep",
            "Leave logs and data on disk, in the system's temporary folder",
        ))
}

pub(crate) async fn run(arguments: &ArgMatches) -> Result<bool> {
    let flyball = arguments
        .get_one::<PathBuf>("flyball")
        .context("--flyball")?
        .clone();
    if !flyball.is_file() {
        bail!(
            "there is no flyball at {}: build it with `cargo build --release -p flyball-cli`, or name it with \
             --flyball",
            flyball.display()
        );
    }
    // Tests run in folders of their own, where a path relative to this one leads nowhere.
    let flyball = std::path::absolute(flyball)?;
    let ours = Side::Flyball(flyball.clone());
    let manager = arguments.get_one::<String>("manager");
    let sides = match manager.context("--manager")?.as_str() {
        "go" => vec![Side::Go],
        "flyball" => vec![ours],
        _ => vec![Side::Go, ours],
    };
    let texts = |name: &str| -> Vec<String> {
        let texts = arguments.get_many::<String>(name);
        texts
            .map(|texts| texts.cloned().collect())
            .unwrap_or_default()
    };
    let number = |name: &str| arguments.get_one::<u32>(name).copied().context("a number");
    let mut areas = texts("area");
    let write_page = arguments.get_flag("write-page");
    let partial = !areas.is_empty()
        || !texts("only").is_empty()
        || arguments.get_flag("conformance-only")
        || sides.len() < 2;
    if write_page && partial {
        bail!("--write-page goes with all tests and both managers");
    }
    if areas.is_empty() {
        areas = E2E_AREAS.iter().map(|area| (*area).to_owned()).collect();
    }
    let options = E2eOptions {
        sides,
        flyball,
        areas,
        only: texts("only"),
        conformance_only: arguments.get_flag("conformance-only"),
        shards: number("shards")? as usize,
        limit: Duration::from_secs(number("limit-seconds")?.into()),
        keep_folders: arguments.get_flag("keep"),
    };
    let started = Instant::now();
    let scoreboard = run_e2e(&options, |line| println!("{line}")).await?;
    if write_page {
        std::fs::write(E2E_PAGE, scoreboard.page(&options.areas)?)
            .with_context(|| format!("cannot write {E2E_PAGE}"))?;
    }
    println!(
        "\n{}{:.0} s in all",
        scoreboard.summary(),
        started.elapsed().as_secs_f64()
    );
    Ok(scoreboard.holds())
}
