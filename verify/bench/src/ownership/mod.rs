//! Trees of owners and dependents, deleted with each policy.
//!
//! Every tree has a root, its children and their leaves; all are ConfigMaps. With Background and Foreground the
//! roots are deleted, and everything must go. With Orphan roots and children are deleted, and every leaf must stay,
//! without an owner.

mod broken;
mod tree;
mod trial;

use anyhow::Result;
use clap::{ArgMatches, Command};

use crate::contest::{Contest, flag, number, said, with_arguments};
use crate::report::Limits;
use tree::Size;
use trial::Trial;

const LIMITS: Limits = &[
    // The server sets the pace, and machines are noisy: this only catches a manager that holds it up.
    ("background: wall s", 1.10),
    ("background: CPU s", 0.30),
    ("foreground: wall s", 1.10),
    ("foreground: CPU s", 0.30),
    ("orphan: wall s", 1.10),
    ("orphan: CPU s", 0.30),
];

pub(crate) fn command_line() -> Command {
    let command = Command::new("ownership")
        .about("Let garbage collectors take down trees of owners on a real API server and print one table")
        .arg(number("roots", "20", "Trees"))
        .arg(number("children", "9", "Children of a root"))
        .arg(number("leaves", "110", "Leaves of a child"))
        .arg(flag(
            "dead-webhook",
            "Install a custom resource first that cannot be read, because its conversion webhook is dead",
        ));
    with_arguments(command)
}

/// Measures and prints; `Ok(false)` if a limit was to be checked and is not kept.
pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    let contest = Contest::read(arguments)?;
    let size = Size {
        roots: said(arguments, "roots")?,
        children: said(arguments, "children")?,
        leaves: said(arguments, "leaves")?,
    };
    let dead_webhook = arguments.get_flag("dead-webhook");
    let title = format!(
        "{} objects: {} roots × {} children × {} leaves{}",
        size.objects(),
        size.roots,
        size.children,
        size.leaves,
        if dead_webhook {
            ", beside a custom resource whose conversion webhook is dead"
        } else {
            ""
        }
    );
    contest.measure(title, LIMITS, async |contender, label, progress| {
        let trial = Trial {
            contender,
            size,
            flags: &contest.flags,
            dead_webhook,
        };
        trial.run(label, progress).await
    })
}
