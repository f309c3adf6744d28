//! Every delete names the object it means by UID: a stale plan then fails instead of doing harm.

use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::json;

use super::scene::Scene;
use super::workload::{deployment, merge, plain_template, scale, until_all_complete, until_pods};
use crate::kubelet::{Kubelet, KubeletOptions};

const NAMESPACE: &str = "deletes";
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) async fn check(scene: &Scene) -> Result<String> {
    if scene.binary().is_none() {
        return Ok("not asked of Go, which deletes by name".to_owned());
    }
    // Work of its own, so that the check means something when it runs alone: pods go by scaling and by rolling,
    // and an old ReplicaSet goes by the history limit.
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    objects.create_namespace(NAMESPACE).await?;
    let _manager = scene.manager(&cluster, cluster.manager(), &[]).await?;
    let mut web = deployment("web", 10, &plain_template());
    web["spec"]["revisionHistoryLimit"] = json!(0);
    objects.create(NAMESPACE, &web).await?;
    until_all_complete(&objects, NAMESPACE, PATIENCE).await?;
    let image = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "app", "image": "app:v2" }] } } } });
    merge(&objects, NAMESPACE, "web", &image).await?;
    until_all_complete(&objects, NAMESPACE, PATIENCE).await?;
    crate::poll::until("removal of the old ReplicaSet", PATIENCE, async || {
        Ok((objects.count("ReplicaSet", NAMESPACE).await? == 1).then_some(()))
    })
    .await?;
    scale(&objects, NAMESPACE, "web", 0).await?;
    until_pods(&objects, NAMESPACE, 0, PATIENCE).await?;
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;

    let deletes = scene.deletes();
    if let Some(first) = deletes.without_uid.first() {
        bail!(
            "{} of {} deletes without a UID, first {first}",
            deletes.without_uid.len(),
            deletes.seen
        );
    }
    if deletes.seen < 21 {
        bail!(
            "only {} deletes were seen, the check's own work alone needs 21",
            deletes.seen
        );
    }
    Ok(format!(
        "{} deletes in all checks of this run, each with a UID",
        deletes.seen
    ))
}
