//! Two managers of ours on one Lease, and harm to the leader.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;

use super::lease::{
    first, is_leaders_write, is_lease_write, received, seconds, writes_without_lease,
};
use super::load::Load;
use super::scene::{SHORT_LEASE, Scene};
use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::process::Manager;
use crate::requests::Mark;

const DEFAULT_LEASE: &[&str] = &["--leader-elect=true"];
const PATIENCE: Duration = Duration::from_secs(40);

/// A leader and a standby under load.
struct Pair<'a> {
    scene: &'a Scene,
    cluster: Cluster,
    _kubelet: Kubelet,
    load: Load,
    leader: (Identity, Manager),
    standby: (Identity, Manager),
    flags: &'a [&'a str],
}

impl<'a> Pair<'a> {
    async fn start(scene: &'a Scene, flags: &'a [&'a str]) -> Result<Self> {
        let cluster = scene.cluster().await?;
        let kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
        let load = Load::start(cluster.objects()).await?;
        let (a, b) = (
            cluster.create_identity("pair:a").await?,
            cluster.create_identity("pair:b").await?,
        );
        let leader = scene.manager(&cluster, &a, flags).await?;
        let writes = is_leaders_write;
        first(
            &cluster,
            "the leader's first write",
            a.user(),
            Mark::default(),
            PATIENCE,
            writes,
        )
        .await
        .with_context(|| leader.log_tail(20))?;
        let standby = scene.manager(&cluster, &b, flags).await?;
        Ok(Self {
            scene,
            cluster,
            _kubelet: kubelet,
            load,
            leader: (a, leader),
            standby: (b, standby),
            flags,
        })
    }

    /// The standby's first write after `since`.
    async fn standby_writes(&self, since: Mark) -> Result<Timestamp> {
        let (user, limit) = (self.standby.0.user(), PATIENCE);
        first(
            &self.cluster,
            "the standby's first write",
            user,
            since,
            limit,
            is_leaders_write,
        )
        .await
        .with_context(|| self.standby.1.log_tail(20))
    }

    /// The standby leads now; the former leader is started again and stands by.
    async fn swap(&mut self) -> Result<()> {
        std::mem::swap(&mut self.leader, &mut self.standby);
        let identity = &self.standby.0;
        self.standby.1 = self
            .scene
            .manager(&self.cluster, identity, self.flags)
            .await?;
        Ok(())
    }

    /// Nobody ever wrote without the Lease, and what was deleted goes into the ledger.
    fn judge(self) -> Result<()> {
        drop(self.load);
        let requests = self.cluster.audit()?.since(Mark::default())?;
        self.scene.enter_deletes(&requests.by_user("pair:a"));
        self.scene.enter_deletes(&requests.by_user("pair:b"));
        let wrong = writes_without_lease(&requests)?;
        if let Some(first) = wrong.first() {
            bail!("{} writes without the lease, first {first}", wrong.len());
        }
        Ok(())
    }
}

/// kill -9 of the leader.
pub(super) async fn kill(scene: &Scene) -> Result<String> {
    let mut figures = Vec::new();
    for (flags, lease_s, rounds) in [(SHORT_LEASE, 5.0, 3), (DEFAULT_LEASE, 15.0, 1)] {
        let mut pair = Pair::start(scene, flags).await?;
        for round in 0..rounds {
            let mark = pair.cluster.audit()?.mark()?;
            let killed = Timestamp::now();
            pair.leader.1.kill().await?;
            let wrote = pair.standby_writes(mark).await?;
            let took = seconds(killed, wrote);
            figures.push(format!("{took:.1} s (lease {lease_s:.0} s)"));
            if took > lease_s + 2.0 {
                bail!("first write {took:.2} s after kill -9, lease {lease_s} s; {figures:?}");
            }
            if round + 1 < rounds {
                pair.swap().await?;
            }
        }
        pair.judge()?;
    }
    Ok(format!("first write after kill -9: {}", figures.join(", ")))
}

/// SIGTERM to the leader.
pub(super) async fn terminate(scene: &Scene) -> Result<String> {
    if scene.binary().is_none() {
        return Ok(
            "not asked of Go, which dies of SIGTERM without a release by default".to_owned(),
        );
    }
    let mut pair = Pair::start(scene, SHORT_LEASE).await?;
    let mut figures = Vec::new();
    for _ in 0..4 {
        let mark = pair.cluster.audit()?.mark()?;
        let asked = Timestamp::now();
        pair.leader.1.terminate()?;
        let status = pair.leader.1.wait_exit(PATIENCE).await?;
        if !status.success() {
            bail!(
                "SIGTERM ended with {status}: {}",
                pair.leader.1.log_tail(10)
            );
        }
        let wrote = pair.standby_writes(mark).await?;
        // The former leader's last lease write is the release.
        let requests = pair.cluster.audit()?.since(mark)?;
        let releases = requests
            .by_user(pair.leader.0.user())
            .filter(is_lease_write);
        let released = releases.all.last().context("the lease was not released")?;
        let released = received(released)?;
        let took = seconds(released, wrote);
        figures.push(format!(
            "{took:.2} s ({:.2} s from TERM to release)",
            seconds(asked, released)
        ));
        if took > 1.0 {
            bail!("first write {took:.2} s after the release; {figures:?}");
        }
        pair.swap().await?;
    }
    pair.judge()?;
    Ok(format!("first write after release: {}", figures.join(", ")))
}

/// SIGSTOP to the leader, SIGCONT when another has long led.
pub(super) async fn freeze(scene: &Scene) -> Result<String> {
    let mut pair = Pair::start(scene, SHORT_LEASE).await?;
    let frozen_user = pair.leader.0.user().to_owned();
    let mark = pair.cluster.audit()?.mark()?;
    pair.leader.1.freeze()?;
    let (user, audit) = (pair.standby.0.user().to_owned(), pair.cluster.audit()?);
    let taken = first(
        &pair.cluster,
        "the standby's lease",
        &user,
        mark,
        PATIENCE,
        is_lease_write,
    )
    .await?;
    tokio::time::sleep(scene.options.freeze).await;
    pair.leader.1.thaw()?;
    // Long enough for retries and resyncs of a process that believes it still leads.
    tokio::time::sleep(Duration::from_secs(8)).await;
    let after = audit.since(mark)?;
    let mut late = Vec::new();
    for request in &after.by_user(&frozen_user).filter(is_leaders_write).all {
        if received(request)? > taken {
            late.push(format!(
                "{} {} {}",
                request.received, request.verb, request.resource
            ));
        }
    }
    if let Some(one) = late.first() {
        bail!(
            "{} writes by the frozen leader after the lease was lost, first {one}",
            late.len()
        );
    }
    let by_other = after.by_user(&user).filter(is_leaders_write).len();

    // The thawed process is a standby like any other, or has left as upstream's does.
    let mut rejoined = "it had exited".to_owned();
    if pair.leader.1.exited()?.is_none() {
        let mark = audit.mark()?;
        let killed = Timestamp::now();
        pair.standby.1.kill().await?;
        let back = first(
            &pair.cluster,
            "its return",
            &frozen_user,
            mark,
            PATIENCE,
            is_leaders_write,
        )
        .await
        .with_context(|| pair.leader.1.log_tail(20))?;
        rejoined = format!(
            "it led again {:.1} s after the other's end",
            seconds(killed, back)
        );
    } else if scene.binary().is_some() {
        bail!("the thawed manager exited: {}", pair.leader.1.log_tail(10));
    }
    pair.judge()?;
    Ok(format!(
        "0 writes by the leader frozen for {} s after the lease was lost ({by_other} by the other); {rejoined}",
        scene.options.freeze.as_secs()
    ))
}
