//! What a template says arrives in the pods: compared with Go's for every template, and for a field that exists in
//! no schema.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::proxy::{GRAFTED, Mood, Proxy};
use super::scene::Scene;
use super::templates::{COUNT, template};
use super::workload::{deployment, plain_template};
use crate::cluster::Cluster;
use crate::objects::Objects;
use crate::poll::until;
use crate::process::{Manager, WORKLOADS};

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    // No kubelet: pods stay as they were created.
    let mut go = Manager::go(&cluster, WORKLOADS, &[]).await?;
    go.wait_healthy().await?;
    let by_go = pods_of(&objects, "by-go").await.context("Go's pods")?;
    go.kill().await?;
    let mut ours = scene.manager(&cluster, cluster.manager(), &[]).await?;
    let by_ours = pods_of(&objects, "by-ours").await.context("our pods")?;
    ours.kill().await?;

    let mut fields = 0;
    for (name, expected) in &by_go {
        let found = by_ours
            .get(name)
            .with_context(|| format!("no pod of {name}"))?;
        if let Some(difference) = difference("", expected, found) {
            bail!("pods of {name} differ from Go's: {difference}");
        }
        fields += leaves(expected);
    }
    let future = future_field(scene, &cluster).await?;
    Ok(format!(
        "pods of {COUNT} templates equal Go's in {fields} fields; {future}"
    ))
}

/// Creates all Deployments with one replica each and returns their pods by Deployment, without what differs by
/// nature: names, UIDs, times and versions.
async fn pods_of(objects: &Objects, namespace: &str) -> Result<BTreeMap<String, Value>> {
    objects.create_namespace(namespace).await?;
    for number in 0..COUNT {
        let object = deployment(&format!("web-{number:02}"), 1, &template(number));
        objects
            .create(namespace, &object)
            .await
            .with_context(|| format!("template {number}"))?;
    }
    let pods = until("a pod of each Deployment", PATIENCE, async || {
        let pods = objects.list("Pod", namespace, "").await?;
        Ok((pods.len() == COUNT).then_some(pods))
    })
    .await?;
    let mut by_deployment = BTreeMap::new();
    for mut pod in pods {
        let labels = &pod["metadata"]["labels"];
        let name = labels["app"].as_str().context("no label app")?.to_owned();
        let hash = labels["pod-template-hash"]
            .as_str()
            .context("no hash")?
            .to_owned();
        let metadata = pod["metadata"].as_object_mut().context("no metadata")?;
        for by_nature in [
            "name",
            "namespace",
            "uid",
            "resourceVersion",
            "creationTimestamp",
            "managedFields",
        ] {
            metadata.remove(by_nature);
        }
        metadata["ownerReferences"][0]["uid"] = Value::Null;
        metadata["ownerReferences"][0]["name"] = Value::Null;
        metadata["generateName"] = json!(
            metadata["generateName"]
                .as_str()
                .map(|text| text.replace(&hash, "HASH"))
        );
        // The hash may differ between managers; it also gets into affinity terms through matchLabelKeys.
        let text = pod.to_string().replace(&hash, "HASH");
        by_deployment.insert(name, serde_json::from_str(&text)?);
    }
    Ok(by_deployment)
}

/// The first place where two values differ.
fn difference(at: &str, expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => a
            .keys()
            .chain(b.keys())
            .find_map(|key| difference(&format!("{at}/{key}"), &expected[key], &found[key])),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| difference(&format!("{at}/{index}"), a, b))
        }
        _ => (expected != found).then(|| format!("{at} is {found} instead of {expected}")),
    }
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(leaves).sum(),
        Value::Array(items) => items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// A proxy adds a field that not even the server knows to every template on its way to the manager; what the
/// manager then asks to create must have it. (Go's typed objects lose it, so only ours is asked.)
async fn future_field(scene: &Scene, cluster: &Cluster) -> Result<String> {
    if scene.binary().is_none() {
        return Ok("unknown fields: not asked of Go".to_owned());
    }
    let objects = cluster.objects();
    objects.create_namespace("future").await?;
    let proxy = Proxy::start(cluster.manager()).await?;
    proxy.set(Mood {
        graft: true,
        ..Mood::default()
    });
    let through = proxy.kubeconfig_flag(cluster, cluster.manager())?;
    let manager = scene
        .manager(cluster, cluster.manager(), &[&through])
        .await?;
    objects
        .create("future", &deployment("web", 2, &plain_template()))
        .await?;
    let posted = until("creation of two pods", PATIENCE, async || {
        let posted = proxy.posted();
        let pods = posted.iter().filter(|one| one.resource == "pods").count();
        Ok((pods >= 2).then_some(posted))
    })
    .await
    .with_context(|| manager.log_tail(10))?;
    let field: Value = serde_json::from_str(&format!("{{{}}}", GRAFTED.trim_end_matches(',')))?;
    let field = &field["fieldFromTheFuture"];
    let (mut sets, mut pods) = (0, 0);
    for one in &posted {
        let body: Value = serde_json::from_slice(&one.body)?;
        let found = match one.resource.as_str() {
            "replicasets" => {
                sets += 1;
                body.pointer("/spec/template/spec/fieldFromTheFuture")
            }
            "pods" => {
                pods += 1;
                body.pointer("/spec/fieldFromTheFuture")
            }
            _ => continue,
        };
        if found != Some(field) {
            bail!(
                "a field unknown to every schema became {found:?} in a request to create {}",
                one.resource
            );
        }
    }
    Ok(format!(
        "a field of no schema came through to {sets} ReplicaSet and {pods} pods"
    ))
}
