//! What tests need that simulated nodes do not have: data with reasons.

use anyhow::{Context as _, Result};
use serde::Deserialize;

const TEXT: &str = include_str!("../../e2e/needs.yaml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Need {
    /// Part of the name of a test.
    test: String,
    /// What it cannot have, in a few words.
    needs: String,
}

/// All that is known to be missing.
#[derive(Debug)]
pub(super) struct Needs(Vec<Need>);

impl Needs {
    pub(super) fn read() -> Result<Self> {
        serde_saphyr::from_str(TEXT)
            .context("e2e/needs.yaml")
            .map(Self)
    }

    /// What this test needs and cannot have.
    pub(super) fn of(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|need| name.contains(&need.test));
        found.map(|need| need.needs.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_is_found_by_part_of_a_name() {
        let needs = Needs::read().unwrap();
        let name =
            "[sig-auth] ServiceAccounts should mount projected service account token [Conformance]";
        assert_eq!(needs.of(name), Some("the output of a container"));
        assert_eq!(needs.of("[sig-apps] Deployment"), None);
    }
}
