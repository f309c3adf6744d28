//! A script: shell lines, each with what it must end with and say.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

/// One script of the folder `clients`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClientScript {
    /// The file's stem, and the namespace it runs in.
    #[serde(skip)]
    pub name: String,
    /// What a user would expect, in a sentence or two.
    pub story: String,
    /// Files in the folder that the steps run in.
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    /// Play it once for each of these, which the steps see as `$VARIANT`; each has a namespace of its own.
    #[serde(default)]
    variants: Vec<String>,
    /// Which of the variants this is.
    #[serde(skip)]
    pub(super) variant: String,
    /// What is done, in order.
    pub(super) steps: Vec<Step>,
}

/// A shell line and what is expected of it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Step {
    /// What `sh -eu` is given.
    pub(super) run: String,
    /// What it must end with.
    #[serde(default)]
    pub(super) exit: i32,
    /// What its output must contain, spaces and all but for how many.
    #[serde(default)]
    pub(super) says: Words,
    /// What its output must not contain.
    #[serde(default)]
    pub(super) lacks: Words,
    /// Why the reference's output is not the same; it is compared if this is absent.
    #[serde(default)]
    pub(super) apart: Option<String>,
    /// How long it may take.
    #[serde(default = "half_a_minute")]
    pub(super) seconds: u64,
}

fn half_a_minute() -> u64 {
    30
}

/// One word or several.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum Words {
    /// Nothing.
    #[default]
    None,
    /// One.
    One(String),
    /// All of them.
    All(Vec<String>),
}

impl Words {
    pub(super) fn each(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(word) => std::slice::from_ref(word),
            Self::All(words) => words,
        }
    }
}

impl ClientScript {
    /// Reads every `*.yaml` of a folder, in the order of their names.
    ///
    /// # Errors
    /// When the folder or a file cannot be read or understood.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>> {
        let entries =
            fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
        let mut scripts = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "yaml") {
                scripts.extend(Self::read(&path)?.each_variant());
            }
        }
        if scripts.is_empty() {
            bail!("{} holds no scripts", folder.display());
        }
        scripts.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(scripts)
    }

    fn each_variant(self) -> Vec<Self> {
        if self.variants.is_empty() {
            return vec![self];
        }
        let variants = self.variants.iter();
        variants
            .map(|variant| Self {
                name: format!("{}-{variant}", self.name),
                variant: variant.clone(),
                ..self.clone()
            })
            .collect()
    }

    fn read(path: &Path) -> Result<Self> {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut script: Self = serde_saphyr::from_str(&text)
            .with_context(|| format!("cannot understand {}", path.display()))?;
        let stem = path.file_stem().context("a script without a name")?;
        script.name = stem.to_string_lossy().into_owned();
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_of_ours_can_be_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients");
        for script in ClientScript::read_all(&folder).unwrap() {
            assert!(!script.steps.is_empty(), "{}", script.name);
        }
    }

    #[test]
    fn a_script_with_variants_is_one_for_each() {
        let script = "story: s\nvariants: [a, b]\nsteps: [{run: ls}]";
        let mut script: ClientScript = serde_saphyr::from_str(script).unwrap();
        script.name = "x".to_owned();
        let names = script.each_variant().into_iter().map(|one| one.name);
        assert_eq!(names.collect::<Vec<_>>(), ["x-a", "x-b"]);
    }

    #[test]
    fn a_step_expects_success_unless_it_says_otherwise() {
        let step: Step = serde_saphyr::from_str("{run: ls, says: a}").unwrap();
        assert_eq!((step.exit, step.says.each()), (0, &["a".to_owned()][..]));
        assert!(step.lacks.each().is_empty());
        assert!(serde_saphyr::from_str::<Step>("{run: ls, say: a}").is_err());
    }
}
