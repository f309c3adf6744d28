//! What the harness sees of the Deployments, and when they are as wanted.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::sight::{Seen, Sight};

/// The Deployments as last seen, by name.
#[derive(Default)]
pub(crate) struct Deployments(HashMap<String, Deployment>);

impl Seen for Deployments {
    const PATH: &'static str = "/apis/apps/v1/deployments";

    fn put(&mut self, object: &RawValue) -> Result<()> {
        let deployment: Deployment = serde_json::from_str(object.get())?;
        self.0.insert(deployment.metadata.name.clone(), deployment);
        Ok(())
    }

    fn remove(&mut self, _: &RawValue) -> Result<()> {
        Ok(())
    }
}

/// What a Deployment is to become.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) replicas: usize,
    pub(crate) image: &'static str,
}

#[derive(Deserialize, Default)]
struct Deployment {
    metadata: Metadata,
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize, Default)]
struct Metadata {
    name: String,
    generation: i64,
}

#[derive(Deserialize, Default)]
struct Spec {
    replicas: usize,
    template: Template,
}

#[derive(Deserialize, Default)]
struct Template {
    spec: PodSpec,
}

#[derive(Deserialize, Default)]
struct PodSpec {
    containers: Vec<Container>,
}

#[derive(Deserialize, Default)]
struct Container {
    image: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    observed_generation: i64,
    replicas: usize,
    updated_replicas: usize,
    available_replicas: usize,
    terminating_replicas: usize,
}

impl Deployment {
    fn is(&self, wanted: Wanted) -> bool {
        let status = &self.status;
        self.spec.replicas == wanted.replicas
            && self
                .spec
                .template
                .spec
                .containers
                .iter()
                .all(|one| one.image == wanted.image)
            && status.observed_generation == self.metadata.generation
            && [
                status.replicas,
                status.updated_replicas,
                status.available_replicas,
            ] == [wanted.replicas; 3]
            && status.terminating_replicas == 0
    }
}

impl Sight<Deployments> {
    /// Waits until `count` Deployments are as wanted; `at` is told how many are.
    pub(crate) async fn until_all(
        &self,
        count: usize,
        wanted: Wanted,
        limit: Duration,
        at: impl Fn(usize),
    ) -> Result<()> {
        self.until(limit, |seen| {
            let done = seen.0.values().filter(|one| one.is(wanted)).count();
            at(done);
            done >= count
        })
        .await
        .with_context(|| format!("{count} Deployments with {} pods each", wanted.replicas))
    }

    /// Waits until one Deployment is as wanted.
    pub(crate) async fn until_one(
        &self,
        name: &str,
        wanted: Wanted,
        limit: Duration,
    ) -> Result<()> {
        self.until(limit, |seen| {
            seen.0.get(name).is_some_and(|one| one.is(wanted))
        })
        .await
        .with_context(|| format!("Deployment {name} with {} pods", wanted.replicas))
    }
}
