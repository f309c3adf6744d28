//! What the harness sees of the Deployments: one watch, so that seeing costs the server next to nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use flyball_conformance::Cluster;
use futures::{AsyncBufReadExt as _, StreamExt as _};
use serde::Deserialize;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The Deployments as last seen. Dropping it ends the watch.
pub(super) struct Sight {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    seen: Mutex<HashMap<String, Deployment>>,
    /// Why the watch ended, which it should not.
    failure: Mutex<Option<String>>,
    changed: Notify,
}

/// What a Deployment is to become.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) replicas: usize,
    pub(super) image: &'static str,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: serde_json::Value,
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

impl Sight {
    pub(super) async fn open(cluster: &Cluster) -> Result<Self> {
        // A client of its own: what is measured must not queue behind the harness's writes.
        let client = cluster.admin().client().await?;
        let shared = Arc::new(Shared::default());
        let watching = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let Err(error) = watching.follow(&client).await;
            *watching
                .failure
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(format!("{error:#}"));
            watching.changed.notify_waiters();
        });
        Ok(Self { shared, task })
    }

    /// Waits until `count` Deployments are as wanted; `at` is told how many are.
    pub(super) async fn until_all(
        &self,
        count: usize,
        wanted: Wanted,
        limit: Duration,
        at: impl Fn(usize),
    ) -> Result<()> {
        self.until(limit, || {
            let seen = self
                .shared
                .seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let done = seen
                .values()
                .filter(|deployment| deployment.is(wanted))
                .count();
            at(done);
            done >= count
        })
        .await
        .with_context(|| format!("{count} Deployments with {} pods each", wanted.replicas))
    }

    /// Waits until one Deployment is as wanted.
    pub(super) async fn until_one(
        &self,
        name: &str,
        wanted: Wanted,
        limit: Duration,
    ) -> Result<()> {
        self.until(limit, || {
            let seen = self
                .shared
                .seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            seen.get(name)
                .is_some_and(|deployment| deployment.is(wanted))
        })
        .await
        .with_context(|| format!("Deployment {name} with {} pods", wanted.replicas))
    }

    async fn until(&self, limit: Duration, done: impl Fn() -> bool) -> Result<()> {
        let waiting = async {
            loop {
                let changed = self.shared.changed.notified();
                if done() {
                    return Ok(());
                }
                let failure = &self.shared.failure;
                let failed = failure
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if let Some(failed) = failed {
                    bail!("the harness's watch of Deployments ended: {failed}");
                }
                changed.await;
            }
        };
        let waited = tokio::time::timeout(limit, waiting).await;
        waited.with_context(|| format!("not within {} s", limit.as_secs()))?
    }
}

impl Drop for Sight {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    async fn follow(&self, client: &kube::Client) -> Result<std::convert::Infallible> {
        let request = http::Request::get(
            "/apis/apps/v1/deployments?watch=true&sendInitialEvents=true&allowWatchBookmarks=true\
             &resourceVersionMatch=NotOlderThan&timeoutSeconds=7200",
        )
        .body(Vec::new())?;
        let stream = client.request_stream(request).await?;
        let mut lines = stream.lines();
        while let Some(line) = lines.next().await {
            let event: Event = serde_json::from_str(&line?)?;
            match event.kind.as_str() {
                "ADDED" | "MODIFIED" => {
                    let deployment: Deployment = serde_json::from_value(event.object)?;
                    let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.insert(deployment.metadata.name.clone(), deployment);
                    drop(seen);
                    self.changed.notify_waiters();
                }
                "BOOKMARK" | "DELETED" => {}
                other => bail!("a watch event of type {other}: {}", event.object),
            }
        }
        bail!("the server closed it")
    }
}
