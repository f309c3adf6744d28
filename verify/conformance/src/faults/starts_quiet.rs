//! A manager that starts in a settled cluster has nothing to write.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::Value;

use super::lease::{first, is_lease_write};
use super::scene::{DEFAULT_CONTROLLERS, SHORT_LEASE, Scene};
use super::workload::{deployment, is_complete, plain_template};
use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::objects::Objects;
use crate::poll::until;
use crate::process::Manager;
use crate::requests::{Mark, Request, Requests};

const NAMESPACES: usize = 50;
const DEPLOYMENTS: usize = 100;
const REPLICAS: usize = 10;
const ROUNDS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(180);
/// Without a write for so long, the cluster is settled.
const QUIET: Duration = Duration::from_secs(6);
/// The queues of a manager that has begun must stay empty for so long.
const IDLE: Duration = Duration::from_millis(700);
const USER: &str = "starts:manager";
/// Requests about the harness's own requests to the manager's server.
const REVIEWS: &[&str] = &[
    "tokenreviews",
    "subjectaccessreviews",
    "selfsubjectaccessreviews",
];

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let identity = cluster.create_identity(USER).await?;
    let kubelet = Kubelet::start(&cluster, KubeletOptions::lean()).await?;
    settle(scene, &cluster, &identity).await?;
    drop(kubelet);

    let rounds = scene.options.rounds.unwrap_or(ROUNDS);
    let audit = cluster.audit()?;
    let (mut writes, mut noisy) = (Vec::new(), 0);
    for _ in 0..rounds {
        let mark = audit.mark()?;
        let mut manager = start(scene, &cluster, &identity).await?;
        begun(scene, &cluster, &manager, mark).await?;
        manager.terminate()?;
        manager.wait_exit(PATIENCE).await?;
        let found = audit.since(mark)?.by_user(USER).filter(is_managers_write);
        noisy += usize::from(!found.is_empty());
        writes.extend(found.all);
    }
    if let Some(one) = writes.first() {
        bail!(
            "{} writes in {noisy} of {rounds} starts {:?}, first {}/{} ({})",
            writes.len(),
            Requests {
                all: writes.clone()
            }
            .by_verb(),
            one.namespace,
            one.name,
            one.code
        );
    }
    Ok(format!(
        "{rounds} starts among {NAMESPACES} namespaces, {DEPLOYMENTS} Deployments and {} pods: 0 writes",
        DEPLOYMENTS * REPLICAS
    ))
}

/// A write that is neither the election's nor caused by the harness.
fn is_managers_write(request: &Request) -> bool {
    let resource = request.resource.as_str();
    request.is_write()
        && !request.is_event()
        && resource != "leases"
        && !REVIEWS.contains(&resource)
}

async fn start(scene: &Scene, cluster: &Cluster, identity: &Identity) -> Result<Manager> {
    let root_ca = format!(
        "--root-ca-file={}",
        cluster.authority_certificate().display()
    );
    let mut flags = SHORT_LEASE.to_vec();
    flags.push(&root_ca);
    scene
        .manager_of(DEFAULT_CONTROLLERS, cluster, identity, &flags)
        .await
}

/// Fills the cluster, and lets a manager do all there is to do and leave.
async fn settle(scene: &Scene, cluster: &Cluster, identity: &Identity) -> Result<()> {
    let objects = cluster.objects();
    for number in 0..NAMESPACES {
        objects.create_namespace(&namespace(number)).await?;
    }
    let template = plain_template();
    futures::stream::iter(0..DEPLOYMENTS)
        .map(|number| {
            let web = deployment(&format!("web-{number}"), REPLICAS, &template);
            let objects = &objects;
            async move { objects.create(&namespace(number), &web).await.map(drop) }
        })
        .buffer_unordered(8)
        .try_collect::<()>()
        .await?;
    let mut manager = start(scene, cluster, identity).await?;
    until("completion of all Deployments", PATIENCE, async || {
        let all = objects.list("Deployment", "", "").await?;
        let complete = all.iter().all(is_complete) && has_accounts(&objects).await?;
        Ok(complete.then_some(()))
    })
    .await
    .with_context(|| manager.log_tail(10))?;
    let audit = cluster.audit()?;
    until("a manager at rest", PATIENCE, async || {
        let mark = audit.mark()?;
        tokio::time::sleep(QUIET).await;
        let writes = audit.since(mark)?.by_user(USER).filter(is_managers_write);
        Ok(writes.is_empty().then_some(()))
    })
    .await?;
    manager.terminate()?;
    manager.wait_exit(PATIENCE).await.map(drop)
}

fn namespace(number: usize) -> String {
    format!("quiet-{}", number % NAMESPACES)
}

/// Whether every namespace has its ServiceAccount and its certificates.
async fn has_accounts(objects: &Objects) -> Result<bool> {
    let named = |all: &[Value], name: &str| {
        let found = all.iter().filter(|one| one["metadata"]["name"] == name);
        found.count()
    };
    let accounts = objects.list("ServiceAccount", "", "").await?;
    let maps = objects.list("ConfigMap", "", "").await?;
    Ok(named(&accounts, "default") >= NAMESPACES && named(&maps, "kube-root-ca.crt") >= NAMESPACES)
}

/// Waits until the manager leads, is ready, and has worked off what it found.
async fn begun(scene: &Scene, cluster: &Cluster, manager: &Manager, since: Mark) -> Result<()> {
    first(
        cluster,
        "the manager's lease",
        USER,
        since,
        PATIENCE,
        is_lease_write,
    )
    .await
    .with_context(|| manager.log_tail(10))?;
    // Upstream's manager has no /readyz.
    if scene.binary().is_some() {
        until("/readyz to be ok", PATIENCE, async || {
            Ok(manager.read("/readyz").await.is_ok().then_some(()))
        })
        .await
        .with_context(|| manager.log_tail(10))?;
    }
    until("empty queues", PATIENCE, async || {
        let before = Queues::read(manager).await?;
        tokio::time::sleep(IDLE).await;
        let after = Queues::read(manager).await?;
        let idle = after.depth == 0.0 && after.added == before.added && after.added > 0.0;
        Ok(idle.then_some(()))
    })
    .await
}

/// The work queues of a manager, all together.
struct Queues {
    depth: f64,
    added: f64,
}

impl Queues {
    async fn read(manager: &Manager) -> Result<Self> {
        let text = manager.read("/metrics").await?;
        let sum = |metric: &str| -> f64 {
            let lines = text.lines().filter(|line| line.starts_with(metric));
            let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
            values.sum()
        };
        Ok(Self {
            depth: sum("workqueue_depth{"),
            added: sum("workqueue_adds_total{"),
        })
    }
}
