//! The kubelet's requests.

use anyhow::{Context as _, Result};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};

use super::NODE;
use super::decide::{Job, Reported, Work};

pub(super) async fn carry_out(client: &Client, job: &Job, lean: bool, number: usize) -> Result<()> {
    let path = format!("/api/v1/namespaces/{}/pods/{}", job.namespace, job.name);
    match &job.work {
        Work::Finish => {
            let options = json!({ "gracePeriodSeconds": 0, "preconditions": { "uid": job.uid } });
            send(client, Method::DELETE, &path, "application/json", &options).await
        }
        Work::Report {
            bind,
            state,
            containers,
        } => {
            if *bind {
                let binding = json!({
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": { "name": job.name, "uid": job.uid },
                    "target": { "kind": "Node", "name": NODE },
                });
                let path = format!("{path}/binding");
                send(client, Method::POST, &path, "application/json", &binding).await?;
            }
            // The UID in the patch keeps a report of an old pod from landing on a new one of the same name.
            let patch = json!({
                "metadata": { "uid": job.uid },
                "status": status(*state, containers, lean, number),
            });
            let path = format!("{path}/status");
            send(
                client,
                Method::PATCH,
                &path,
                "application/merge-patch+json",
                &patch,
            )
            .await
        }
    }
}

/// Sends and forgets the answer. A pod that is gone, or replaced by another of its name, is no failure.
async fn send(
    client: &Client,
    method: Method,
    path: &str,
    content_type: &str,
    body: &Value,
) -> Result<()> {
    let request = Request::builder()
        .method(method.clone())
        .uri(path)
        .header(http::header::CONTENT_TYPE, content_type)
        .body(serde_json::to_vec(body)?)?;
    match client.request_text(request).await {
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        outcome => outcome
            .map(drop)
            .with_context(|| format!("kubelet's {method} {path}")),
    }
}

fn status(state: Reported, containers: &[(String, String)], lean: bool, number: usize) -> Value {
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    let (phase, ready, running) = match state {
        Reported::Running { ready } => ("Running", ready, true),
        Reported::Failed => ("Failed", false, false),
        Reported::Succeeded | Reported::Finished => ("Succeeded", false, false),
    };
    let condition = |kind: &str, holds: bool| {
        let status = if holds { "True" } else { "False" };
        json!({ "type": kind, "status": status, "lastTransitionTime": now })
    };
    if lean {
        return json!({
            "phase": phase,
            "startTime": now,
            "conditions": [condition("Ready", ready)],
        });
    }
    let exit_code = u8::from(state == Reported::Failed);
    let container_state = if running {
        json!({ "running": { "startedAt": now } })
    } else {
        json!({ "terminated": { "exitCode": exit_code, "startedAt": now, "finishedAt": now } })
    };
    let containers: Vec<Value> = containers
        .iter()
        .map(|(name, image)| {
            json!({
                "name": name,
                "image": image,
                "imageID": image,
                "ready": ready,
                "started": running,
                "restartCount": 0,
                "state": container_state,
            })
        })
        .collect();
    let ip = format!(
        "10.{}.{}.{}",
        number >> 16 & 0xff,
        number >> 8 & 0xff,
        number & 0xff
    );
    json!({
        "phase": phase,
        "conditions": [
            condition("PodScheduled", true),
            condition("Initialized", true),
            condition("PodReadyToStartContainers", running),
            condition("ContainersReady", ready),
            condition("Ready", ready),
        ],
        "startTime": now,
        "hostIP": "10.255.0.1",
        "podIP": ip,
        "podIPs": [{ "ip": ip }],
        "containerStatuses": containers,
    })
}
