//! Connections that are open and dead: what the manager sends is acknowledged, and nothing ever comes back.
//!
//! A firewall that forgot its connections or a node that lost power looks like this. New connections work, so a
//! manager that notices can go on at once.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::census::Census;
use super::scene::Scene;
use super::tunnel::Tunnel;
use super::workload::{deployment, plain_template, scale};

const NAMESPACE: &str = "frozen";
const BEFORE: usize = 2;
const AFTER: usize = 5;
/// What a manager may take to notice.
const NOTICED: Duration = Duration::from_secs(45);
/// How long is measured at most.
const PATIENCE: Duration = Duration::from_secs(240);

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let mut figures = Vec::new();
    for _ in 0..scene.options.rounds.unwrap_or(1) {
        figures.push(once(scene).await?);
    }
    Ok(figures.join("; "))
}

async fn once(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    objects.create_namespace(NAMESPACE).await?;
    let census = Census::start(&cluster, NAMESPACE).await?;
    let tunnel = Tunnel::start(&cluster).await?;
    let through = tunnel.kubeconfig_flag(&cluster, cluster.manager())?;
    let manager = scene
        .manager(&cluster, cluster.manager(), &[&through])
        .await?;
    let web = deployment("web", BEFORE, &plain_template());
    objects.create(NAMESPACE, &web).await?;
    let settled = census.until(BEFORE, PATIENCE).await;
    settled.with_context(|| manager.log_tail(10))?;

    let frozen = tunnel.accepted();
    tunnel.freeze();
    let started = Instant::now();
    scale(&objects, NAMESPACE, "web", AFTER).await?;
    let reached = census.until(AFTER, PATIENCE).await;
    reached.with_context(|| manager.log_tail(10))?;
    let took = started.elapsed();
    let seconds = took.as_secs_f64();
    if took > NOTICED {
        bail!(
            "{frozen} connections frozen: pods {seconds:.0} s after the scale-up, not within {} s",
            NOTICED.as_secs()
        );
    }
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    let again = tunnel.accepted() - frozen;
    Ok(format!(
        "{frozen} connections frozen: pods {seconds:.0} s after the scale-up, by {again} new connections"
    ))
}
