//! Upstream's `e2e.test`: which tests it holds, and running one of them.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::ground::Ground;
use super::report::{self, SpecReport};
use crate::child::Child;
use crate::cluster::Folder;

/// How long the program takes to name its tests, on a slow machine.
const LIST_LIMIT: Duration = Duration::from_secs(300);

/// What a test may take beyond its limit: the program cleans up after a test that it stopped.
const FAREWELL: Duration = Duration::from_secs(180);

/// The longest line of a failure that is kept.
const SAID_CHARACTERS_MAX: usize = 240;

/// A test of upstream's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Its whole name.
    pub name: String,
    /// Whether it is in the conformance list.
    pub conformance: bool,
    /// Whether it must not run beside others.
    pub serial: bool,
}

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecState {
    /// All it asked for was so.
    Passed,
    /// Something was not so, or took too long.
    Failed,
    /// It says itself that it cannot be run here.
    Skipped,
}

impl SpecState {
    /// The word for tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "pass",
            Self::Failed => "fail",
            Self::Skipped => "skip",
        }
    }
}

/// What came of a test.
#[derive(Debug, Clone)]
pub struct SpecOutcome {
    /// How it ended.
    pub state: SpecState,
    /// What it said if it did not pass, on one line.
    pub said: String,
    /// How long it took, the start of the program included.
    pub took: Duration,
}

impl SpecOutcome {
    pub(super) fn said_on_a_line(&self) -> String {
        match self.said.as_str() {
            "" => String::new(),
            said => format!(": {said}"),
        }
    }
}

/// All tests, sorted by name.
pub(super) async fn list(program: &Path) -> Result<Vec<Spec>> {
    let folder = Folder::create(false)?;
    let report = folder.path().join("list.json");
    let mut command = Command::new(program);
    command
        .current_dir(folder.path())
        .args(["--ginkgo.dry-run", "--ginkgo.no-color"])
        // Nothing is asked of a cluster, but without an address the program looks for one.
        .arg("--host=https://127.0.0.1")
        .arg(format!("--ginkgo.json-report={}", report.display()));
    let mut child = Child::spawn("e2e.test", command, &folder.path().join("list.log"))?;
    let status = child.wait_exit(LIST_LIMIT).await?;
    if !status.success() {
        bail!("e2e.test cannot name its tests: {}", child.log_tail(20));
    }
    let tests = report::read(&report)?;
    let tests = tests.iter().filter(|report| report.is_test());
    let mut specs: Vec<Spec> = tests
        .map(|report| Spec {
            name: report.name(),
            conformance: report.has_label("Conformance"),
            serial: report.has_label("Serial"),
        })
        .collect();
    specs.sort_by(|one, other| one.name.cmp(&other.name));
    specs.dedup();
    Ok(specs)
}

/// Runs one test. `number` names its files in the folder of the cluster.
pub(super) async fn run(
    program: &Path,
    ground: &Ground,
    number: usize,
    spec: &Spec,
    limit: Duration,
) -> Result<SpecOutcome> {
    let folder = ground.folder().join(format!("e2e-{number}"));
    fs::create_dir_all(&folder)?;
    let report = folder.join("report.json");
    let cluster = ground.cluster();
    let mut command = Command::new(program);
    command
        .current_dir(&folder)
        .arg(format!(
            "--kubeconfig={}",
            cluster.admin().kubeconfig().display()
        ))
        .arg(format!(
            "--kubectl-path={}",
            cluster.binaries().kubectl.display()
        ))
        .arg(format!("--e2e-output-dir={}", folder.display()))
        .args(["--provider=skeleton", "--dump-logs-on-failure=false"])
        .args(["--ginkgo.no-color", "--ginkgo.v"])
        .arg(format!("--ginkgo.focus={}", focus(&spec.name)))
        .arg(format!("--ginkgo.timeout={}s", limit.as_secs()))
        .arg(format!("--ginkgo.json-report={}", report.display()));
    let begun = Instant::now();
    let mut child = Child::spawn("e2e.test", command, &folder.join("output.log"))?;
    let ended = child.wait_exit(limit + FAREWELL).await;
    let took = begun.elapsed();
    let (state, said) = match ended.and_then(|_| report::read(&report)) {
        Ok(reports) => judge(&reports, &spec.name)?,
        // A program that hangs or dies is a failure of the test, with its last words as the reason.
        Err(_) => (
            SpecState::Failed,
            on_one_line(child.log_tail(1).lines().last().unwrap_or_default()),
        ),
    };
    // It names all tests that were not run, too: 20 MB each time.
    if report.exists() {
        fs::remove_file(&report).with_context(|| format!("cannot remove {}", report.display()))?;
    }
    Ok(SpecOutcome { state, said, took })
}

/// A regular expression that fits this test only. Ginkgo puts the name of the suite before the test's own.
fn focus(name: &str) -> String {
    format!(" {}$", regex::escape(name))
}

fn judge(reports: &[SpecReport], name: &str) -> Result<(SpecState, String)> {
    let broken = reports
        .iter()
        .find(|one| !one.is_test() && one.has_failed());
    if let Some(broken) = broken {
        let said = on_one_line(&broken.failure.message);
        return Ok((SpecState::Failed, format!("{}: {said}", broken.node())));
    }
    let report = reports
        .iter()
        .find(|one| one.is_test() && one.name() == name)
        .with_context(|| format!("Ginkgo's report has no test `{name}`"))?;
    let state = match report.state.as_str() {
        "passed" => SpecState::Passed,
        "skipped" | "pending" => SpecState::Skipped,
        _ => SpecState::Failed,
    };
    let said = match state {
        SpecState::Passed => String::new(),
        _ => on_one_line(&report.failure.message),
    };
    Ok((state, said))
}

/// The beginning of a message, without line ends.
fn on_one_line(message: &str) -> String {
    let words: Vec<&str> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(SAID_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(state: &str, before: &str) -> Vec<SpecReport> {
        let text = format!(
            r#"[{{"LeafNodeType": "SynchronizedBeforeSuite", "State": "{before}",
                 "Failure": {{"Message": "no server"}}}},
                {{"LeafNodeType": "It", "LeafNodeText": "works", "State": "{state}",
                 "Failure": {{"Message": "it\n  did not"}}}}]"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_test_is_judged_by_its_state_and_by_what_happens_before_all_tests() {
        use SpecState::{Failed, Passed, Skipped};
        for (state, before, expected, said) in [
            ("passed", "passed", Passed, ""),
            ("failed", "passed", Failed, "it did not"),
            ("timedout", "passed", Failed, "it did not"),
            ("skipped", "passed", Skipped, "it did not"),
            (
                "skipped",
                "failed",
                Failed,
                "SynchronizedBeforeSuite: no server",
            ),
        ] {
            let judged = judge(&reports(state, before), "works").unwrap();
            assert_eq!(judged, (expected, said.to_owned()), "{state} {before}");
        }
        assert!(judge(&reports("passed", "passed"), "another").is_err());
    }

    #[test]
    fn the_filter_takes_brackets_as_they_are() {
        let filter = regex::Regex::new(&focus("[sig-apps] A should b (c)")).unwrap();
        assert!(filter.is_match("Kubernetes e2e suite [sig-apps] A should b (c)"));
        assert!(!filter.is_match("Kubernetes e2e suite [sig-apps] A should b (c) too"));
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        assert_eq!(on_one_line(" a\n\tb "), "a b");
        let long = on_one_line(&"ä".repeat(SAID_CHARACTERS_MAX + 1));
        assert_eq!(long.chars().count(), SAID_CHARACTERS_MAX + 1);
        assert!(long.ends_with('…'));
    }
}
