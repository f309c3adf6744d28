//! Deployments in, available pods out.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use flyball_client::{Client, Method, Request};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, timeout};

const PATH: &str = "/apis/apps/v1/namespaces/default/deployments";

/// Longer than any load takes that is worth measuring.
const PATIENCE: Duration = Duration::from_secs(300);

/// How much is created.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) deployments: u32,
    pub(super) replicas: u32,
}

/// What of a line of a watch is looked at.
#[derive(Deserialize)]
struct Event {
    object: Seen,
}

#[derive(Deserialize)]
struct Seen {
    metadata: Named,
    #[serde(default)]
    status: Status,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    available_replicas: u32,
}

/// Creates the Deployments one after the other; says how long it took from the first request until
/// the last pod was available.
pub(super) async fn run(client: &Client, size: Size) -> Result<Duration> {
    let watch = client.watch(&format!("{PATH}?watch=1")).await;
    let mut watch = watch.map_err(|error| anyhow!("cannot watch: {error}"))?;
    let began = Instant::now();
    for number in 0..size.deployments {
        let body = deployment(number, size.replicas).to_string();
        let created = client.send(&Request::with(Method::Post, PATH, body)).await;
        created.map_err(|error| anyhow!("cannot create a Deployment: {error}"))?;
    }
    let wanted = size.deployments * size.replicas;
    let mut available: BTreeMap<String, u32> = BTreeMap::new();
    while available.values().sum::<u32>() < wanted {
        let line = timeout(PATIENCE, watch.next()).await;
        let line = line.with_context(|| format!("stuck at {:?}", available.values()))?;
        let line = line.map_err(|error| anyhow!("the watch broke: {error}"))?;
        let event: Event = serde_json::from_slice(&line.context("the watch ended")?)?;
        let Seen { metadata, status } = event.object;
        available.insert(metadata.name, status.available_replicas);
    }
    Ok(began.elapsed())
}

fn deployment(number: u32, replicas: u32) -> serde_json::Value {
    let name = format!("load-{number}");
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "app:v1"}]},
            },
        },
    })
}
