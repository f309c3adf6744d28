//! The leader's new connections are held back for longer than its term lasts, with writes pending.
//!
//! The writes wait for a connection while the Lease expires and a standby takes it. When the connections open at last,
//! none of those writes may be sent.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;

use super::census::Census;
use super::lease::{first, is_leaders_write, is_lease_write, received, seconds};
use super::scene::Scene;
use super::tunnel::Tunnel;
use super::workload::{deployment, plain_template, scale};
use crate::cluster::Cluster;
use crate::poll::until;
use crate::process::Manager;
use crate::requests::Mark;

const NAMESPACE: &str = "stalled";
const DEPLOYMENTS: usize = 60;
const REPLICAS: usize = 25;
/// Pods that are there when the connections are cut.
const CUT_AT: usize = 100;
/// Longer than the default lease duration of 15 s, and shorter than what a client waits for a connection.
const STALL: Duration = Duration::from_secs(17);
/// How long after the stall late writes are waited for.
const AFTERMATH: Duration = Duration::from_secs(12);
const PATIENCE: Duration = Duration::from_secs(90);
const ELECTION: &str = "--leader-elect=true";

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let rounds = scene.options.rounds.unwrap_or(1);
    let mut figures = Vec::new();
    for _ in 0..rounds {
        figures.push(once(scene).await?);
    }
    Ok(figures.join("; "))
}

async fn once(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let objects = cluster.objects();
    objects.create_namespace(NAMESPACE).await?;
    let (old, new) = (
        cluster.create_identity("stalled:old").await?,
        cluster.create_identity("stalled:new").await?,
    );
    let tunnel = Tunnel::start(&cluster).await?;
    let through = tunnel.kubeconfig_flag(&cluster, &old)?;
    let mut leader = scene.manager(&cluster, &old, &[ELECTION, &through]).await?;
    each(async |name| {
        let object = deployment(&name, 0, &plain_template());
        objects.create(NAMESPACE, &object).await.map(drop)
    })
    .await?;
    until("ReplicaSets of all Deployments", PATIENCE, async || {
        let sets = objects.count("ReplicaSet", NAMESPACE).await?;
        Ok((sets == DEPLOYMENTS).then_some(()))
    })
    .await
    .with_context(|| leader.log_tail(10))?;
    let standby = scene.manager(&cluster, &new, &[ELECTION]).await?;

    let census = Census::start(&cluster, NAMESPACE).await?;
    let mark = cluster.audit()?.mark()?;
    // The scale-up goes on while the leader begins it, so the harness does not wait for it.
    let scaling = each(async |name| scale(&objects, NAMESPACE, &name, REPLICAS).await);
    let (scaled, cut) = tokio::join!(scaling, async {
        census.reaches(CUT_AT, PATIENCE).await?;
        tunnel.stall(STALL);
        tunnel.cut();
        Ok::<_, anyhow::Error>((Instant::now(), Timestamp::now()))
    });
    scaled?;
    let (cut_at, cut_time) = cut?;
    let (over, sign) = term_over(&cluster, &mut leader, new.user(), mark).await?;
    let at_end_of_term = census.read()?.living;
    tokio::time::sleep_until((cut_at + STALL + AFTERMATH).into()).await;

    let requests = cluster.audit()?.since(mark)?;
    let mut late = Vec::new();
    for request in &requests.by_user(old.user()).filter(is_leaders_write).all {
        let at = received(request)?;
        if at > over {
            let after = seconds(over, at);
            late.push(format!(
                "{} {} {after:.1} s after",
                request.verb, request.resource
            ));
        }
    }
    let term = seconds(cut_time, over);
    if let Some(one) = late.first() {
        bail!(
            "{} writes by the old leader after its term was over ({sign}, {term:.1} s after its connections were \
             cut), first {one}",
            late.len()
        );
    }
    let wanted = DEPLOYMENTS * REPLICAS;
    if at_end_of_term >= wanted {
        bail!("the scale-up was over before the term was: nothing was pending");
    }
    let reached = census.until(wanted, PATIENCE).await;
    reached.with_context(|| standby.log_tail(10))?;
    for user in [old.user(), new.user()] {
        scene.enter_deletes_of(&cluster, user)?;
    }
    Ok(format!(
        "0 writes by the old leader after its term was over ({sign}, {term:.1} s after its connections were cut) with \
         {} pods to come",
        wanted - at_end_of_term
    ))
}

/// Waits for the earliest sign that the old leader's term is over: its own log, its exit, or the standby's Lease.
async fn term_over(
    cluster: &Cluster,
    leader: &mut Manager,
    new: &str,
    since: Mark,
) -> Result<(Timestamp, &'static str)> {
    let audit = cluster.audit()?;
    until("the end of the old leader's term", PATIENCE, async || {
        let log = std::fs::read_to_string(leader.log())?;
        if log.contains("writing has stopped") {
            return Ok(Some((Timestamp::now(), "by its log")));
        }
        if leader.exited()?.is_some() {
            return Ok(Some((Timestamp::now(), "by its exit")));
        }
        if audit
            .since(since)?
            .by_user(new)
            .filter(is_lease_write)
            .is_empty()
        {
            return Ok(None);
        }
        let taken = first(cluster, "its Lease", new, since, PATIENCE, is_lease_write).await?;
        Ok(Some((taken, "by the standby's Lease")))
    })
    .await
}

async fn each(work: impl AsyncFn(String) -> Result<()>) -> Result<()> {
    futures::stream::iter(0..DEPLOYMENTS)
        .map(|number| work(format!("web-{number}")))
        .buffer_unordered(8)
        .try_collect()
        .await
}
