//! What commands have in common before they start: reading their words, and logs.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, value_parser};

use crate::logging;
use crate::options::{LogFormat, Logging};

/// What the words ask for.
pub(super) enum Asked {
    /// To run.
    Run(ArgMatches),
    /// To print this and no more.
    Print(String),
}

/// Reads the words of a command, which gets the flag for logs as well, and starts logging.
pub(super) fn read(command: Command, words: &[String]) -> anyhow::Result<Asked> {
    read_and(command, words, |_| true)
}

/// The same for a command that has a story of its own to tell: it logs only if it is told to.
pub(super) fn read_quietly(command: Command, words: &[String]) -> anyhow::Result<Asked> {
    read_and(command, words, |matches| {
        matches.value_source("v") == Some(ValueSource::CommandLine)
    })
}

fn read_and(
    command: Command,
    words: &[String],
    logs: fn(&ArgMatches) -> bool,
) -> anyhow::Result<Asked> {
    let verbosity = Arg::new("v")
        .short('v')
        .value_name("LEVEL")
        .default_value("0")
        .value_parser(value_parser!(u8))
        .help("How much to log: 2 says why each controller did what it did");
    let matches = match command.arg(verbosity).try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(told) if !told.use_stderr() => return Ok(Asked::Print(told.to_string())),
        Err(wrong) => anyhow::bail!("{wrong}"),
    };
    if logs(&matches) {
        let verbosity = matches.get_one::<u8>("v").copied().unwrap_or_default();
        logging::start(&Logging {
            format: LogFormat::Text,
            verbosity: verbosity.into(),
            module_levels: Vec::new(),
        })?;
    }
    // One provider of cryptography for everything in the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(Asked::Run(matches))
}
