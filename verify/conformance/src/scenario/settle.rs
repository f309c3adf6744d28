//! Quiet: nothing in the namespace changes any more, as far as a watcher can tell.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;

use crate::objects::Objects;
use crate::poll::until;

const LIMIT: Duration = Duration::from_secs(60);
/// Longer than any pause between two reactions of a manager without a deadline to wait for: watch latency, status
/// write and event write together stay below a third of it on a loaded machine.
const QUIET: Duration = Duration::from_millis(800);

/// Every kind that a state is made of.
pub(crate) const KINDS: &[&str] = &[
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Pod",
    "ConfigMap",
    "Widget",
    "Event",
];

/// The objects of a namespace by kind, in the order of [`KINDS`], and the namespace itself.
pub(crate) type Everything = Vec<(&'static str, Vec<Value>)>;

/// Waits until two readings [`QUIET`] apart, and all between, are the same and every workload's generation has been
/// observed. Returns the last reading.
pub(super) async fn settle(objects: &Objects, namespace: &str) -> Result<Everything> {
    let mut before = String::new();
    let mut since = Instant::now();
    until("quiet in the namespace", LIMIT, async || {
        let all = read(objects, namespace).await?;
        let now = fingerprint(&all);
        if now != before {
            before = now;
            since = Instant::now();
            return Ok(None);
        }
        Ok((since.elapsed() >= QUIET && is_observed(&all)).then_some(all))
    })
    .await
}

pub(super) async fn read(objects: &Objects, namespace: &str) -> Result<Everything> {
    let mut all = Vec::with_capacity(KINDS.len());
    for kind in KINDS {
        all.push((*kind, objects.list(kind, namespace, "").await?));
    }
    let itself = objects.get("Namespace", "", namespace).await?;
    all.push(("Namespace", itself.into_iter().collect()));
    Ok(all)
}

fn fingerprint(all: &Everything) -> String {
    let mut text = String::new();
    for object in all.iter().flat_map(|(_, objects)| objects) {
        for field in ["uid", "resourceVersion"] {
            text.push_str(object["metadata"][field].as_str().unwrap_or_default());
            text.push(' ');
        }
    }
    text
}

fn is_observed(all: &Everything) -> bool {
    let workloads = all
        .iter()
        .filter(|(kind, _)| matches!(*kind, "Deployment" | "ReplicaSet" | "ReplicationController"));
    workloads.flat_map(|(_, objects)| objects).all(|object| {
        object["status"]["observedGeneration"].as_u64() >= object["metadata"]["generation"].as_u64()
    })
}
