//! What `up` and `nodes` have in common before they start: reading their words, and logs.

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
    logging::start(&Logging {
        format: LogFormat::Text,
        verbosity: matches
            .get_one::<u8>("v")
            .copied()
            .unwrap_or_default()
            .into(),
        module_levels: Vec::new(),
    })?;
    // One provider of cryptography for everything in the process.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(Asked::Run(matches))
}
