//! `/healthz`, `/livez` and `/readyz`: named checks, asked at the time of the request.
//!
//! Bodies are upstream's (`apiserver/pkg/server/healthz/healthz.go`): `ok`, or one line for each check when the
//! request says `?verbose` and whenever a check fails; `?exclude=<name>` skips a check; `/healthz/<name>` is one check
//! alone and tells its reason to those who may see that path.
//!
//! One difference: upstream writes `reason withheld` for every failed check because the page is open to all. So does
//! this server, except on `/readyz?verbose`, a page upstream's manager does not have, which names the reason: an
//! operator must see which kind is not synced without a log. Checks must therefore put no secret into a reason, and
//! whoever minds can take `/readyz` out of `--authorization-always-allow-paths`.

use std::fmt::Write;

use http::StatusCode;

use crate::endpoints::Reply;
use crate::reply::go_quote;
use flyball_https::Target;

/// Where a health check is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Probe {
    /// `/healthz`: what upstream's probes look at. A standby is healthy.
    Healthz,
    /// `/livez`: would a restart help?
    Livez,
    /// `/readyz`: are the caches filled and the work running?
    Readyz,
}

impl Probe {
    fn name(self) -> &'static str {
        match self {
            Self::Healthz => "healthz",
            Self::Livez => "livez",
            Self::Readyz => "readyz",
        }
    }

    /// The probe that owns `path`, and the check it asks for, if any.
    pub(crate) fn of(path: &str) -> Option<(Self, Option<&str>)> {
        [Self::Healthz, Self::Livez, Self::Readyz]
            .into_iter()
            .find_map(|probe| {
                let rest = path.strip_prefix('/')?.strip_prefix(probe.name())?;
                match rest.strip_prefix('/') {
                    Some(check) => Some((probe, Some(check))),
                    None => rest.is_empty().then_some((probe, None)),
                }
            })
    }
}

/// One thing that is well, or the reason why it is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The name under which it is listed and can be asked for or excluded.
    pub name: String,
    /// `Err` carries the reason, without secrets.
    pub result: Result<(), String>,
    /// Whether the probe fails with it; otherwise it is listed, and no more.
    pub needed: bool,
}

impl Check {
    /// A check that holds.
    pub fn ok(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            result: Ok(()),
            needed: true,
        }
    }

    /// A check that does not hold.
    pub fn failed(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            result: Err(reason.into()),
            needed: true,
        }
    }

    /// The same check, without which the process as a whole is well all the same.
    pub fn not_needed(self) -> Self {
        Self {
            needed: false,
            ..self
        }
    }
}

/// The state of the process, evaluated at each request.
pub trait Health: Send + Sync {
    /// The checks of one probe, in the order they are listed. It is called on the server's tasks: it must not block.
    /// Without any check the probe answers for a single one, `ping`, that always holds.
    fn checks(&self, probe: Probe) -> Vec<Check>;
}

/// The answer to a health request; `None` when there is no check of that name.
pub(crate) fn answer(
    health: &dyn Health,
    probe: Probe,
    check: Option<&str>,
    target: &Target,
) -> Option<Reply> {
    let mut checks = health.checks(probe);
    if checks.is_empty() {
        checks.push(Check::ok("ping"));
    }
    match check {
        Some(name) => checks
            .iter()
            .find(|check| check.name == name)
            .map(answer_one),
        None => Some(answer_all(&checks, probe, target)),
    }
}

fn answer_one(check: &Check) -> Reply {
    match &check.result {
        Ok(()) => Reply::text("ok"),
        Err(reason) => {
            let message = format!("internal server error: {reason}");
            Reply::error(StatusCode::INTERNAL_SERVER_ERROR, &message)
        }
    }
}

fn answer_all(checks: &[Check], probe: Probe, target: &Target) -> Reply {
    let excluded: Vec<&str> = target.values("exclude").collect();
    let verbose = target.has("verbose");
    let mut lines = String::new();
    let mut failed: Vec<&str> = Vec::new();
    for Check {
        name,
        result,
        needed,
    } in checks
    {
        // Writing to a String cannot fail.
        let _ = match result {
            _ if excluded.contains(&name.as_str()) => writeln!(lines, "[+]{name} excluded: ok"),
            Ok(()) => writeln!(lines, "[+]{name} ok"),
            Err(reason) => {
                if *needed {
                    failed.push(name);
                }
                tracing::debug!(probe = probe.name(), check = %name, reason, "health check failed");
                let reason = one_line(reason);
                let reason = if verbose && probe == Probe::Readyz {
                    &reason
                } else {
                    "reason withheld"
                };
                let word = if *needed {
                    "failed"
                } else {
                    "failed, not needed"
                };
                writeln!(lines, "[-]{name} {word}: {reason}")
            }
        };
    }
    lines.push_str(&unknown_exclusions(&excluded, checks));
    if !failed.is_empty() {
        let message = format!("{lines}{} check failed", probe.name());
        return Reply::error(StatusCode::INTERNAL_SERVER_ERROR, &message);
    }
    if verbose {
        Reply::text(format!("{lines}{} check passed\n", probe.name()))
    } else {
        Reply::text("ok")
    }
}

fn unknown_exclusions(excluded: &[&str], checks: &[Check]) -> String {
    let known = |name: &&str| checks.iter().any(|check| check.name == *name);
    let mut unknown: Vec<&str> = excluded
        .iter()
        .copied()
        .filter(|name| !known(name))
        .collect();
    if unknown.is_empty() {
        return String::new();
    }
    unknown.sort_unstable();
    unknown.dedup();
    let names: Vec<String> = unknown.into_iter().map(go_quote).collect();
    format!(
        "warn: some health checks cannot be excluded: no matches for {}\n",
        names.join(",")
    )
}

/// A reason must not be able to forge the line of another check.
fn one_line(reason: &str) -> String {
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
