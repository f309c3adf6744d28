//! The scoreboard, on the terminal and as a page.

use std::collections::BTreeMap;

use anyhow::Result;
use flyball::CONTROLLERS;

use super::needs::Needs;
use super::suite::{Spec, SpecOutcome, SpecState};
use crate::upstream::Upstream;

/// The page that a full run can write.
pub const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/conformance.md");

/// The word for a failure that nobody has explained yet.
const UNEXPLAINED: &str = "not explained";

/// How every test ended with every manager.
#[derive(Debug)]
pub struct Scoreboard {
    pub(super) specs: Vec<Spec>,
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    manager: &'static str,
    /// In the order of the tests.
    outcomes: Vec<SpecOutcome>,
}

impl Scoreboard {
    pub(super) fn new(specs: Vec<Spec>) -> Self {
        Self {
            specs,
            columns: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, manager: &'static str, outcomes: Vec<SpecOutcome>) {
        self.columns.push(Column { manager, outcomes });
    }

    /// Whether the last manager passes all that the first passes; alone, whether it fails nothing.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self.columns.as_slice() {
            [one] => one.count(SpecState::Failed) == 0,
            _ => self.behind().is_empty(),
        }
    }

    /// What the first manager passes and the last does not.
    fn behind(&self) -> Vec<&Spec> {
        let (Some(first), Some(last)) = (self.columns.first(), self.columns.last()) else {
            return Vec::new();
        };
        let outcomes = first.outcomes.iter().zip(&last.outcomes);
        let specs = self.specs.iter().zip(outcomes);
        let behind = specs.filter(|(_, (first, last))| {
            first.state == SpecState::Passed && last.state != SpecState::Passed
        });
        behind.map(|(spec, _)| spec).collect()
    }

    /// The counts, one line for each manager, and what one passes and the other does not.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            text.push_str(&format!(
                "{:<8} {:>3} tests, {:>3} passed, {:>3} failed, {:>3} skipped\n",
                column.manager,
                column.outcomes.len(),
                column.count(SpecState::Passed),
                column.count(SpecState::Failed),
                column.count(SpecState::Skipped),
            ));
        }
        for spec in self.behind() {
            text.push_str(&format!("BEHIND   {}\n", spec.name));
        }
        text
    }

    /// The page for readers, of these areas.
    ///
    /// # Errors
    /// When the list of what simulated nodes lack cannot be read.
    pub fn page(&self, areas: &[String]) -> Result<String> {
        let needs = Needs::read()?;
        let mut page = format!(
            "# Kubernetes' own e2e tests\n\n\
             <!-- Made by `cargo xtask conformance e2e --write-page`. -->\n\n\
             The tests are those of Kubernetes {}, unchanged, on its own etcd, kube-apiserver and kube-scheduler, with \
             our simulated nodes.\n\
             Only the manager differs.\n\
             Ours ran {}; upstream's ran beside it for the other controllers.\n\
             Tests marked with C are in the conformance list.\n\n\
             ```text\n{}```\n",
            Upstream::version()?,
            ours(),
            self.summary()
        );
        for area in areas {
            page.push_str(&self.table(area));
        }
        page.push_str(&self.without_success(&needs));
        Ok(page)
    }

    fn table(&self, area: &str) -> String {
        let mut text = format!("\n## {}\n\n| test | list |", escaped(area));
        for column in &self.columns {
            text.push_str(&format!(" {} |", column.manager));
        }
        text.push_str(&format!(
            "\n|---|---|{}\n",
            "---|".repeat(self.columns.len())
        ));
        for (at, spec) in self.specs.iter().enumerate() {
            let Some(name) = spec.name.strip_prefix(area) else {
                continue;
            };
            let name = name.replace("[Conformance]", "");
            let list = if spec.conformance { "C" } else { "" };
            text.push_str(&format!("| {} | {list} |", escaped(name.trim())));
            for column in &self.columns {
                text.push_str(&format!(" {} |", column.outcomes[at].state.word()));
            }
            text.push('\n');
        }
        text
    }

    /// What did not pass with some manager, sorted by the reason.
    fn without_success(&self, needs: &Needs) -> String {
        let mut failed: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut skipped: Vec<(&str, &str)> = Vec::new();
        for (at, spec) in self.specs.iter().enumerate() {
            let mut outcomes = self.columns.iter().map(|column| &column.outcomes[at]);
            if let Some(outcome) = outcomes
                .clone()
                .find(|outcome| outcome.state == SpecState::Failed)
            {
                let reason = match needs.of(&spec.name) {
                    Some(need) => format!("needs {need}"),
                    None => format!("{UNEXPLAINED}: {}", outcome.said),
                };
                failed.entry(reason).or_default().push(&spec.name);
            } else if let Some(outcome) = outcomes.find(|one| one.state == SpecState::Skipped) {
                skipped.push((&spec.name, &outcome.said));
            }
        }
        let mut text = String::new();
        if !failed.is_empty() {
            text.push_str(
                "\n## Why some fail\n\nSimulated nodes tell the API server what a kubelet would; no container runs on them.\n\n",
            );
            for (reason, names) in failed {
                text.push_str(&format!("- {}:\n", escaped(&reason)));
                for name in names {
                    text.push_str(&format!("  - {}\n", escaped(name)));
                }
            }
        }
        if !skipped.is_empty() {
            text.push_str("\n## What some say when they do not run here\n\n");
            for (name, said) in skipped {
                text.push_str(&format!("- {}: {}\n", escaped(name), escaped(said)));
            }
        }
        text
    }
}

impl Column {
    fn count(&self, state: SpecState) -> usize {
        let ended = self.outcomes.iter().filter(|one| one.state == state);
        ended.count()
    }
}

/// The controllers that are ours, for a sentence.
fn ours() -> String {
    let names = CONTROLLERS.iter().map(|entry| entry.descriptor.name);
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        if matches!(c, '[' | ']' | '|' | '<' | '>' | '*' | '_' | '`' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scoreboard(go: &[SpecState], ours: &[SpecState]) -> Scoreboard {
        let outcome = |state: &SpecState| SpecOutcome {
            state: *state,
            said: "so|so".to_owned(),
            took: std::time::Duration::ZERO,
        };
        let specs = (0..go.len()).map(|at| Spec {
            name: format!("[sig-a] Thing does {at} [Conformance]"),
            conformance: at == 0,
            serial: false,
        });
        let mut board = Scoreboard::new(specs.collect());
        board.add("go", go.iter().map(outcome).collect());
        board.add("flyball", ours.iter().map(outcome).collect());
        board
    }

    use SpecState::{Failed, Passed, Skipped};

    #[test]
    fn ours_must_pass_what_the_other_passes_and_nothing_else() {
        for (go, ours, holds) in [
            ([Passed, Failed], [Passed, Failed], true),
            ([Failed, Failed], [Passed, Passed], true),
            ([Passed, Passed], [Passed, Failed], false),
            ([Passed, Passed], [Skipped, Passed], false),
        ] {
            assert_eq!(scoreboard(&go, &ours).holds(), holds, "{go:?} {ours:?}");
        }
    }

    #[test]
    fn the_page_has_a_row_for_each_test_and_a_reason_for_each_failure() {
        let board = scoreboard(&[Passed, Failed, Skipped], &[Passed, Failed, Skipped]);
        let page = board.page(&["[sig-a] Thing".to_owned()]).unwrap();
        for line in [
            "## \\[sig-a\\] Thing",
            "| does 0 | C | pass | pass |",
            "| does 1 |  | fail | fail |",
            "- not explained: so\\|so:",
            "- \\[sig-a\\] Thing does 2 \\[Conformance\\]: so\\|so",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}\n{page}");
        }
    }

    #[test]
    fn the_committed_page_shows_nothing_that_only_upstream_passes_or_nobody_explains() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        assert!(page.contains("| pass | pass |"));
        for line in page.lines() {
            let behind = line.ends_with("| pass | fail |") || line.ends_with("| pass | skip |");
            assert!(!behind && !line.contains(UNEXPLAINED), "{line}");
        }
    }
}
