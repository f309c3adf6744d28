//! The namespaces of the harness that are still there.

use std::collections::HashSet;

use anyhow::Result;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::NAMESPACE_PREFIX;
use crate::sight::Seen;

/// Namespaces as last seen, by name.
#[derive(Default)]
pub(super) struct Standing(HashSet<String>);

impl Standing {
    /// How many there are.
    pub(super) fn alive(&self) -> usize {
        self.0.len()
    }
}

#[derive(Deserialize)]
struct Partial {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

impl Seen for Standing {
    const PATH: &'static str = "/api/v1/namespaces";
    const ACCEPT: &'static str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

    fn put(&mut self, object: &RawValue) -> Result<()> {
        let Partial { metadata } = serde_json::from_str(object.get())?;
        if metadata.name.starts_with(NAMESPACE_PREFIX) {
            self.0.insert(metadata.name);
        }
        Ok(())
    }

    fn remove(&mut self, object: &RawValue) -> Result<()> {
        let Partial { metadata } = serde_json::from_str(object.get())?;
        self.0.remove(&metadata.name);
        Ok(())
    }
}
