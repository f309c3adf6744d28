//! All checks in the order in which they are told, and which of them hold for a level and version.
//!
//! Upstream: `pod-security-admission/policy/{checks,registry}.go`.

use super::policy::{Level, LevelVersion};
use super::subject::Subject;
use super::{baseline, restricted};

/// The version of the newest rules: from then on nothing has changed.
const NEWEST: u32 = 35;

/// What is wrong: in a few words, and in detail.
pub(super) type Violation = Option<(String, String)>;

/// A check: from which version on it is made, and up to which version before a stricter one takes
/// its place in `restricted`.
struct Check {
    level: Level,
    since: u32,
    replaced_since: Option<u32>,
    check: fn(&Subject<'_>, u32) -> Violation,
}

const fn base(since: u32, check: fn(&Subject<'_>, u32) -> Violation) -> Check {
    Check {
        level: Level::Baseline,
        since,
        replaced_since: None,
        check,
    }
}

const fn replaced(since: u32, check: fn(&Subject<'_>, u32) -> Violation) -> Check {
    Check {
        replaced_since: Some(since),
        ..base(0, check)
    }
}

const fn strict(since: u32, check: fn(&Subject<'_>, u32) -> Violation) -> Check {
    Check {
        level: Level::Restricted,
        ..base(since, check)
    }
}

/// Upstream orders them by level and then by names of its own.
const CHECKS: &[Check] = &[
    base(0, baseline::app_armor),
    replaced(22, baseline::capabilities),
    base(0, baseline::host_namespaces),
    replaced(0, baseline::host_paths),
    base(0, baseline::host_ports),
    base(34, baseline::probe_hosts),
    base(0, baseline::privileged),
    replaced(35, baseline::proc_mount),
    base(0, baseline::se_linux),
    replaced(19, baseline::seccomp),
    base(0, baseline::sysctls),
    base(0, baseline::windows_host_process),
    strict(8, restricted::privilege_escalation),
    strict(22, restricted::capabilities),
    strict(35, restricted::proc_mount),
    strict(0, restricted::volumes),
    strict(0, restricted::non_root),
    strict(23, restricted::user),
    strict(19, restricted::seccomp),
];

/// All that is wrong with a pod.
pub(super) struct Violations(Vec<(String, String)>);

impl Violations {
    /// In a few words.
    pub(super) fn reasons(&self) -> String {
        let all: Vec<&str> = self.0.iter().map(|(reason, _)| reason.as_str()).collect();
        all.join(", ")
    }

    /// In detail.
    pub(super) fn details(&self) -> String {
        let all = self
            .0
            .iter()
            .map(|(reason, detail)| format!("{reason} ({detail})"));
        all.collect::<Vec<String>>().join(", ")
    }
}

/// What is wrong with a pod by the rules of a level, if something is.
pub(super) fn violations(rules: &LevelVersion, subject: &Subject<'_>) -> Option<Violations> {
    let minor = rules.version.unwrap_or(NEWEST).min(NEWEST);
    let holds = |check: &&Check| {
        let is_replaced = check.replaced_since.is_some_and(|since| minor >= since);
        match rules.level {
            Level::Privileged => false,
            Level::Baseline => check.level == Level::Baseline,
            Level::Restricted => !is_replaced,
        }
    };
    let checks = CHECKS
        .iter()
        .filter(|check| minor >= check.since)
        .filter(holds);
    let found: Vec<(String, String)> = checks
        .filter_map(|one| (one.check)(subject, minor))
        .collect();
    (!found.is_empty()).then_some(Violations(found))
}

/// `container "a"` or `containers "a", "b"`.
pub(super) fn named(word: &str, names: &[&str]) -> String {
    format!("{} {}", plural(word, names.len()), quoted(names))
}

/// A word, in the plural unless there is one.
pub(super) fn plural(word: &str, number: usize) -> String {
    match number {
        1 => word.to_owned(),
        _ => format!("{word}s"),
    }
}

/// Names in quotes.
pub(super) fn quoted<T: AsRef<str>>(names: &[T]) -> String {
    let all = names.iter().map(|name| format!("\"{}\"", name.as_ref()));
    all.collect::<Vec<String>>().join(", ")
}

/// Who sets something: the pod, some containers, or both.
pub(super) fn setters(pod: bool, containers: &[&str]) -> Option<String> {
    let pod = pod.then(|| "pod".to_owned());
    let containers = (!containers.is_empty()).then(|| named("container", containers));
    let all: Vec<String> = pod.into_iter().chain(containers).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

/// Values in order, each once.
pub(super) fn set<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut values: Vec<&str> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}
