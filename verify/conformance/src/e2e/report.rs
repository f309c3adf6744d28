//! What Ginkgo writes about a run: the few fields that are read of its JSON report.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// One test of a report, run or not.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct SpecReport {
    container_hierarchy_texts: Option<Vec<String>>,
    container_hierarchy_labels: Option<Vec<Option<Vec<String>>>>,
    leaf_node_type: String,
    leaf_node_text: String,
    leaf_node_labels: Option<Vec<String>>,
    pub(super) state: String,
    pub(super) failure: Failure,
}

/// Why a test did not pass, or was skipped.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Failure {
    pub(super) message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SuiteReport {
    spec_reports: Vec<SpecReport>,
}

/// Reads a report.
pub(super) fn read(path: &Path) -> Result<Vec<SpecReport>> {
    let said = || format!("Ginkgo's report {}", path.display());
    let file = File::open(path).with_context(said)?;
    let suites: Vec<SuiteReport> =
        serde_json::from_reader(BufReader::new(file)).with_context(said)?;
    Ok(suites
        .into_iter()
        .flat_map(|suite| suite.spec_reports)
        .collect())
}

impl SpecReport {
    /// Whether it is a test, not what is done before or after all of them.
    pub(super) fn is_test(&self) -> bool {
        self.leaf_node_type == "It"
    }

    /// What it is if it is no test.
    pub(super) fn node(&self) -> &str {
        &self.leaf_node_type
    }

    /// Whether it came to a bad end.
    pub(super) fn has_failed(&self) -> bool {
        !matches!(self.state.as_str(), "" | "passed" | "skipped" | "pending")
    }

    /// The whole name, as Ginkgo's own filter sees it.
    pub(super) fn name(&self) -> String {
        let containers = self.container_hierarchy_texts.iter().flatten();
        let texts = containers.chain([&self.leaf_node_text]);
        let texts: Vec<&str> = texts
            .map(String::as_str)
            .filter(|text| !text.is_empty())
            .collect();
        texts.join(" ")
    }

    /// Whether it, or what it is part of, carries a label.
    pub(super) fn has_label(&self, label: &str) -> bool {
        let containers = self.container_hierarchy_labels.iter().flatten().flatten();
        let mut labels = containers
            .flatten()
            .chain(self.leaf_node_labels.iter().flatten());
        labels.any(|known| known == label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_labels_are_those_of_the_test_and_what_it_is_part_of() {
        let text = r#"{
            "ContainerHierarchyTexts": ["[sig-apps] Thing", "", "when big"],
            "ContainerHierarchyLabels": [["Serial"], null],
            "LeafNodeType": "It", "LeafNodeText": "works [Conformance]",
            "LeafNodeLabels": ["Conformance"], "State": "passed", "Unknown": 1
        }"#;
        let report: SpecReport = serde_json::from_str(text).unwrap();
        assert_eq!(
            report.name(),
            "[sig-apps] Thing when big works [Conformance]"
        );
        assert!(report.is_test() && !report.has_failed());
        assert!(report.has_label("Serial") && report.has_label("Conformance"));
        assert!(!report.has_label("Slow"));
    }

    #[test]
    fn every_end_but_passing_and_not_running_is_bad() {
        for (state, bad) in [
            ("passed", false),
            ("skipped", false),
            ("failed", true),
            ("timedout", true),
            ("panicked", true),
            ("interrupted", true),
        ] {
            let report = SpecReport {
                state: state.to_owned(),
                ..Default::default()
            };
            assert_eq!(report.has_failed(), bad, "{state}");
        }
    }
}
