//! `/livez`, `/readyz` and `/healthz`: named checks, asked at the time of the request.
//!
//! Upstream: `apiserver/pkg/server/healthz/healthz.go`. Its checks are here as far as what they look
//! at is: the store under the name of `etcd`, what is made at the start, and whether the server is
//! about to stop.

use std::fmt::Write;

use crate::page::Page;
use flyball_https::Target;

/// What there is to know about the server's health.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Why nothing can be stored any more.
    pub(crate) broken: Option<String>,
    /// Whether the server is about to stop.
    pub(crate) is_stopping: bool,
}

/// The names of the probes.
pub(crate) const PROBES: &[&str] = &["healthz", "livez", "readyz"];

/// The names of a probe's checks, in the order in which they are told.
pub(crate) fn checks(probe: &str) -> Vec<&'static str> {
    let mut checks = vec!["ping", "etcd"];
    if probe == "readyz" {
        checks.push("etcd-readiness");
    }
    checks.extend([
        "poststarthook/start-system-namespaces-controller",
        "poststarthook/rbac/bootstrap-roles",
        "poststarthook/scheduling/bootstrap-system-priority-classes",
    ]);
    if probe == "readyz" {
        checks.push("shutdown");
    }
    checks
}

/// The page at a path; `None` if it is no probe's.
pub(crate) fn page(target: &Target, state: &State) -> Option<Page> {
    let path = target.path.strip_prefix('/')?;
    let (probe, check) = match path.split_once('/') {
        Some((probe, check)) => (probe, Some(check)),
        None => (path, None),
    };
    let probe = PROBES.iter().find(|one| **one == probe)?;
    match check {
        None => Some(all(probe, target, state)),
        Some(name) => one(probe, name, state),
    }
}

fn one(probe: &str, name: &str, state: &State) -> Option<Page> {
    let name = checks(probe).into_iter().find(|one| *one == name)?;
    Some(match fault(name, state) {
        None => Page::text(200, "ok"),
        Some(why) => Page::error(500, &format!("internal server error: {why}")),
    })
}

/// Why a check fails.
fn fault(name: &str, state: &State) -> Option<String> {
    match name {
        "etcd" | "etcd-readiness" => state.broken.clone(),
        "shutdown" if state.is_stopping => Some("process is shutting down".to_owned()),
        // What is made at the start was made before the first request.
        _ => None,
    }
}

fn all(probe: &str, target: &Target, state: &State) -> Page {
    let excluded: Vec<&str> = target.values("exclude").collect();
    let names = checks(probe);
    let mut told = String::new();
    let mut has_failed = false;
    for name in &names {
        // Writing to a text cannot fail.
        let _ = match fault(name, state) {
            _ if excluded.contains(name) => writeln!(told, "[+]{name} excluded: ok"),
            None => writeln!(told, "[+]{name} ok"),
            Some(why) => {
                has_failed = true;
                tracing::warn!(probe, check = name, why, "health check failed");
                writeln!(told, "[-]{name} failed: reason withheld")
            }
        };
    }
    let mut unknown: Vec<String> = excluded
        .iter()
        .filter(|name| !names.contains(name))
        .map(|name| format!("{name:?}"))
        .collect();
    if !unknown.is_empty() {
        unknown.sort();
        unknown.dedup();
        let unknown = unknown.join(",");
        let _ = writeln!(
            told,
            "warn: some health checks cannot be excluded: no matches for {unknown}"
        );
    }
    if has_failed {
        return Page::error(500, &format!("{told}{probe} check failed"));
    }
    let text = match target.has("verbose") {
        true => format!("{told}{probe} check passed\n"),
        false => "ok".to_owned(),
    };
    Page {
        is_sniffable: false,
        ..Page::text(200, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(uri: &str, state: &State) -> Option<(u16, String)> {
        let page = page(&Target::decode(&uri.parse().unwrap()).unwrap(), state)?;
        Some((page.code, String::from_utf8(page.body.to_vec()).unwrap()))
    }

    fn told(uri: &str, state: &State) -> String {
        shown(uri, state).unwrap().1
    }

    #[test]
    fn a_healthy_server_says_so_in_two_letters() {
        let well = State::default();
        for uri in [
            "/livez",
            "/readyz",
            "/healthz?exclude=nothing",
            "/livez/ping",
            "/readyz/shutdown",
        ] {
            assert_eq!(shown(uri, &well), Some((200, "ok".to_owned())), "{uri}");
        }
        for uri in ["/livez/", "/livez/nothing", "/livez/shutdown", "/health"] {
            assert_eq!(shown(uri, &well), None, "{uri}");
        }
    }

    #[test]
    fn every_check_has_a_line_for_who_asks() {
        let text = told(
            "/livez?verbose&exclude=etcd&exclude=b&exclude=a",
            &State::default(),
        );
        assert_eq!(
            text,
            "[+]ping ok\n[+]etcd excluded: ok\n\
             [+]poststarthook/start-system-namespaces-controller ok\n\
             [+]poststarthook/rbac/bootstrap-roles ok\n\
             [+]poststarthook/scheduling/bootstrap-system-priority-classes ok\n\
             warn: some health checks cannot be excluded: no matches for \"a\",\"b\"\n\
             livez check passed\n"
        );
    }

    #[test]
    fn who_is_about_to_stop_is_alive_and_not_ready() {
        let stopping = State {
            is_stopping: true,
            ..State::default()
        };
        assert_eq!(shown("/livez", &stopping).unwrap().0, 200);
        let (code, text) = shown("/readyz", &stopping).unwrap();
        assert_eq!(code, 500);
        assert!(
            text.ends_with("[-]shutdown failed: reason withheld\nreadyz check failed\n"),
            "{text}"
        );
        assert_eq!(
            shown("/readyz/shutdown", &stopping).unwrap(),
            (
                500,
                "internal server error: process is shutting down\n".to_owned()
            )
        );
    }

    #[test]
    fn a_broken_disk_is_told() {
        let broken = State {
            broken: Some("disk full".to_owned()),
            ..State::default()
        };
        assert_eq!(shown("/livez", &broken).unwrap().0, 500);
        assert_eq!(shown("/livez?exclude=etcd", &broken).unwrap().0, 200);
    }
}
