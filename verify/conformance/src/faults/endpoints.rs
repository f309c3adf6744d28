//! The manager's own pages, and who may read them.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::pages::Pages;
use super::scene::Scene;
use super::workload::{deployment, plain_template, until_all_complete};
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::poll::until;
use crate::ports::free_port;

/// Metrics that dashboards of upstream's manager read.
const METRICS: &[&str] = &[
    "workqueue_adds_total{name=\"deployment\"}",
    "workqueue_depth{name=\"replicaset\"",
    "workqueue_queue_duration_seconds_bucket{",
    "workqueue_work_duration_seconds_count{",
    "rest_client_requests_total{",
    "leader_election_master_status{",
    "process_resident_memory_bytes",
    "process_cpu_seconds_total",
];

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    let port = free_port()?;
    let flags = [
        "--leader-elect=true",
        &format!("--secure-port={port}"),
        "--concurrent-deployment-syncs=7",
    ];
    let mut manager = scene.manager(&cluster, cluster.manager(), &flags).await?;
    let (admin, anonymous) = (
        Pages::as_admin(&cluster, port).await?,
        Pages::anonymous(port)?,
    );
    let objects = cluster.objects();
    objects.create_namespace("pages").await?;
    objects
        .create("pages", &deployment("web", 2, &plain_template()))
        .await?;
    until_all_complete(&objects, "pages", Duration::from_secs(60)).await?;

    // Upstream has no /readyz; that page is ours.
    let probes: &[&str] = if scene.binary().is_some() {
        &[
            "/healthz",
            "/livez",
            "/readyz",
            "/healthz?verbose",
            "/livez?verbose",
            "/readyz?verbose",
        ]
    } else {
        &["/healthz"]
    };
    for path in probes {
        for (who, pages) in [("anonymous", &anonymous), ("the administrator", &admin)] {
            let (code, text) = pages.fetch(path).await?;
            // Only /healthz is open to all by default.
            let is_open = path.starts_with("/healthz") || who != "anonymous";
            let is_ready = until("health", Duration::from_secs(10), async || {
                Ok((pages.fetch(path).await?.0 == 200).then_some(()))
            });
            if is_open && is_ready.await.is_err() {
                bail!("{path} answers {who} with {code}: {text}");
            }
        }
    }
    if scene.binary().is_some() {
        let (_, text) = admin.fetch("/readyz?verbose").await?;
        for kind in [
            "pods",
            "replicasets",
            "deployments",
            "replicationcontrollers",
        ] {
            let named = |line: &str| line.starts_with("[+]") && line.contains(kind);
            if !text.lines().any(named) {
                bail!("/readyz?verbose does not name {kind}: {text}");
            }
        }
    }
    for path in ["/metrics", "/configz"] {
        let (code, text) = anonymous.fetch(path).await?;
        if code != 403 || !text.contains("system:anonymous") {
            bail!("{path} answers anonymous with {code} {text}");
        }
    }
    let (code, metrics) = admin.fetch("/metrics").await?;
    let missing: Vec<_> = METRICS
        .iter()
        .filter(|name| !metrics.contains(**name))
        .collect();
    if code != 200 || !missing.is_empty() {
        bail!("/metrics answers {code} without {missing:?}");
    }
    let (code, configz) = admin.fetch("/configz").await?;
    let configz: Value = serde_json::from_str(&configz)
        .with_context(|| format!("/configz answers {code} {configz}"))?;
    let workers = configz.pointer(
        "/kubecontrollermanager.config.k8s.io/DeploymentController/ConcurrentDeploymentSyncs",
    );
    if code != 200 || workers != Some(&Value::from(7)) {
        bail!("/configz does not show --concurrent-deployment-syncs=7: {configz}");
    }
    let (code, _) = admin.fetch("/nothing-here").await?;
    if code != 404 {
        bail!("an unknown page answers with {code}");
    }
    if let Some(status) = manager.exited()? {
        bail!("the manager ended with {status}");
    }
    Ok(format!(
        "{} probes ok, /metrics with {} lines, /configz shows what was set, anonymous gets 403",
        probes.len(),
        metrics.lines().count()
    ))
}
