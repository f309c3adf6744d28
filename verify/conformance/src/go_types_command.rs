//! `conformance go-types`: what messages tell about upstream's Go types, as tables for `core/schema`.

use anyhow::Result;
use clap::{Arg, ArgAction, ArgMatches, Command};
use flyball_conformance::go_types;

pub(crate) fn command_line() -> Command {
    Command::new("go-types")
        .about("Write the tables of upstream's Go types that core/schema embeds")
        .arg(
            Arg::new("check")
                .long("check")
                .action(ArgAction::SetTrue)
                .help("Only say whether they are current"),
        )
}

pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    go_types(!arguments.get_flag("check"))?;
    Ok(true)
}
