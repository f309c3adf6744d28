//! A server that refuses lists and watches and asks for ten minutes of patience, while Leases can be renewed.
//!
//! The refusals last for seconds only: a manager that takes `Retry-After` at its word is blind long after. And as
//! long as they last for one manager alone, it keeps a Lease that another could use.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::census::Census;
use super::lease::{first, is_leaders_write};
use super::proxy::{Mood, Proxy};
use super::scene::Scene;
use super::workload::{deployment, plain_template, scale};
use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
use crate::process::Manager;

const NAMESPACE: &str = "retry";
const TROUBLE: Duration = Duration::from_secs(20);
/// What a manager may take to see again when the trouble is over.
const RECOVERED: Duration = Duration::from_secs(45);
/// What may pass until a healthy manager acts instead: the lease duration and 30 s.
const REPLACED: Duration = Duration::from_secs(15 + 30);
/// How long is measured at most.
const PATIENCE: Duration = Duration::from_secs(120);
const ELECTION: &str = "--leader-elect=true";

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let (mut figures, mut broken) = (Vec::new(), Vec::new());
    for _ in 0..scene.options.rounds.unwrap_or(1) {
        for outcome in [recovery(scene).await, replacement(scene).await] {
            match outcome {
                Ok(figure) => figures.push(figure),
                Err(error) => broken.push(format!("{error:#}")),
            }
        }
    }
    if !broken.is_empty() {
        let held = if figures.is_empty() {
            "nothing".to_owned()
        } else {
            figures.join("; ")
        };
        bail!("{}; held: {held}", broken.join("; "));
    }
    Ok(figures.join("; "))
}

/// A manager that leads, behind a proxy, and pods to count.
struct Ground {
    cluster: Cluster,
    census: Census,
    proxy: Proxy,
    identity: Identity,
    manager: Manager,
}

impl Ground {
    async fn start(scene: &Scene) -> Result<Self> {
        let cluster = scene.cluster().await?;
        cluster.objects().create_namespace(NAMESPACE).await?;
        let census = Census::start(&cluster, NAMESPACE).await?;
        let identity = cluster.create_identity("retry:refused").await?;
        let proxy = Proxy::start(&identity).await?;
        let through = proxy.kubeconfig_flag(&cluster, &identity)?;
        let flags = [ELECTION, &through];
        let manager = scene.manager(&cluster, &identity, &flags).await?;
        let web = deployment("web", 2, &plain_template());
        cluster.objects().create(NAMESPACE, &web).await?;
        let settled = census.until(2, PATIENCE).await;
        settled.with_context(|| manager.log_tail(10))?;
        Ok(Self {
            cluster,
            census,
            proxy,
            identity,
            manager,
        })
    }

    fn refuse(&self) {
        self.proxy.set(Mood {
            overload: Some("600"),
            ..Mood::default()
        });
    }
}

/// The trouble ends: how long until the manager acts on what changed meanwhile.
async fn recovery(scene: &Scene) -> Result<String> {
    let ground = Ground::start(scene).await?;
    ground.refuse();
    tokio::time::sleep(TROUBLE).await;
    scale(&ground.cluster.objects(), NAMESPACE, "web", 5).await?;
    ground.proxy.set(Mood::default());
    let started = Instant::now();
    let reached = ground.census.until(5, PATIENCE).await;
    reached.with_context(|| {
        format!(
            "refused for {} s\n{}",
            TROUBLE.as_secs(),
            ground.manager.log_tail(10)
        )
    })?;
    let took = started.elapsed();
    let seconds = took.as_secs_f64();
    if took > RECOVERED {
        bail!(
            "pods {seconds:.0} s after the refusals ended, not within {} s",
            RECOVERED.as_secs()
        );
    }
    scene.enter_deletes_of(&ground.cluster, ground.identity.user())?;
    Ok(format!(
        "refused for {} s with Retry-After 600: pods {seconds:.1} s after the end",
        TROUBLE.as_secs()
    ))
}

/// The trouble does not end, and a standby has none: how long until the standby acts.
async fn replacement(scene: &Scene) -> Result<String> {
    let ground = Ground::start(scene).await?;
    let healthy = ground.cluster.create_identity("retry:healthy").await?;
    let standby = scene
        .manager(&ground.cluster, &healthy, &[ELECTION])
        .await?;
    let mark = ground.cluster.audit()?.mark()?;
    ground.refuse();
    let started = Instant::now();
    scale(&ground.cluster.objects(), NAMESPACE, "web", 8).await?;
    let what = "a write by the healthy standby";
    let user = healthy.user();
    first(
        &ground.cluster,
        what,
        user,
        mark,
        PATIENCE,
        is_leaders_write,
    )
    .await
    .with_context(|| {
        format!(
            "the refused leader keeps the Lease\n{}",
            ground.manager.log_tail(6)
        )
    })?;
    let took = started.elapsed();
    let seconds = took.as_secs_f64();
    if took > REPLACED {
        bail!(
            "the healthy standby acted {seconds:.0} s after the refusals began, not within {} s",
            REPLACED.as_secs()
        );
    }
    let reached = ground.census.until(8, PATIENCE).await;
    reached.with_context(|| standby.log_tail(10))?;
    for user in [ground.identity.user(), user] {
        scene.enter_deletes_of(&ground.cluster, user)?;
    }
    Ok(format!(
        "a healthy standby acted {seconds:.0} s after the refusals began"
    ))
}
