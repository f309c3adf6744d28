//! The objects of the copy, and the history that is lost after it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::TryStreamExt as _;
use serde_json::{Value, json};

use super::super::workload::{
    deployment, is_complete, merge, plain_template, scale, until_all_complete,
};
use crate::objects::{Objects, PatchKind, Propagation};
use crate::poll::until;

pub(super) const NAMESPACE: &str = "restore";
/// The Deployment that is created after the copy.
pub(super) const EXTRA: &str = "extra";
const DEPLOYMENTS: [&str; 3] = ["d1", "d2", "d3"];
const REPLICAS: usize = 10;
/// Pods after the lost history: d1 scaled, d2 deleted, d3 with another image, one more Deployment.
const LOST_SCALE: usize = 30;
const EXTRA_REPLICAS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(90);
const CONCURRENCY: usize = 16;

/// What the copy holds, by Deployment.
pub(super) struct Kept {
    sets: BTreeMap<String, String>,
    pods: BTreeMap<String, BTreeSet<String>>,
}

impl Kept {
    /// Whether the copy has a pod of this name.
    pub(super) fn is_kept(&self, pod: &str) -> bool {
        self.pods.values().any(|names| names.contains(pod))
    }

    /// The number of pods that the copy has of a Deployment.
    pub(super) fn pods_of(&self, deployment: &str) -> usize {
        self.pods.get(deployment).map_or(0, BTreeSet::len)
    }

    /// The UID of a Deployment's only ReplicaSet.
    pub(super) fn replica_set(&self, deployment: &str) -> &str {
        self.sets.get(deployment).map_or("", String::as_str)
    }

    /// What differs from the copy with d1 scaled to `wanted`; empty when nothing does.
    pub(super) async fn difference(&self, objects: &Objects, wanted: usize) -> Result<String> {
        let mut found = Vec::new();
        let deployments = objects.list("Deployment", NAMESPACE, "").await?;
        let names: Vec<&str> = deployments.iter().filter_map(name).collect();
        if names != DEPLOYMENTS {
            found.push(format!("Deployments {names:?}"));
        }
        let unfinished = deployments.iter().filter(|one| !is_complete(one));
        let unfinished: Vec<&str> = unfinished.filter_map(name).collect();
        if !unfinished.is_empty() {
            found.push(format!("{unfinished:?} not complete"));
        }
        let sets = objects.list("ReplicaSet", NAMESPACE, "").await?;
        let uids = |sets: &[Value]| -> BTreeSet<String> { sets.iter().map(uid).collect() };
        if uids(&sets) != self.sets.values().cloned().collect() {
            let names: Vec<&str> = sets.iter().filter_map(name).collect();
            found.push(format!("ReplicaSets {names:?}"));
        }
        let pods = objects.list("Pod", NAMESPACE, "").await?;
        let lives = |pod: &&Value| pod["metadata"]["deletionTimestamp"].is_null();
        for (deployment, kept) in &self.pods {
            let replicas = if deployment == "d1" {
                wanted
            } else {
                kept.len()
            };
            let there = pods
                .iter()
                .filter(lives)
                .filter(|pod| app(pod) == deployment);
            let there: BTreeSet<String> = there.filter_map(name).map(str::to_owned).collect();
            let missing = kept.difference(&there).count();
            if there.len() != replicas || missing > 0 {
                let count = there.len();
                found.push(format!(
                    "{count} pods of {deployment} instead of {replicas}, {missing} of the copy's missing"
                ));
            }
        }
        let strange = pods
            .iter()
            .filter(|pod| !self.pods.contains_key(app(pod)))
            .count();
        if strange > 0 {
            found.push(format!("{strange} pods of the lost history"));
        }
        Ok(found.join(", "))
    }
}

/// Creates the Deployments and waits until all is settled.
pub(super) async fn settle(objects: &Objects) -> Result<Kept> {
    for name in DEPLOYMENTS {
        let object = deployment(name, REPLICAS, &plain_template());
        objects.create(NAMESPACE, &object).await?;
    }
    until_all_complete(objects, NAMESPACE, PATIENCE).await?;
    let mut kept = Kept {
        sets: BTreeMap::new(),
        pods: BTreeMap::new(),
    };
    for set in objects.list("ReplicaSet", NAMESPACE, "").await? {
        kept.sets.insert(app(&set).to_owned(), uid(&set));
    }
    for pod in objects.list("Pod", NAMESPACE, "").await? {
        let names = kept.pods.entry(app(&pod).to_owned()).or_default();
        names.insert(name(&pod).unwrap_or_default().to_owned());
    }
    Ok(kept)
}

/// Makes the history that is lost, waits until it is settled too, and returns how many versions it has.
pub(super) async fn lose_history(objects: &Objects, more_writes: usize) -> Result<u64> {
    let before = version(objects).await?;
    scale(objects, NAMESPACE, "d1", LOST_SCALE).await?;
    objects
        .delete("Deployment", NAMESPACE, "d2", Propagation::Background)
        .await?;
    let image = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "app", "image": "app:v2" }] } } } });
    merge(objects, NAMESPACE, "d3", &image).await?;
    let extra = deployment(EXTRA, EXTRA_REPLICAS, &plain_template());
    objects.create(NAMESPACE, &extra).await?;
    until_all_complete(objects, NAMESPACE, PATIENCE).await?;
    let pods = LOST_SCALE + REPLICAS + EXTRA_REPLICAS;
    let mut seen = 0;
    let settled = until("the pods of the lost history", PATIENCE, async || {
        seen = objects.count("Pod", NAMESPACE).await?;
        Ok((seen == pods).then_some(()))
    });
    settled
        .await
        .with_context(|| format!("{seen} pods instead of {pods}"))?;
    futures::stream::iter((0..more_writes).map(anyhow::Ok))
        .try_for_each_concurrent(CONCURRENCY, async |number| {
            let body = json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": format!("write-{number}") },
            });
            objects.create(NAMESPACE, &body).await.map(drop)
        })
        .await?;
    Ok(version(objects).await? - before)
}

/// The version that the server is at: that of a write made for the purpose.
async fn version(objects: &Objects) -> Result<u64> {
    let patch = json!({ "metadata": { "annotations": {
        "harness/version-read-at": jiff::Timestamp::now().to_string(),
    }}});
    let merge = PatchKind::Merge;
    let patched = objects
        .patch("Namespace", "", NAMESPACE, "", merge, &patch)
        .await?;
    let version = patched["metadata"]["resourceVersion"].as_str();
    version.context("a version")?.parse().context("a version")
}

fn name(object: &Value) -> Option<&str> {
    object["metadata"]["name"].as_str()
}

fn uid(object: &Value) -> String {
    let uid = object["metadata"]["uid"].as_str();
    uid.unwrap_or_default().to_owned()
}

fn app(object: &Value) -> &str {
    object["metadata"]["labels"]["app"]
        .as_str()
        .unwrap_or_default()
}
