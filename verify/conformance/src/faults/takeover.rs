//! Fifty Deployments change hands: Go → ours → Go, half of them in the middle of a rollout.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};

use super::lease::{first, is_leaders_write, is_lease_write};
use super::scene::{SHORT_LEASE, Scene};
use super::templates::{COUNT, template};
use super::workload::{deployment, merge, until_all_complete};
use crate::cluster::Cluster;
use crate::kubelet::{BEHAVIOUR, Kubelet, KubeletOptions};
use crate::objects::{Objects, PatchKind};
use crate::poll::until;
use crate::process::{Manager, WORKLOADS};
use crate::requests::{Mark, Requests};

const NAMESPACE: &str = "takeover";
const REPLICAS: usize = 3;
const PATIENCE: Duration = Duration::from_secs(90);
/// How long a successor is watched for doing what it should not.
const SETTLING: Duration = Duration::from_secs(8);
const GO: &str = "takeover:go";
const OURS: &str = "takeover:ours";

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    objects.create_namespace(NAMESPACE).await?;
    let (go_user, our_user) = (
        cluster.create_identity(GO).await?,
        cluster.create_identity(OURS).await?,
    );

    let mut go = Manager::go_as(&cluster, &go_user, WORKLOADS, SHORT_LEASE).await?;
    go.wait_healthy().await?;
    for number in 0..COUNT {
        let object = deployment(&name(number), REPLICAS, &template(number));
        objects
            .create(NAMESPACE, &object)
            .await
            .with_context(|| format!("template {number}"))?;
    }
    until_all_complete(&objects, NAMESPACE, PATIENCE).await?;
    let stuck = begin_rollouts(&cluster, GO, "v2").await?;

    let mark = cluster.audit()?.mark()?;
    let mut ours = scene.manager(&cluster, &our_user, SHORT_LEASE).await?;
    go.terminate()?;
    go.wait_exit(PATIENCE).await?;
    let to_ours = watch_successor(&cluster, OURS, mark)
        .await
        .with_context(|| ours.log_tail(10))?;
    finish_rollouts(&objects).await.context("under ours")?;

    begin_rollouts(&cluster, OURS, "v3").await?;
    let mark = cluster.audit()?.mark()?;
    let mut go = Manager::go_as(&cluster, &go_user, WORKLOADS, SHORT_LEASE).await?;
    go.wait_healthy().await?;
    ours.terminate()?;
    ours.wait_exit(PATIENCE).await?;
    let to_go = watch_successor(&cluster, GO, mark).await?;
    finish_rollouts(&objects).await.context("under Go")?;

    scene.enter_deletes_of(&cluster, OURS)?;
    Ok(format!(
        "{COUNT} Deployments, {stuck} mid-rollout: Go to ours {to_ours}, back to Go {to_go}; all rollouts finished"
    ))
}

fn name(number: usize) -> String {
    format!("web-{number:02}")
}

/// Gives every second Deployment a new template whose pods do not become ready, and waits until the manager has
/// done all it can.
async fn begin_rollouts(cluster: &Cluster, user: &str, version: &str) -> Result<usize> {
    let objects = cluster.objects();
    let patch = json!({ "spec": { "template": { "metadata": { "annotations": {
        "version": version, BEHAVIOUR: "never-ready",
    }}}}});
    let rolling: Vec<usize> = (0..COUNT).step_by(2).collect();
    for number in &rolling {
        merge(&objects, NAMESPACE, &name(*number), &patch).await?;
    }
    let begun = "rollouts to begin";
    until(begun, PATIENCE, async || {
        let all = objects.list("Deployment", NAMESPACE, "").await?;
        let begun = |one: &&Value| one["status"]["updatedReplicas"] == json!(1);
        Ok((all.iter().filter(begun).count() == rolling.len()).then_some(()))
    })
    .await?;
    quiet(cluster, user, Duration::from_secs(3)).await?;
    Ok(rolling.len())
}

/// Waits until a manager has written nothing for a while.
async fn quiet(cluster: &Cluster, user: &str, pause: Duration) -> Result<()> {
    let audit = cluster.audit()?;
    until("a manager at rest", PATIENCE, async || {
        let mark = audit.mark()?;
        tokio::time::sleep(pause).await;
        Ok(audit
            .since(mark)?
            .by_user(user)
            .filter(is_leaders_write)
            .is_empty()
            .then_some(()))
    })
    .await
}

/// Watches the successor from its acquisition on: nothing may be deleted and no ReplicaSet made.
async fn watch_successor(cluster: &Cluster, user: &str, mark: Mark) -> Result<String> {
    first(
        cluster,
        "the successor's lease",
        user,
        mark,
        PATIENCE,
        is_lease_write,
    )
    .await?;
    tokio::time::sleep(SETTLING).await;
    let writes = cluster
        .audit()?
        .since(mark)?
        .by_user(user)
        .filter(is_leaders_write);
    let count = |verb: &str, resource: &str| -> Requests {
        writes.filter(|one| one.verb == verb && one.resource == resource)
    };
    for (verb, resource) in [
        ("delete", "pods"),
        ("delete", "replicasets"),
        ("create", "replicasets"),
        ("create", "pods"),
    ] {
        let found = count(verb, resource);
        if let Some(one) = found.all.first() {
            bail!(
                "{user} took over and sent {} × {verb} {resource}, first {} {}",
                found.len(),
                one.name,
                one.received
            );
        }
    }
    Ok(format!(
        "0 pods deleted, 0 ReplicaSets created, {} other writes",
        writes.len()
    ))
}

/// Lets pods become ready as they come, until every rollout is through, then has the template say so too.
async fn finish_rollouts(objects: &Objects) -> Result<()> {
    let release = async {
        let patch = json!({ "metadata": { "annotations": { BEHAVIOUR: "ready" } } });
        let patch = &patch;
        loop {
            let pods = objects.list("Pod", NAMESPACE, "").await?;
            let held = pods
                .into_iter()
                .filter(|pod| pod["metadata"]["annotations"][BEHAVIOUR] == "never-ready")
                // Only what the kubelet has reported once: two reports under way could arrive in either order.
                .filter(|pod| pod["status"]["phase"] == "Running")
                .filter_map(|pod| Some(pod["metadata"]["name"].as_str()?.to_owned()));
            futures::stream::iter(held.map(anyhow::Ok))
                .try_for_each_concurrent(8, async |pod| {
                    let patched = objects
                        .patch("Pod", NAMESPACE, &pod, "", PatchKind::Merge, patch)
                        .await;
                    match patched {
                        Err(error) if crate::objects::status_code(&error) != Some(404) => {
                            Err(error)
                        }
                        _ => Ok(()),
                    }
                })
                .await?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let finished = tokio::select! {
        complete = until_all_complete(objects, NAMESPACE, PATIENCE) => complete,
        stopped = release => stopped,
    };
    if let Err(error) = finished {
        // Whether the manager waits in vain or the kubelet forgot a pod.
        let pods = objects.list("Pod", NAMESPACE, "").await?;
        let unready: Vec<String> = pods
            .iter()
            .filter(|pod| !is_ready(pod))
            .map(summary)
            .collect();
        return Err(error.context(format!("pods not ready: {unready:?}")));
    }
    let pods = objects.list("Pod", NAMESPACE, "").await?;
    let living = pods
        .iter()
        .filter(|pod| pod["metadata"]["deletionTimestamp"].is_null())
        .count();
    if living != COUNT * REPLICAS {
        bail!(
            "{living} pods after the rollouts instead of {}",
            COUNT * REPLICAS
        );
    }
    let sets = objects.list("ReplicaSet", NAMESPACE, "").await?;
    let per_deployment = futures::stream::iter(sets)
        .filter(|set| std::future::ready(set["spec"]["replicas"] != json!(0)))
        .count()
        .await;
    if per_deployment != COUNT {
        bail!("{per_deployment} ReplicaSets with replicas after the rollouts instead of {COUNT}");
    }
    Ok(())
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    conditions.is_some_and(|all| {
        all.iter()
            .any(|one| one["type"] == "Ready" && one["status"] == "True")
    })
}

fn summary(pod: &Value) -> String {
    let metadata = &pod["metadata"];
    format!(
        "{} {} asked to be {}",
        metadata["name"], pod["status"]["phase"], metadata["annotations"][BEHAVIOUR]
    )
}
