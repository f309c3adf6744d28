//! A template that a Deployment may have and no pod: refused for good, told, counted, and left alone.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{Ground, PATIENCE, WATCHED};
use crate::faults::workload::{deployment, merge, plain_template, until_all_complete};
use crate::poll::until;

const NAMESPACE: &str = "refused";
/// Creates of pods: one for the ReplicaSet, one for each change of its status, and some slack. Upstream's back-off
/// makes a dozen in the same time.
const CREATES_MAX: usize = 5;

pub(super) async fn check(ground: &Ground) -> Result<String> {
    let objects = &ground.objects;
    objects.create_namespace(NAMESPACE).await?;
    let mark = ground.cluster.audit()?.mark()?;
    let mut web = deployment("web", 2, &plain_template());
    web["spec"]["template"]["spec"]["nodeName"] = json!("somewhere");
    web["spec"]["template"]["spec"]["schedulingGates"] = json!([{ "name": "example.com/gate" }]);
    objects.create(NAMESPACE, &web).await?;
    for kind in ["ReplicaSet", "Deployment"] {
        until(
            &format!("ReplicaFailure of the {kind}"),
            PATIENCE,
            async || {
                let all = objects.list(kind, NAMESPACE, "").await?;
                Ok(all.iter().any(has_failed).then_some(()))
            },
        )
        .await?;
    }
    tokio::time::sleep(WATCHED).await;
    let creates = ground.creates(NAMESPACE, mark)?;
    if !(1..=CREATES_MAX).contains(&creates) {
        bail!(
            "{creates} creates in {} s, not 1 to {CREATES_MAX}",
            WATCHED.as_secs()
        );
    }
    let counted = ground.endings("replicaset-controller", "permanent").await?;
    if counted == 0 {
        bail!("no ending counted as permanent");
    }
    let events = objects.list("Event", NAMESPACE, "").await?;
    let is_told = |event: &&Value| event["type"] == "Warning" && event["reason"] == "FailedCreate";
    if !events.iter().any(|event| is_told(&event)) {
        bail!("no Warning FailedCreate among {} Events", events.len());
    }
    let mended = json!({ "spec": { "template": { "spec": { "nodeName": null, "schedulingGates": null } } } });
    merge(objects, NAMESPACE, "web", &mended).await?;
    until_all_complete(objects, NAMESPACE, PATIENCE).await?;
    Ok(format!(
        "refused template: {creates} creates in {} s, {counted} permanent endings, complete once mended",
        WATCHED.as_secs()
    ))
}

fn has_failed(object: &Value) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    conditions
        .into_iter()
        .flatten()
        .any(|one| one["type"] == "ReplicaFailure" && one["status"] == "True")
}
