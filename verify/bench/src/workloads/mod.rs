//! Deployments from creation to roll-out, with every manager on a cluster of its own.

mod fleet;
mod seen;
mod trial;

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Command};

use crate::contest::{Contest, flag, number, said, with_arguments};
use crate::measure::Figures;
use crate::progress::Progress;
use crate::report::Limits;
pub(crate) use fleet::{Fleet, IMAGE_FIRST};
pub(crate) use seen::{Deployments, Wanted};
use trial::{Size, Trial};

const LIMITS: Limits = &[
    // The server sets the pace, and machines are noisy: this only catches a manager that holds it up.
    ("create: wall s", 1.10),
    ("create: CPU s", 0.30),
    ("create: RSS MB", 0.15),
    ("create: write requests", 1.0),
];

pub(crate) fn command_line() -> Command {
    let command = Command::new("workloads")
        .about("Run managers through the same work on a real API server and print one table")
        .arg(number("deployments", "100", "Deployments to create"))
        .arg(number("replicas", "50", "Pods of each"))
        .arg(flag(
            "audit",
            "Run each manager once more with the audit log on, to count requests by resource",
        ));
    with_arguments(command)
}

/// Measures and prints; `Ok(false)` if a limit was to be checked and is not kept.
pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    let contest = Contest::read(arguments)?;
    let size = Size {
        deployments: said(arguments, "deployments")?,
        replicas: said(arguments, "replicas")?,
    };
    let title = format!(
        "{} Deployments × {} replicas",
        size.deployments, size.replicas
    );
    let runtime = tokio::runtime::Runtime::new()?;
    let held = contest.hold(title, LIMITS, async |contender, label, progress| {
        let trial = Trial {
            contender,
            size,
            flags: &contest.flags,
            audit: false,
        };
        trial.run(label, progress).await
    });
    let report = runtime.block_on(held)?;
    let mut audited: Vec<Figures> = Vec::new();
    if arguments.get_flag("audit") {
        let progress = Progress::new();
        for contender in &contest.contenders {
            let label = format!("audit {}", contender.label);
            let trial = Trial {
                contender,
                size,
                flags: &contest.flags,
                audit: true,
            };
            let figures = runtime.block_on(trial.run(&label, &progress));
            audited.push(figures.with_context(|| label)?.only_requests_by_resource());
        }
    }
    contest.conclude(&report, &audited)
}
