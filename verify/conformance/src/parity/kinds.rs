//! What the generator knows of each kind: data, read from `parity/kinds.yaml`.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::Value;

use super::rules::Sample;

const TEXT: &str = include_str!("../../parity/kinds.yaml");

/// A kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    /// `v1/pods`, `apps/v1/deployments`.
    pub(crate) resource: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) cluster: bool,
    /// Whether nothing is kept of it, so that it has no name.
    #[serde(default)]
    pub(crate) nameless: bool,
    /// What new objects are called whatever was drawn, if only one name will do. They are only tried: what becomes of
    /// such objects is a matter of time.
    #[serde(default)]
    pub(crate) tried_as: String,
    pub(crate) weight: u32,
    pub(crate) bodies: Vec<Value>,
    pub(crate) changes: Vec<Value>,
    #[serde(default)]
    pub(crate) parts: Vec<Part>,
    #[serde(default)]
    pub(crate) fields: Vec<String>,
}

/// A part of an object with a path of its own.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) part: String,
    /// What its bodies are; the object itself if nothing is said.
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) version: String,
    /// `POST` for parts that are created.
    #[serde(default)]
    pub(crate) method: String,
    pub(crate) bodies: Vec<Value>,
}

impl Kind {
    /// All kinds, in the order of the file, with the objects that use many of their fields.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let mut kinds: Vec<Self> = serde_saphyr::from_str(TEXT).context("parity/kinds.yaml")?;
        for sample in Sample::all()?.into_iter().filter(|sample| !sample.apart) {
            match kinds
                .iter_mut()
                .find(|kind| kind.resource == sample.resource)
            {
                Some(kind) => kind.bodies.extend(sample.bodies),
                None => kinds.push(sample.as_kind()),
            }
        }
        Ok(kinds)
    }

    /// `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> &str {
        self.resource
            .rsplit_once('/')
            .map_or("", |(version, _)| version)
    }

    /// `pods`, `deployments`.
    pub(crate) fn plural(&self) -> &str {
        self.resource
            .rsplit_once('/')
            .map_or("", |(_, plural)| plural)
    }

    /// The path of the collection, in a namespace or across all if it is empty.
    pub(crate) fn path(&self, namespace: &str) -> String {
        let version = self.api_version();
        let root = if version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        let plural = self.plural();
        if self.cluster || namespace.is_empty() {
            format!("{root}/{version}/{plural}")
        } else {
            format!("{root}/{version}/namespaces/{namespace}/{plural}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_bodies_and_a_path() {
        let kinds = Kind::all().unwrap();
        assert!(kinds.len() > 30);
        for kind in &kinds {
            assert!(!kind.bodies.is_empty(), "{}", kind.resource);
            assert!(!kind.changes.is_empty(), "{}", kind.resource);
        }
        let pods = kinds.iter().find(|kind| kind.kind == "Pod").unwrap();
        assert_eq!(pods.path("a"), "/api/v1/namespaces/a/pods");
        assert_eq!(pods.path(""), "/api/v1/pods");
        let deployments = kinds.iter().find(|kind| kind.kind == "Deployment").unwrap();
        assert_eq!(
            deployments.path("a"),
            "/apis/apps/v1/namespaces/a/deployments"
        );
    }
}
