//! Many namespaces with content, deleted at once; some of them are held by a finalizer that nobody clears.
//!
//! Each has a few objects of several kinds in it, one of them custom. There are many more kinds than are used, because
//! that is what costs: whoever empties a namespace has to look at every one of them.

mod content;
mod standing;
mod trial;

use anyhow::{Result, ensure};
use clap::{ArgMatches, Command};

use crate::contest::{Contest, number, said, with_arguments};
use crate::report::Limits;
use trial::Trial;

const LIMITS: Limits = &[
    // The server sets the pace, and machines are noisy: this only catches a manager that holds it up.
    ("delete: wall s", 1.10),
    ("delete: CPU s", 0.30),
    ("delete: requests", 1.0),
];

/// How much there is.
#[derive(Clone, Copy)]
struct Size {
    namespaces: usize,
    /// How many of them are held by a finalizer.
    stuck: usize,
    definitions: usize,
}

pub(crate) fn command_line() -> Command {
    let command = Command::new("namespaces")
        .about(
            "Delete many namespaces with content at once on a real API server and print one table",
        )
        .arg(number(
            "namespaces",
            "1000",
            "Namespaces to create and delete",
        ))
        .arg(number(
            "stuck",
            "10",
            "How many of them hold an object with a foreign finalizer",
        ))
        .arg(number(
            "definitions",
            "300",
            "CustomResourceDefinitions to install first",
        ));
    with_arguments(command)
}

/// Measures and prints; `Ok(false)` if a limit was to be checked and is not kept.
pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    let contest = Contest::read(arguments)?;
    let size = Size {
        namespaces: said(arguments, "namespaces")?,
        stuck: said(arguments, "stuck")?,
        definitions: said(arguments, "definitions")?,
    };
    ensure!(
        size.stuck < size.namespaces,
        "--stuck must be less than --namespaces, or nothing goes"
    );
    let title = format!(
        "{} namespaces of {} objects, {} stuck on a foreign finalizer, {} CustomResourceDefinitions",
        size.namespaces,
        content::OBJECTS,
        size.stuck,
        size.definitions
    );
    contest.measure(title, LIMITS, async |contender, label, progress| {
        let trial = Trial {
            contender,
            size,
            flags: &contest.flags,
        };
        trial.run(label, progress).await
    })
}
