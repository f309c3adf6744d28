//! `conformance rules`: asks kube-apiserver what is wrong with spoilt objects and keeps what it says.

use anyhow::{Context as _, Result};
use clap::{Arg, ArgMatches, Command};
use flyball_conformance::{RULES_FOLDER, record_rules};

pub(crate) fn command_line() -> Command {
    Command::new("rules")
        .about("Record what kube-apiserver says to objects with one wrong value, as cases for the registry's tests")
        .arg(
            Arg::new("only")
                .long("only")
                .value_name("WORD")
                .default_value("")
                .help("Only resources that contain this, such as apps/v1/deployments"),
        )
}

pub(crate) async fn run(arguments: &ArgMatches) -> Result<bool> {
    let only = arguments.get_one::<String>("only").context("--only")?;
    record_rules(only, |line| println!("{line}")).await?;
    println!("the cases are in {RULES_FOLDER}");
    Ok(true)
}
