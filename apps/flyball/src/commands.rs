//! What the program can be asked to do.

mod controller_manager;
mod demo;
mod nodes;
mod root_ca;
mod signals;
mod sim;
mod up;
mod words;

use std::path::Path;

/// The name under which the program behaves as upstream's, without a subcommand.
const UPSTREAM_NAME: &str = "kube-controller-manager";

const HELP: &str = "\
flyball keeps a Kubernetes cluster moving towards its declared state.

Usage: flyball <command> [flags]

Commands:
  up                  run a whole control plane in one process, with simulated nodes
  demo                see one at work: a tour in the terminal, nothing to install
  controller-manager  run controllers against an API server, as kube-controller-manager does
  nodes               simulate nodes for any API server
  sim                 simulate a whole cluster on virtual time, with faults, from a seed
  help                print this text
  version             print the version

Run 'flyball <command> --help' for the flags of a command.
Called kube-controller-manager, the program needs no command and takes upstream's flags.";

/// An error with its causes, each said once: some say their cause themselves.
pub fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text.push_str(": ");
            text.push_str(&cause);
        }
    }
    text
}

/// Runs what the words ask for; gives back what is to be printed at the end, if anything.
///
/// # Errors
/// Whatever must be told before exiting with 1.
pub fn run(words: &[String]) -> anyhow::Result<Option<String>> {
    let program = words.first().map(String::as_str).unwrap_or("flyball");
    let program = Path::new(program)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or(program);
    let rest = words.get(1..).unwrap_or_default();
    if program == UPSTREAM_NAME {
        return controller_manager::run(program, program, rest);
    }
    match rest.first().map(String::as_str) {
        Some("controller-manager") => {
            let called = format!("{program} controller-manager");
            controller_manager::run(program, &called, &rest[1..])
        }
        Some("nodes") => nodes::run(program, rest),
        Some("up") => up::run(rest),
        Some("demo") => demo::run(rest),
        Some("sim") => sim::run(rest),
        Some("version" | "--version" | "-V") => {
            Ok(Some(format!("flyball {}", crate::identity::VERSION)))
        }
        Some("help" | "--help" | "-h") | None => Ok(Some(HELP.to_owned())),
        Some(other) => anyhow::bail!("Error: unknown command {other:?}\n\n{HELP}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_causes_each_once() {
        let error = anyhow::anyhow!("disk full").context("writing: disk full");
        assert_eq!(
            told(&error.context("no start")),
            "no start: writing: disk full"
        );
    }
}
