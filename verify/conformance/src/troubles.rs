//! `conformance faults`: the command line of the checks under trouble.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball_conformance::{FAULTS, FaultOptions, FaultOutcome, Subject, run_faults};

pub(crate) fn command_line() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u64))
            .help(help)
    };
    Command::new("faults")
        .about("Do harm to a manager in many ways and judge by the API server's records")
        .arg(
            Arg::new("manager")
                .long("manager")
                .value_name("PATH")
                .help("The flyball binary, or `go` for upstream's, to check the checks")
                .default_value("target/release/flyball"),
        )
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("NAME")
                .num_args(1)
                .action(ArgAction::Append)
                .help("Only checks whose name contains this; may be repeated"),
        )
        .arg(
            Arg::new("list")
                .long("list")
                .action(ArgAction::SetTrue)
                .help("List the checks and what they promise"),
        )
        .arg(
            Arg::new("full")
                .long("full")
                .action(ArgAction::SetTrue)
                .help("20 scale-ups, watches 30 s late, the leader frozen for 30 s"),
        )
        .arg(number(
            "scaleups",
            "5",
            "Scale-ups to 500 pods with a kill -9 in each",
        ))
        .arg(number("lag-seconds", "5", "How late watches are"))
        .arg(number(
            "freeze-seconds",
            "6",
            "How long the frozen leader stays frozen after the lease was taken",
        ))
        .arg(
            Arg::new("rounds")
                .long("rounds")
                .value_name("N")
                .value_parser(value_parser!(u64))
                .help("How often checks with rounds repeat them, instead of each check's own small number"),
        )
        .arg(number("seed", "1", "Decides the moments of kills"))
        .arg(
            Arg::new("keep")
                .long("keep")
                .action(ArgAction::SetTrue)
                .help("Leave logs, audit logs and data on disk, in the system's temporary folder"),
        )
}

pub(crate) async fn run(arguments: &ArgMatches) -> Result<bool> {
    if arguments.get_flag("list") {
        for (name, promise) in FAULTS.iter() {
            println!("{name:<30} {promise}");
        }
        return Ok(true);
    }
    let manager = arguments
        .get_one::<String>("manager")
        .context("--manager")?;
    let subject = match manager.as_str() {
        "go" => Subject::Go,
        path => Subject::Flyball(PathBuf::from(path)),
    };
    if let Subject::Flyball(path) = &subject
        && !path.is_file()
    {
        bail!(
            "there is no manager at {}: build it with `cargo build --release -p flyball`, or name it with --manager",
            path.display()
        );
    }
    let number = |name: &str| arguments.get_one::<u64>(name).copied().unwrap_or_default();
    let full = arguments.get_flag("full");
    let options = FaultOptions {
        subject,
        only: arguments
            .get_many::<String>("only")
            .map(|names| names.cloned().collect())
            .unwrap_or_default(),
        scaleups: if full {
            20
        } else {
            usize::try_from(number("scaleups"))?
        },
        lag: Duration::from_secs(if full { 30 } else { number("lag-seconds") }),
        freeze: Duration::from_secs(if full { 30 } else { number("freeze-seconds") }),
        seed: number("seed"),
        rounds: arguments
            .get_one::<u64>("rounds")
            .map(|rounds| usize::try_from(*rounds))
            .transpose()?,
        keep_folders: arguments.get_flag("keep"),
    };
    let started = Instant::now();
    let all_held = run_faults(options, show).await?;
    println!("{:.0} s in all", started.elapsed().as_secs_f64());
    Ok(all_held)
}

fn show(outcome: &FaultOutcome) {
    let took = outcome.took.as_secs_f64();
    match &outcome.result {
        Ok(figures) => println!("ok     {}: {figures} [{took:.0} s]", outcome.name),
        Err(error) => println!("FAILED {}: {error:#} [{took:.0} s]", outcome.name),
    }
}
