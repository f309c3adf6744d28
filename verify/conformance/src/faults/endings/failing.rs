//! A webhook that always fails: tried as often as the configuration says, told, counted, and left until a change.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use http::Method;
use serde_json::json;

use super::{Ground, PATIENCE, WATCHED};
use crate::faults::workload::{deployment, plain_template, until_all_complete};
use crate::objects::{Objects, PatchKind, Propagation, path, status_code};
use crate::poll::until;
use crate::ports::free_port;

const NAMESPACE: &str = "failing";
const WEBHOOK: &str = "closed";
const KIND: &str = "ValidatingWebhookConfiguration";
const SETTLED: Duration = Duration::from_secs(3);

pub(super) async fn check(ground: &Ground) -> Result<String> {
    let objects = &ground.objects;
    objects.create_namespace(NAMESPACE).await?;
    let webhook = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": KIND,
        "metadata": { "name": WEBHOOK },
        "webhooks": [{
            "name": "closed.example.com",
            "clientConfig": { "url": format!("https://127.0.0.1:{}/", free_port()?) },
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": NAMESPACE } },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"] }],
        }],
    });
    objects.create("", &webhook).await?;
    let refuses = async |wanted: bool| {
        until("the server's view of the webhook", PATIENCE, async || {
            Ok((is_refused(objects, NAMESPACE).await? == wanted).then_some(()))
        })
        .await
    };
    refuses(true).await?;
    let mark = ground.cluster.audit()?.mark()?;
    objects
        .create(NAMESPACE, &deployment("web", 2, &plain_template()))
        .await?;
    until("a key that was given up", PATIENCE, async || {
        let given_up = ground.endings("replicaset-controller", "given_up").await?;
        Ok((given_up > 0).then_some(()))
    })
    .await?;
    if ground.log_lines(&["sync given up", "failing/web-", "failures"])? == 0 {
        bail!("the log does not tell that a key was given up");
    }
    // A look that was due anyway, a second after the key waited for its own writes, may follow.
    tokio::time::sleep(SETTLED).await;
    let tries = ground.creates(NAMESPACE, mark)?;
    let quiet = ground.cluster.audit()?.mark()?;
    tokio::time::sleep(WATCHED).await;
    let later = ground.creates(NAMESPACE, quiet)?;
    if later > 0 {
        bail!(
            "{later} creates in {} s after the key was given up",
            WATCHED.as_secs()
        );
    }
    objects
        .delete(KIND, "", WEBHOOK, Propagation::Background)
        .await?;
    refuses(false).await?;
    let touch = json!({ "metadata": { "annotations": { "touched": "yes" } } });
    for set in objects.list("ReplicaSet", NAMESPACE, "").await? {
        let name = set["metadata"]["name"]
            .as_str()
            .context("a ReplicaSet without a name")?;
        objects
            .patch("ReplicaSet", NAMESPACE, name, "", PatchKind::Merge, &touch)
            .await?;
    }
    until_all_complete(objects, NAMESPACE, PATIENCE).await?;
    Ok(format!(
        "failing webhook: given up after {tries} creates, none in {} s, complete after a change",
        WATCHED.as_secs()
    ))
}

/// Whether the server refuses a pod because it cannot reach the webhook.
async fn is_refused(objects: &Objects, namespace: &str) -> Result<bool> {
    let mut pod = plain_template();
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"] = json!({ "name": "probe" });
    let path = format!("{}?dryRun=All", path("Pod", Some(namespace), None)?);
    let asked = objects.send(Method::POST, &path, "application/json", Some(&pod));
    match asked.await {
        Ok(_) => Ok(false),
        Err(error) if status_code(&error) == Some(500) => Ok(true),
        Err(error) => Err(error),
    }
}
