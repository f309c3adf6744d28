//! The flags of `flyball up`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::folder;
use crate::options::GoDuration;
use crate::options::controllers::{Selection, listing};

/// What was asked for.
pub(super) struct Flags {
    /// Where state is kept; nowhere if it is to be kept in memory.
    pub(super) data: Option<PathBuf>,
    pub(super) listen: SocketAddr,
    pub(super) nodes: usize,
    pub(super) kubeconfig: Option<PathBuf>,
    pub(super) controllers: Selection,
    /// How long an Event is kept.
    pub(super) event_ttl: Duration,
}

impl Flags {
    /// Reads what the command line holds.
    pub(super) fn of(matches: &ArgMatches) -> anyhow::Result<Self> {
        let data = match matches.get_one::<PathBuf>("data-dir") {
            Some(folder) => Some(folder.clone()),
            None if matches.get_flag("ephemeral") => None,
            None => Some(folder::by_default()?),
        };
        let list = matches.get_many::<String>("controllers");
        let list: Vec<&str> = list.into_iter().flatten().map(String::as_str).collect();
        let controllers = Selection::parse_list(&list.join(","))
            .map_err(|wrong| anyhow::anyhow!("error: --controllers: {wrong}"))?;
        let listen = matches.get_one::<SocketAddr>("listen").copied();
        Ok(Self {
            data,
            listen: listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 6443))),
            nodes: matches.get_one("nodes").copied().unwrap_or_default(),
            kubeconfig: matches.get_one::<PathBuf>("kubeconfig").cloned(),
            controllers,
            event_ttl: matches.get_one("event-ttl").copied().unwrap_or_default(),
        })
    }
}

/// What can be asked for.
pub(super) fn command_line() -> Command {
    Command::new("flyball up")
        .bin_name("flyball up")
        .about("Run a whole control plane in one process: API server, store, controllers, scheduler, simulated nodes")
        .arg(
            Arg::new("data-dir")
                .long("data-dir")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .help("Where state is kept [default: flyball in the user's data folder]"),
        )
        .arg(
            Arg::new("ephemeral")
                .long("ephemeral")
                .action(ArgAction::SetTrue)
                .conflicts_with("data-dir")
                .help("Keep state in memory only"),
        )
        .arg(
            Arg::new("listen")
                .long("listen")
                .value_name("ADDRESS")
                .default_value("127.0.0.1:6443")
                .value_parser(address)
                .help("Where clients connect; port 0 takes a free one"),
        )
        .arg(
            Arg::new("nodes")
                .long("nodes")
                .value_name("N")
                .default_value("3")
                .value_parser(number)
                .help("How many simulated nodes there are"),
        )
        .arg(
            Arg::new("kubeconfig")
                .long("kubeconfig")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("Where to write the kubeconfig [default: kubeconfig in the data folder]"),
        )
        .arg(
            Arg::new("event-ttl")
                .long("event-ttl")
                .value_name("DURATION")
                .default_value("1h0m0s")
                .value_parser(duration)
                .help("Amount of time to retain events; 0 keeps them"),
        )
        .arg(
            Arg::new("controllers")
                .long("controllers")
                .value_name("LIST")
                .default_value("*")
                .action(ArgAction::Append)
                .help("Which controllers run: '*' is all that are on by default, 'foo' turns foo on, '-foo' turns it off")
                .long_help(format!(
                    "Which controllers run, as a comma-separated list: '*' is all that are on by default, \
                     'foo' turns foo on, '-foo' turns it off. {}",
                    listing()
                )),
        )
}

/// An address and a port; clap says the flag's name and what was given.
fn address(text: &str) -> Result<SocketAddr, String> {
    let advice = "an IP address and a port are needed, such as 127.0.0.1:6443 or [::1]:6443";
    text.parse().map_err(|_| match text.parse::<u16>() {
        Ok(port) => format!("{advice}; did you mean 127.0.0.1:{port}?"),
        Err(_) => match text.strip_prefix("localhost:") {
            Some(port) => format!("{advice}; did you mean 127.0.0.1:{port}?"),
            None => advice.to_owned(),
        },
    })
}

/// A length of time in Go's notation.
fn duration(text: &str) -> Result<Duration, String> {
    let length = GoDuration::parse(text)?.to_std();
    length.ok_or_else(|| "a duration that is not negative is needed, such as 1h".to_owned())
}

fn number(text: &str) -> Result<usize, String> {
    let whole = |_| "a whole number is needed, such as 3; 0 means none".to_owned();
    text.parse().map_err(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(words: &[&str]) -> Result<Flags, String> {
        let words = ["flyball up", "--ephemeral"].iter().chain(words);
        let matches = command_line().try_get_matches_from(words);
        Flags::of(&matches.map_err(|wrong| wrong.to_string())?).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn events_are_kept_as_long_as_upstream_keeps_them() {
        let ttl = |words: &[&str]| flags(words).ok().unwrap().event_ttl;
        assert_eq!(ttl(&[]), Duration::from_secs(3600));
        assert_eq!(ttl(&["--event-ttl=90s"]), Duration::from_secs(90));
        assert_eq!(ttl(&["--event-ttl=0"]), Duration::ZERO);
    }

    #[test]
    fn controllers_are_chosen_as_the_manager_does() {
        let chosen = flags(&["--controllers=*,-deployment"]).ok().unwrap();
        assert!(!chosen.controllers.enabled("deployment-controller"));
        assert!(chosen.controllers.enabled("replicaset-controller"));
        let chosen = flags(&["--controllers=deployment", "--controllers=replicaset"]);
        let chosen = chosen.ok().unwrap().controllers;
        assert!(chosen.enabled("deployment-controller") && chosen.enabled("replicaset-controller"));
        assert!(!chosen.enabled("replicationcontroller-controller"));
        let wrong = flags(&["--controllers=deploymint"]).err().unwrap();
        assert!(
            wrong.starts_with(
                "error: --controllers: \"deploymint\" is not in the list of known controllers"
            ),
            "{wrong}"
        );
    }

    #[test]
    fn bad_values_say_which_flag_what_was_given_and_what_to_do() {
        for (words, parts) in [
            (
                ["--listen", "6443"],
                ["'6443' for '--listen", "did you mean 127.0.0.1:6443?"],
            ),
            (
                ["--listen", "localhost:1"],
                ["'localhost:1'", "did you mean 127.0.0.1:1?"],
            ),
            (
                ["--listen", "here"],
                ["'here' for '--listen", "such as 127.0.0.1:6443"],
            ),
            (
                ["--nodes", "many"],
                ["'many' for '--nodes", "a whole number is needed"],
            ),
            (
                ["--nodes", "1.5"],
                ["'1.5' for '--nodes", "a whole number is needed"],
            ),
            (
                ["--event-ttl", "60"],
                ["'60' for '--event-ttl", "lacks a unit"],
            ),
            (
                ["--nodes=1", "--event-ttl=-1h"],
                ["--event-ttl", "not negative"],
            ),
            (["--data-dir", "x"], ["--ephemeral", "cannot be used with"]),
            (
                ["--node", "3"],
                ["unexpected argument '--node'", "'--nodes'"],
            ),
        ] {
            let wrong = flags(&words).err().unwrap();
            for part in parts {
                assert!(wrong.contains(part), "{words:?}: {wrong}");
            }
        }
    }
}
