//! Owners whose selectors clash: they must leave each other's pods alone and not fight for ever.

use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::scene::Scene;
use super::workload::{deployment, plain_template};
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::objects::Objects;
use crate::poll::until;

const NAMESPACE: &str = "clash";
const PATIENCE: Duration = Duration::from_secs(60);
const WATCHED: Duration = Duration::from_secs(20);
/// At rest, a manager sends nothing but a few status corrections.
const REQUESTS_MAX: usize = 40;

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    objects.create_namespace(NAMESPACE).await?;
    let manager = scene.manager(&cluster, cluster.manager(), &[]).await?;

    // Two Deployments with one selector and different templates.
    for (name, image) in [("one", "app:v1"), ("two", "app:v2")] {
        let mut object = deployment("shared", 2, &plain_template());
        object["metadata"]["name"] = json!(name);
        object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        objects.create(NAMESPACE, &object).await?;
    }
    // Two Deployments with one selector and the same template, whose ReplicaSets match each other's claims.
    for name in ["three", "four"] {
        let mut object = deployment("same", 2, &plain_template());
        object["metadata"]["name"] = json!(name);
        objects.create(NAMESPACE, &object).await?;
    }
    // Two ReplicaSets with one selector.
    for name in ["left", "right"] {
        let mut object = deployment("overlap", 3, &plain_template());
        object["kind"] = json!("ReplicaSet");
        object["metadata"]["name"] = json!(name);
        objects.create(NAMESPACE, &object).await?;
    }
    until("14 pods", PATIENCE, async || {
        let pods = objects.list("Pod", NAMESPACE, "").await?;
        Ok((pods.len() == 14).then_some(()))
    })
    .await?;
    // Statuses settle before the quiet begins.
    tokio::time::sleep(Duration::from_secs(3)).await;

    let owners = owners(&objects).await?;
    let mark = cluster.audit()?.mark()?;
    let cpu = manager.usage()?.cpu;
    tokio::time::sleep(WATCHED).await;
    let requests = cluster.audit()?.since(mark)?.by_user(manager.user());
    let cpu = manager.usage()?.cpu.saturating_sub(cpu);
    if requests.len() > REQUESTS_MAX {
        bail!(
            "{} requests in {} s: {:?}",
            requests.len(),
            WATCHED.as_secs(),
            requests.by_verb()
        );
    }
    let later = self::owners(&objects).await?;
    if later != owners {
        bail!("pods or ReplicaSets changed hands: {owners:?} became {later:?}");
    }
    for (owner, wanted) in [("left", 3), ("right", 3)] {
        let owned = owners.iter().filter(|(_, by)| by == owner).count();
        if owned != wanted {
            bail!("{owner} owns {owned} pods instead of {wanted}: {owners:?}");
        }
    }
    // An orphan that both match is adopted by one of them, and one pod too many goes; nothing else moves.
    let mut orphan = plain_template();
    orphan["apiVersion"] = json!("v1");
    orphan["kind"] = json!("Pod");
    orphan["metadata"] = json!({ "name": "orphan", "labels": { "app": "overlap" } });
    objects.create(NAMESPACE, &orphan).await?;
    until("six pods of the ReplicaSets again", PATIENCE, async || {
        let pods = objects.list("Pod", NAMESPACE, "app=overlap").await?;
        let living: Vec<_> = pods
            .iter()
            .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
            .collect();
        let all_owned = living
            .iter()
            .all(|pod| !pod["metadata"]["ownerReferences"].is_null());
        Ok((living.len() == 6 && all_owned).then_some(()))
    })
    .await?;
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "4 Deployments and 2 ReplicaSets on 3 selectors: {} requests in {} s at rest, {} ms of CPU, no pod changed hands",
        requests.len(),
        WATCHED.as_secs(),
        cpu.as_millis()
    ))
}

/// Each pod and ReplicaSet with the name of its controller, sorted.
async fn owners(objects: &Objects) -> Result<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut owners = Vec::new();
    for kind in ["Pod", "ReplicaSet"] {
        for object in objects.list(kind, NAMESPACE, "").await? {
            let metadata = &object["metadata"];
            let owner = text(&metadata["ownerReferences"][0]["name"]);
            owners.push((format!("{kind} {}", text(&metadata["name"])), owner));
        }
    }
    owners.sort();
    Ok(owners)
}
