//! Deployments and ReplicaSets to do harm to, and waiting for them.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::objects::{Objects, PatchKind};
use crate::poll::until;

/// A Deployment whose pods are labelled `app: <name>`.
pub(super) fn deployment(name: &str, replicas: usize, template: &Value) -> Value {
    let mut template = template.clone();
    template["metadata"]["labels"]["app"] = json!(name);
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": template,
        },
    })
}

/// A template with one container and nothing else.
pub(super) fn plain_template() -> Value {
    json!({ "spec": { "containers": [{ "name": "app", "image": "app:v1" }] } })
}

/// Sets the number of replicas wanted.
pub(super) async fn scale(
    objects: &Objects,
    namespace: &str,
    name: &str,
    replicas: usize,
) -> Result<()> {
    let patch = json!({ "spec": { "replicas": replicas } });
    merge(objects, namespace, name, &patch).await
}

/// Merges into a Deployment.
pub(super) async fn merge(
    objects: &Objects,
    namespace: &str,
    name: &str,
    patch: &Value,
) -> Result<()> {
    let patched = objects
        .patch("Deployment", namespace, name, "", PatchKind::Merge, patch)
        .await;
    patched
        .map(drop)
        .with_context(|| format!("cannot change Deployment {name}"))
}

/// Whether the status says that everything asked for is there: the rule of `kubectl rollout status`, and available.
pub(super) fn is_complete(deployment: &Value) -> bool {
    let number = |pointer: &str| {
        deployment
            .pointer(pointer)
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    let wanted = number("/spec/replicas");
    number("/status/observedGeneration") >= number("/metadata/generation")
        && [
            "/status/replicas",
            "/status/updatedReplicas",
            "/status/availableReplicas",
        ]
        .iter()
        .all(|pointer| number(pointer) == wanted)
}

/// Waits until every Deployment of a namespace is complete.
pub(super) async fn until_all_complete(
    objects: &Objects,
    namespace: &str,
    limit: Duration,
) -> Result<()> {
    let mut waiting = Vec::new();
    let complete = until("completion of all Deployments", limit, async || {
        let all = objects.list("Deployment", namespace, "").await?;
        waiting = all
            .iter()
            .filter(|deployment| !is_complete(deployment))
            .map(|deployment| {
                let name = &deployment["metadata"]["name"];
                format!("{name} {}", deployment["status"])
            })
            .collect();
        Ok(waiting.is_empty().then_some(()))
    })
    .await;
    if complete.is_err()
        && let Some(first) = waiting.first()
    {
        bail!(
            "{} Deployments in {namespace} are not complete after {} s, first {first}",
            waiting.len(),
            limit.as_secs()
        );
    }
    complete
}

/// Waits until a namespace holds exactly this many pods.
pub(super) async fn until_pods(
    objects: &Objects,
    namespace: &str,
    wanted: usize,
    limit: Duration,
) -> Result<()> {
    let mut seen = 0;
    let reached = until(&format!("{wanted} pods"), limit, async || {
        seen = objects.count("Pod", namespace).await?;
        Ok((seen == wanted).then_some(()))
    })
    .await;
    reached.with_context(|| format!("{seen} pods in {namespace}"))
}
