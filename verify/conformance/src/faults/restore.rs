//! etcd is restored from an older copy under a running manager.
//!
//! Three Deployments are settled and etcd is copied. The history after the copy is lost: one Deployment is scaled,
//! one is deleted, one gets another image, a fourth is created. The manager's caches hold that history when the
//! servers come back with the copy. It must notice, and act only on what the server holds now.

mod history;

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;

use self::history::{EXTRA, Kept, NAMESPACE, lose_history, settle};
use super::lease::received;
use super::scene::Scene;
use super::workload::scale;
use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::poll::until;
use crate::process::{COMPARED, Manager};
use crate::requests::Requests;

const PATIENCE: Duration = Duration::from_secs(60);
/// How long the end state must stay as it is.
const SETTLING: Duration = Duration::from_secs(10);
/// Replicas wanted of the first Deployment after the restore; the copy has ten.
const SCALED: usize = 15;
const USERS: [&str; 2] = ["restore:a", "restore:b"];
const ELECTION: &[&str] = &["--leader-elect=true"];

/// How much history is lost, and for how long the servers are away.
#[derive(Clone, Copy)]
struct Loss {
    name: &'static str,
    /// Writes of ConfigMaps on top of those that the Deployments cause.
    more_writes: usize,
    outage: Duration,
}

const LOSSES: [Loss; 4] = [
    Loss::of("small gap, 3 s", 0, 3),
    Loss::of("large gap, 20 s", 2_500, 20),
    Loss::of("small gap, 20 s", 0, 20),
    Loss::of("large gap, 3 s", 2_500, 3),
];

impl Loss {
    const fn of(name: &'static str, more_writes: usize, outage_s: u64) -> Self {
        Self {
            name,
            more_writes,
            outage: Duration::from_secs(outage_s),
        }
    }
}

/// One manager, which is there before and after.
pub(super) async fn alone(scene: &Scene) -> Result<String> {
    all(scene, false).await
}

/// The leader is killed during the outage, so that a standby takes over with its own caches.
pub(super) async fn with_standby(scene: &Scene) -> Result<String> {
    all(scene, true).await
}

/// Two of the losses by default, all of them `--rounds` times.
async fn all(scene: &Scene, has_standby: bool) -> Result<String> {
    let losses: Vec<Loss> = match scene.options.rounds {
        None => LOSSES[..2].to_vec(),
        Some(rounds) => LOSSES.repeat(rounds),
    };
    let (mut figures, mut broken) = (Vec::new(), Vec::new());
    for loss in losses {
        match once(scene, loss, has_standby).await {
            Ok(figure) => figures.push(format!("{}: {figure}", loss.name)),
            Err(error) => broken.push(format!("{}: {error:#}", loss.name)),
        }
    }
    if !broken.is_empty() {
        bail!(
            "{} of {} restores went wrong: {}",
            broken.len(),
            broken.len() + figures.len(),
            broken.join("; ")
        );
    }
    Ok(figures.join("; "))
}

async fn once(scene: &Scene, loss: Loss, has_standby: bool) -> Result<String> {
    let mut cluster = scene.cluster().await?;
    let objects = cluster.objects();
    let kubelet = Kubelet::start(&cluster, KubeletOptions::lean()).await?;
    objects.create_namespace(NAMESPACE).await?;
    let mut managers = vec![Supervised::start(scene, &cluster, USERS[0]).await?];
    let kept = settle(&objects).await?;
    if has_standby {
        managers.push(Supervised::start(scene, &cluster, USERS[1]).await?);
    }

    let copy = cluster.copy_data()?;
    let versions = lose_history(&objects, loss.more_writes).await?;

    let mark = cluster.audit()?.mark()?;
    drop(kubelet);
    cluster.kill_servers().await?;
    if has_standby {
        managers.remove(0).manager.kill().await?;
    }
    tokio::time::sleep(loss.outage).await;
    cluster.restore_data(&copy)?;
    cluster.start_servers().await?;
    let back = Instant::now();
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::lean()).await?;
    scale(&objects, NAMESPACE, "d1", SCALED).await?;

    let mut last = String::new();
    let right = until(
        "the state of the copy, with d1 scaled",
        PATIENCE,
        async || {
            for manager in &mut managers {
                manager.restart_if_ended(scene, &cluster).await?;
            }
            last = kept.difference(&objects, SCALED).await?;
            Ok(last.is_empty().then_some(()))
        },
    )
    .await;
    let took = back.elapsed().as_secs_f64();
    let requests = cluster.audit()?.since(mark)?;
    let judged = judge(&kept, &requests);
    right.with_context(|| explain(&last, &judged, &managers))?;
    tokio::time::sleep(SETTLING).await;
    let last = kept.difference(&objects, SCALED).await?;
    let requests = cluster.audit()?.since(mark)?;
    let judged = judge(&kept, &requests);
    if !last.is_empty() || judged.is_err() {
        bail!("{}", explain(&last, &judged, &managers));
    }
    for user in USERS {
        scene.enter_deletes(&requests.by_user(user));
    }
    let restarts: usize = managers.iter().map(|one| one.restarts).sum();
    let restarted = if restarts > 0 {
        ", the manager had exited and was started again"
    } else {
        ""
    };
    Ok(format!(
        "{versions} versions lost, right after {took:.0} s{restarted}"
    ))
}

/// What the managers did since the servers were killed: the rule that was broken, if any.
fn judge(kept: &Kept, requests: &Requests) -> Result<()> {
    let ours = requests.filter(|one| USERS.contains(&one.user.as_str()));
    let deleted = ours.filter(|one| {
        one.verb == "delete" && one.resource == "pods" && one.code == 200 && kept.is_kept(&one.name)
    });
    let first = first_time(&ours)?;
    let at = |one: &crate::requests::Request| -> Result<f64> {
        Ok(received(one)?.duration_since(first).as_secs_f64())
    };
    if let Some(one) = deleted.all.first() {
        bail!(
            "{} pods of the copy deleted, first {} {:.1} s after the first request",
            deleted.len(),
            one.name,
            at(one)?
        );
    }
    let sets = ours.filter(|one| one.created("replicasets"));
    if !sets.is_empty() {
        bail!("{} ReplicaSets created", sets.len());
    }
    let pods = ours.filter(|one| one.created("pods"));
    let wanted = SCALED - kept.pods_of("d1");
    let of_others = pods
        .filter(|one| one.owner_uid() != Some(kept.replica_set("d1")))
        .len();
    if of_others > 0 || pods.len() > wanted {
        bail!(
            "{} pods created instead of {wanted}, {of_others} of them not for d1 ({EXTRA} is of the lost history)",
            pods.len()
        );
    }
    Ok(())
}

fn first_time(requests: &Requests) -> Result<Timestamp> {
    let times = requests.all.iter().map(received);
    let times: Vec<Timestamp> = times.collect::<Result<_>>()?;
    Ok(times.into_iter().min().unwrap_or(Timestamp::UNIX_EPOCH))
}

fn explain(difference: &str, judged: &Result<()>, managers: &[Supervised]) -> String {
    let rule = match judged {
        Ok(()) => String::new(),
        Err(error) => format!("{error:#}; "),
    };
    let state = if difference.is_empty() {
        "as it should be"
    } else {
        difference
    };
    let logs: Vec<String> = managers.iter().map(|one| one.manager.log_tail(3)).collect();
    format!("{rule}the end state is {state}\n{}", logs.join("\n"))
}

/// A manager that is started again when it exits, as a static pod is. Upstream's exits when it loses its Lease.
struct Supervised {
    identity: Identity,
    manager: Manager,
    restarts: usize,
}

impl Supervised {
    async fn start(scene: &Scene, cluster: &Cluster, user: &str) -> Result<Self> {
        let identity = cluster.create_identity(user).await?;
        let manager = scene
            .manager_of(COMPARED, cluster, &identity, ELECTION)
            .await?;
        Ok(Self {
            identity,
            manager,
            restarts: 0,
        })
    }

    async fn restart_if_ended(&mut self, scene: &Scene, cluster: &Cluster) -> Result<()> {
        if self.manager.exited()?.is_none() {
            return Ok(());
        }
        let log = std::fs::read_to_string(self.manager.log())?;
        if log.contains("panicked") {
            bail!("the manager panicked: {}", self.manager.log_tail(10));
        }
        self.restarts += 1;
        self.manager = scene
            .manager_of(COMPARED, cluster, &self.identity, ELECTION)
            .await?;
        Ok(())
    }
}
