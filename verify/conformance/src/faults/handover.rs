//! Upstream's manager and ours alternate on one Lease.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::lease::{first, handovers, is_leaders_write, writes_without_lease};
use super::load::Load;
use super::scene::{SHORT_LEASE, Scene};
use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::process::{Manager, WORKLOADS};
use crate::requests::Mark;

const ROUNDS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(30);

/// One of the two.
struct Side {
    identity: Identity,
    is_ours: bool,
    manager: Manager,
}

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    let _load = Load::start(cluster.objects()).await?;
    let mut leader = side(scene, &cluster, "handover:go", false).await?;
    wait(&cluster, &leader, Mark::default()).await?;
    let mut standby = side(scene, &cluster, "handover:ours", true).await?;
    for round in 0..ROUNDS {
        let mark = cluster.audit()?.mark()?;
        // Each of the two is asked to go and is killed in turn.
        if (round / 2) % 2 == 0 {
            leader.manager.terminate()?;
            leader.manager.wait_exit(PATIENCE).await?;
        } else {
            leader.manager.kill().await?;
        }
        wait(&cluster, &standby, mark)
            .await
            .with_context(|| format!("handover {round}"))?;
        let again = start(scene, &cluster, &leader.identity, leader.is_ours).await?;
        leader.manager = again;
        std::mem::swap(&mut leader, &mut standby);
    }
    let requests = cluster.audit()?.since(Mark::default())?;
    scene.enter_deletes(&requests.by_user("handover:ours"));
    let wrong = writes_without_lease(&requests)?;
    if let Some(first) = wrong.first() {
        bail!("{} writes without the lease, first {first}", wrong.len());
    }
    let handovers = handovers(&requests)?;
    if handovers != ROUNDS {
        bail!("{ROUNDS} handovers were forced, the Lease saw {handovers}");
    }
    let count = |user: &str| requests.by_user(user).filter(is_leaders_write).len();
    let (go, ours) = (count("handover:go"), count("handover:ours"));
    Ok(format!(
        "{handovers} handovers, {go} writes by Go, {ours} by ours, none without the lease"
    ))
}

async fn side(scene: &Scene, cluster: &Cluster, user: &str, is_ours: bool) -> Result<Side> {
    let identity = cluster.create_identity(user).await?;
    let manager = start(scene, cluster, &identity, is_ours).await?;
    Ok(Side {
        identity,
        is_ours,
        manager,
    })
}

async fn start(
    scene: &Scene,
    cluster: &Cluster,
    identity: &Identity,
    is_ours: bool,
) -> Result<Manager> {
    if is_ours {
        return scene.manager(cluster, identity, SHORT_LEASE).await;
    }
    let mut manager = Manager::go_as(cluster, identity, WORKLOADS, SHORT_LEASE).await?;
    manager.wait_healthy().await?;
    Ok(manager)
}

async fn wait(cluster: &Cluster, side: &Side, since: Mark) -> Result<()> {
    let user = side.identity.user();
    let what = format!("a write by {user}");
    first(cluster, &what, user, since, PATIENCE, is_leaders_write)
        .await
        .with_context(|| side.manager.log_tail(20))?;
    Ok(())
}
