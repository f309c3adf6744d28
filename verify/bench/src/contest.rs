//! Managers side by side: who they are, how often they go, and what is made of their figures.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use flyball_conformance::{Cluster, Manager};

use crate::measure::Figures;
use crate::progress::Progress;
use crate::report::{Limits, Report};

/// A manager to be measured.
pub(crate) struct Contender {
    pub(crate) name: String,
    /// Its name in the table.
    pub(crate) label: String,
    /// The flyball binary; `None` is upstream's manager.
    pub(crate) binary: Option<PathBuf>,
}

impl Contender {
    /// Starts it with these controllers.
    pub(crate) async fn start(
        &self,
        cluster: &Cluster,
        controllers: &[&str],
        flags: &[String],
    ) -> Result<Manager> {
        let extra: Vec<&str> = flags.iter().map(String::as_str).collect();
        match &self.binary {
            Some(binary) => Manager::flyball(cluster, binary, controllers, &extra).await,
            None => Manager::go(cluster, controllers, &extra).await,
        }
    }
}

/// A comparison as it was asked for.
pub(crate) struct Contest {
    pub(crate) contenders: Vec<Contender>,
    /// Flags that every manager is started with.
    pub(crate) flags: Vec<String>,
    rounds: usize,
    json: Option<PathBuf>,
    check: bool,
}

/// A number on the command line.
pub(crate) fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("N")
        .default_value(default)
        .value_parser(value_parser!(u32).range(1..))
        .help(help)
}

/// A switch on the command line.
pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// What was said for [`number`].
pub(crate) fn said(arguments: &ArgMatches, name: &str) -> Result<usize> {
    let number = arguments.get_one::<u32>(name).copied();
    Ok(number.with_context(|| format!("--{name}"))? as usize)
}

/// Adds the arguments that all comparisons share.
pub(crate) fn with_arguments(command: Command) -> Command {
    command
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
            "check",
            "Fail unless the last manager keeps the limits relative to the first",
        ))
}

impl Contest {
    pub(crate) fn read(arguments: &ArgMatches) -> Result<Self> {
        Ok(Self {
            contenders: contenders(arguments)?,
            flags: vec![
                format!("--kube-api-qps={}", said(arguments, "qps")?),
                format!("--kube-api-burst={}", said(arguments, "burst")?),
            ],
            rounds: said(arguments, "rounds")?,
            json: arguments.get_one::<PathBuf>("json").cloned(),
            check: arguments.get_flag("check"),
        })
    }

    /// Lets every manager do the work, round by round.
    pub(crate) async fn hold(
        &self,
        title: String,
        limits: Limits,
        work: impl AsyncFn(&Contender, &str, &Progress) -> Result<Figures>,
    ) -> Result<Report> {
        let progress = Progress::new();
        let mut report = Report::new(title, limits, &self.contenders);
        for round in 0..self.rounds {
            let mut order: Vec<usize> = (0..self.contenders.len()).collect();
            if round % 2 == 1 {
                order.reverse();
            }
            for at in order {
                let contender = &self.contenders[at];
                let label = format!("round {}/{} {}", round + 1, self.rounds, contender.label);
                let figures = work(contender, &label, &progress).await;
                report.add(at, figures.with_context(|| label)?);
            }
        }
        Ok(report)
    }

    /// Lets every manager do the work and prints what came of it; `Ok(false)` if a limit was to be
    /// checked and is not kept.
    pub(crate) fn measure(
        &self,
        title: String,
        limits: Limits,
        work: impl AsyncFn(&Contender, &str, &Progress) -> Result<Figures>,
    ) -> Result<bool> {
        let runtime = tokio::runtime::Runtime::new()?;
        let report = runtime.block_on(self.hold(title, limits, work))?;
        self.conclude(&report, &[])
    }

    /// Prints what came of it; `Ok(false)` if a limit was to be checked and is not kept.
    pub(crate) fn conclude(&self, report: &Report, audited: &[Figures]) -> Result<bool> {
        println!("{}", report.render());
        if !audited.is_empty() {
            println!("Requests by verb and resource, from the audit log:\n");
            println!("{}", report.render_audit(audited));
        }
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(&report.to_json(audited))?;
            std::fs::write(path, text)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        if !self.check {
            return Ok(true);
        }
        let verdicts = report.check();
        for verdict in &verdicts {
            println!("{verdict}");
        }
        Ok(verdicts.iter().all(|verdict| verdict.kept))
    }
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
