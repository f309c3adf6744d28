//! How a sync ends otherwise than well: refused by validation, overtaken by another writer, failed too often.
//!
//! All three happen to one manager, each in a namespace of its own. What it may do meanwhile is counted in the audit
//! log; that it knows is read from its metrics and its log; and each workload is complete once the cause is gone.

mod failing;
mod overtaken;
mod refused;

use std::fs;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::proxy::Proxy;
use super::scene::Scene;
use crate::cluster::Cluster;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::objects::Objects;
use crate::process::Manager;
use crate::requests::Mark;

const PATIENCE: Duration = Duration::from_secs(60);
/// How long the manager is watched while nothing changes.
const WATCHED: Duration = Duration::from_secs(15);
/// The retry ceiling of ReplicaSets in the configuration file.
const RETRIES_MAX: usize = 3;

/// One manager behind a proxy, and what it is judged by.
struct Ground {
    cluster: Cluster,
    objects: Objects,
    proxy: Proxy,
    manager: Manager,
    _kubelet: Kubelet,
}

pub(super) async fn check(scene: &Scene) -> Result<String> {
    if scene.binary().is_none() {
        return Ok("not asked of Go, which knows one way to fail".to_owned());
    }
    let ground = Ground::start(scene).await?;
    let log = || ground.manager.log_tail(10);
    let figures = [
        refused::check(&ground).await.with_context(log)?,
        overtaken::check(&ground).await.with_context(log)?,
        failing::check(&ground).await.with_context(log)?,
    ];
    scene.enter_deletes_of(&ground.cluster, ground.manager.user())?;
    Ok(figures.join("; "))
}

impl Ground {
    async fn start(scene: &Scene) -> Result<Self> {
        let cluster = scene.cluster().await?;
        let kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
        let config = cluster.folder().join("endings.yaml");
        let retries = json!({
            "apiVersion": "kubecontrollermanager.config.k8s.io/v1alpha1",
            "kind": "KubeControllerManagerConfiguration",
            "replicaSetController": { "maxRetries": RETRIES_MAX },
        });
        fs::write(&config, retries.to_string())?;
        let proxy = Proxy::start(cluster.manager()).await?;
        let through = proxy.kubeconfig_flag(&cluster, cluster.manager())?;
        let flags = [through, format!("--config={}", config.display())];
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let manager = scene.manager(&cluster, cluster.manager(), &flags).await?;
        Ok(Self {
            objects: cluster.objects(),
            cluster,
            proxy,
            manager,
            _kubelet: kubelet,
        })
    }

    /// How many syncs of a controller ended so, by its metrics.
    async fn endings(&self, controller: &str, ending: &str) -> Result<u64> {
        let labels = format!("controller=\"{controller}\",ending=\"{ending}\"");
        let name = format!("flyball_sync_endings_total{{{labels}}}");
        let metrics = self.manager.read("/metrics").await?;
        let value = metrics
            .lines()
            .find_map(|line| line.strip_prefix(&name)?.trim().parse().ok());
        value.with_context(|| format!("no {name} among the metrics"))
    }

    /// How many lines of the manager's log have all these words.
    fn log_lines(&self, words: &[&str]) -> Result<usize> {
        let log = fs::read_to_string(self.manager.log())?;
        let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
        Ok(log.lines().filter(has_all).count())
    }

    /// How often the manager asked for a pod in a namespace.
    fn creates(&self, namespace: &str, since: Mark) -> Result<usize> {
        let requests = self.cluster.audit()?.since(since)?.in_namespace(namespace);
        let is_create = |verb: &str, resource: &str| verb == "create" && resource == "pods";
        let own = requests.by_user(self.manager.user());
        Ok(own.filter(|one| is_create(&one.verb, &one.resource)).len())
    }
}
