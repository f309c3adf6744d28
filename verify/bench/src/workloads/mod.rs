//! Managers side by side: the same work, each on a cluster of its own.

mod fleet;
mod measure;
mod report;
mod sight;
mod trial;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::progress::Progress;
use measure::Figures;
use report::Report;
use trial::{Contender, Size, Trial};

pub(crate) fn command_line() -> Command {
    let number = |name: &'static str, default: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u32).range(1..))
            .help(help)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("workloads")
        .about("Run managers through the same work on a real API server and print one table")
        .arg(number("deployments", "100", "Deployments to create"))
        .arg(number("replicas", "50", "Pods of each"))
        .arg(number(
            "qps",
            "5000",
            "Requests per second each manager's clients may make",
        ))
        .arg(number(
            "burst",
            "10000",
            "Requests each manager's clients may make at once",
        ))
        .arg(number(
            "rounds",
            "1",
            "Repetitions; every second one in reverse order",
        ))
        .arg(
            Arg::new("managers")
                .long("managers")
                .value_name("LIST")
                .default_value("go,flyball")
                .value_delimiter(',')
                .value_parser(["go", "flyball"])
                .help("Whom to run; the last is compared with the first"),
        )
        .arg(
            Arg::new("manager-binary")
                .long("manager-binary")
                .value_name("PATH")
                .default_value("target/release/flyball")
                .value_parser(value_parser!(PathBuf))
                .help("The flyball binary"),
        )
        .arg(
            Arg::new("json")
                .long("json")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .help("Write every figure of every round to this file, too"),
        )
        .arg(flag(
            "audit",
            "Run each manager once more with the audit log on, to count requests by resource",
        ))
        .arg(flag(
            "check",
            "Fail unless the last manager keeps the limits relative to the first",
        ))
}

/// Measures and prints; `Ok(false)` if a limit was to be checked and is not kept.
pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    let number = |name: &str| arguments.get_one::<u32>(name).copied().context("a number");
    let size = Size {
        deployments: number("deployments")? as usize,
        replicas: number("replicas")? as usize,
    };
    let limits = [
        format!("--kube-api-qps={}", number("qps")?),
        format!("--kube-api-burst={}", number("burst")?),
    ];
    let contenders = contenders(arguments)?;
    let rounds = number("rounds")? as usize;
    let runtime = tokio::runtime::Runtime::new()?;

    let progress = Progress::new();
    let mut report = Report::new(size, &contenders);
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..contenders.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            let label = format!("round {}/{rounds} {}", round + 1, contenders[at].label);
            let trial = Trial {
                contender: &contenders[at],
                size,
                limits: &limits,
                audit: false,
            };
            let figures = runtime.block_on(trial.run(&label, &progress));
            report.add(at, figures.with_context(|| label)?);
        }
    }
    let mut audited: Vec<Figures> = Vec::new();
    if arguments.get_flag("audit") {
        for contender in &contenders {
            let label = format!("audit {}", contender.label);
            let trial = Trial {
                contender,
                size,
                limits: &limits,
                audit: true,
            };
            let figures = runtime.block_on(trial.run(&label, &progress));
            audited.push(figures.with_context(|| label)?.only_requests_by_resource());
        }
    }
    drop(progress);

    println!("{}", report.render());
    if !audited.is_empty() {
        println!("Requests by verb and resource, from the audit log:\n");
        println!("{}", report.render_audit(&audited));
    }
    if let Some(path) = arguments.get_one::<PathBuf>("json") {
        let text = serde_json::to_string_pretty(&report.to_json(&audited))?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if !arguments.get_flag("check") {
        return Ok(true);
    }
    let verdicts = report.check();
    for verdict in &verdicts {
        println!("{verdict}");
    }
    Ok(verdicts.iter().all(|verdict| verdict.kept))
}

fn contenders(arguments: &ArgMatches) -> Result<Vec<Contender>> {
    let binary = arguments
        .get_one::<PathBuf>("manager-binary")
        .context("--manager-binary")?;
    let names = arguments
        .get_many::<String>("managers")
        .context("--managers")?;
    let mut contenders: Vec<Contender> = Vec::new();
    for name in names {
        let is_flyball = name == "flyball";
        if is_flyball && !binary.is_file() {
            bail!(
                "there is no manager at {}: build it with `cargo build --release -p flyball-cli`, or name it with \
                 --manager-binary",
                binary.display()
            );
        }
        let again = contenders
            .iter()
            .filter(|other| other.name == *name)
            .count();
        let label = match again {
            0 => name.clone(),
            _ => format!("{name} again"),
        };
        let binary = is_flyball.then(|| binary.clone());
        contenders.push(Contender {
            name: name.clone(),
            label,
            binary,
        });
    }
    Ok(contenders)
}
