//! Scenarios: what a user does to a cluster, as data, and the runner that does it.
//!
//! A scenario is a YAML file: a list of steps, each a map with one key. Between steps nothing is assumed about time;
//! every wait names a condition. A checkpoint, and the end, wait until the namespace is quiet and then take its state
//! for comparison.

mod act;
mod fill;
mod settle;
mod wait;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::objects::Propagation;

pub use act::Outcome;
pub(crate) use act::run;
pub(crate) use settle::{Everything, KINDS};
pub(crate) use wait::Wait;

/// One script, run in a namespace of its own against each manager.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// The file's stem.
    #[serde(skip)]
    pub name: String,
    /// What a user would expect, in a sentence or two.
    pub story: String,
    /// Whose behaviour it shows.
    pub controllers: Vec<String>,
    /// What happens, in order.
    pub(crate) steps: Vec<Step>,
    /// Differences that are meant to be.
    #[serde(default)]
    pub allow: Vec<Allowance>,
    /// Event reasons whose numbers and repetitions depend on timing: `reason: why`. Digits in such events are
    /// masked and repetitions not counted.
    #[serde(default)]
    pub loose_events: BTreeMap<String, String>,
}

/// A difference that is meant to be.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allowance {
    /// The checkpoint it is limited to; everywhere if absent.
    #[serde(default)]
    pub at: Option<String>,
    /// A part of the difference's path.
    pub path: String,
    /// Why it is right that the managers differ here.
    pub reason: String,
}

/// A thing to do or to wait for. `Kind/name` names an object in the scenario's namespace, `Namespace/.` that namespace.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Step {
    /// Create an object; short forms are filled in, see `fill`.
    Create(Value),
    /// The server must refuse to create the object, with this code.
    Refused { create: Value, code: u16 },
    /// Replace an object as a whole.
    Replace(Value),
    /// A JSON merge patch.
    Merge {
        target: String,
        patch: Value,
        #[serde(default)]
        subresource: String,
    },
    /// Delete an object.
    Delete {
        target: String,
        propagation: Propagation,
    },
    /// Write the scale subresource.
    Scale { target: String, replicas: u32 },
    /// Set the image of the container `app`.
    Image { target: String, image: String },
    /// Set annotations; `null` removes.
    Annotate { target: String, annotations: Value },
    /// Merge-patch pods: the first as many as there are patches, in the order of their names.
    Pods {
        selector: String,
        patches: Vec<Value>,
    },
    /// Run kubectl in the namespace; it must succeed.
    Kubectl(Vec<String>),
    /// Wait for a condition.
    Wait(Wait),
    /// Wait for quiet and take the state under this name.
    Checkpoint(String),
}

impl Scenario {
    /// Reads every `*.yaml` of a folder, in the order of their names.
    ///
    /// # Errors
    /// When the folder or a file cannot be read or understood.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "yaml")
            {
                paths.push(path);
            }
        }
        paths.sort();
        if paths.is_empty() {
            bail!("there is no scenario in {}", folder.display());
        }
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self> {
        let name = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut scenario =
            Self::parse(&text).with_context(|| format!("scenario {}", path.display()))?;
        scenario.name = name.unwrap_or_default();
        Ok(scenario)
    }

    fn parse(text: &str) -> Result<Self> {
        // Through JSON values: objects in steps are then exactly what is sent.
        let value: Value = serde_saphyr::from_str(text)?;
        Ok(serde_json::from_value(value)?)
    }
}

/// What a target names: its kind, its namespace, which is none for the namespace itself, and its name.
pub(crate) fn target<'a>(text: &'a str, namespace: &'a str) -> Result<(&'a str, &'a str, &'a str)> {
    let (kind, name) = text
        .split_once('/')
        .with_context(|| format!("target {text:?} is not of the form Kind/name"))?;
    Ok(match (kind, name) {
        ("Namespace", ".") => (kind, "", namespace),
        _ => (kind, namespace, name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_in_the_repository_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
        let scenarios = Scenario::read_all(&folder).unwrap();
        assert!(scenarios.len() >= 20, "only {}", scenarios.len());
        for scenario in scenarios {
            assert!(!scenario.steps.is_empty(), "{} does nothing", scenario.name);
        }
    }

    #[test]
    fn an_unknown_step_is_refused_by_name() {
        let text = "story: s\ncontrollers: [c]\nsteps:\n- explode: {}\n";
        let error = format!("{:#}", Scenario::parse(text).unwrap_err());
        assert!(error.contains("explode"), "{error}");
    }

    #[test]
    fn a_target_needs_a_kind_and_a_name() {
        let web = target("Deployment/web", "shop").unwrap();
        assert_eq!(web, ("Deployment", "shop", "web"));
        let own = target("Namespace/.", "shop").unwrap();
        assert_eq!(own, ("Namespace", "", "shop"));
        assert!(target("web", "shop").is_err());
    }
}
