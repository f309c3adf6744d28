//! A standby whose watch of pods is late takes over from a leader that has just created pods.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use serde_json::json;

use super::census::Census;
use super::lease::{first, is_lease_write};
use super::proxy::{Mood, Proxy};
use super::replica_history::ReplicaHistory;
use super::scene::{SHORT_LEASE, Scene};
use super::workload::{deployment, merge, plain_template, until_all_complete, until_pods};
use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::process::Manager;
use crate::requests::{Mark, Request};

const LAG: Duration = Duration::from_millis(1500);
const ROUNDS: usize = 3;
const REPLICAS: usize = 10;
const ROLLING: &str = "rolling";
const ROLLING_DEPLOYMENTS: usize = 100;
const ROLLING_REPLICAS: usize = 4;
/// A leader with this much under way needs seconds to leave: the standby must be later than that.
const ROLLING_LAG: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(120);
const CONCURRENCY: usize = 16;

/// A manager behind a proxy of its own.
struct Side {
    identity: Identity,
    proxy: Proxy,
    manager: Manager,
}

impl Side {
    async fn start(scene: &Scene, cluster: &Cluster, user: &str) -> Result<Self> {
        let identity = cluster.create_identity(user).await?;
        let proxy = Proxy::start(&identity).await?;
        let manager = launch(scene, cluster, &identity, &proxy).await?;
        Ok(Self {
            identity,
            proxy,
            manager,
        })
    }

    async fn restart(&mut self, scene: &Scene, cluster: &Cluster) -> Result<()> {
        self.manager = launch(scene, cluster, &self.identity, &self.proxy).await?;
        Ok(())
    }

    /// Makes the watch of pods late, or in time again.
    fn set_lag(&self, watch_lag: Duration) {
        self.proxy.set(Mood {
            watch_lag,
            lagging: Some("pods"),
            ..Mood::default()
        });
    }
}

async fn launch(
    scene: &Scene,
    cluster: &Cluster,
    identity: &Identity,
    proxy: &Proxy,
) -> Result<Manager> {
    let through = proxy.kubeconfig_flag(cluster, identity)?;
    let mut flags = SHORT_LEASE.to_vec();
    flags.push(&through);
    scene.manager(cluster, identity, &flags).await
}

/// The leader and the standby.
struct Pair<'a> {
    scene: &'a Scene,
    cluster: Cluster,
    leader: Side,
    standby: Side,
}

impl<'a> Pair<'a> {
    async fn start(scene: &'a Scene) -> Result<Self> {
        let cluster = scene.cluster().await?;
        let leader = Side::start(scene, &cluster, "lagging:a").await?;
        let user = leader.identity.user();
        let what = "the leader's lease";
        first(
            &cluster,
            what,
            user,
            Mark::default(),
            PATIENCE,
            is_lease_write,
        )
        .await?;
        let mark = cluster.audit()?.mark()?;
        let standby = Side::start(scene, &cluster, "lagging:b").await?;
        let pair = Self {
            scene,
            cluster,
            leader,
            standby,
        };
        pair.standby_follows(mark).await?;
        Ok(pair)
    }

    /// Waits until the standby watches pods, then makes that watch late. Upstream's standby watches nothing.
    async fn standby_follows(&self, since: Mark) -> Result<()> {
        if self.scene.binary().is_some() {
            let user = self.standby.identity.user();
            let is_watch = |one: &Request| one.verb == "watch" && one.resource == "pods";
            first(
                &self.cluster,
                "the standby's watch of pods",
                user,
                since,
                PATIENCE,
                is_watch,
            )
            .await
            .with_context(|| self.standby.manager.log_tail(10))?;
        }
        self.leader.set_lag(Duration::ZERO);
        self.standby.set_lag(LAG);
        Ok(())
    }

    /// SIGTERM to the leader, and waits until the standby has the Lease. The former leader stands by then.
    async fn hand_over(&mut self) -> Result<f64> {
        let mark = self.cluster.audit()?.mark()?;
        let asked = Timestamp::now();
        self.leader.manager.terminate()?;
        self.leader.manager.wait_exit(PATIENCE).await?;
        let user = self.standby.identity.user();
        let what = "the standby's lease";
        let taken = first(&self.cluster, what, user, mark, PATIENCE, is_lease_write)
            .await
            .with_context(|| self.standby.manager.log_tail(20))?;
        Ok(taken.duration_since(asked).as_secs_f64())
    }

    /// The former leader starts again and stands by with a late watch.
    async fn swap(&mut self) -> Result<()> {
        std::mem::swap(&mut self.leader, &mut self.standby);
        let mark = self.cluster.audit()?.mark()?;
        self.standby.restart(self.scene, &self.cluster).await?;
        self.standby_follows(mark).await
    }

    fn pods_created(&self, namespace: &str, since: Mark) -> Result<usize> {
        let requests = self.cluster.audit()?.since(since)?;
        let created = requests.filter(|one| one.created("pods"));
        Ok(created.in_namespace(namespace).len())
    }
}

pub(super) async fn check(scene: &Scene) -> Result<String> {
    let mut pair = Pair::start(scene).await?;
    let rounds = scene.options.rounds.unwrap_or(ROUNDS);
    let (mut wrong, mut took) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let (created, at_most, seconds) = scale_up(&mut pair, round).await?;
        took.push(format!("{seconds:.1}"));
        if created != REPLICAS || at_most != REPLICAS {
            wrong.push(format!("{created} created, {at_most} at once"));
        }
        pair.swap().await?;
    }
    let rolling = roll(&mut pair).await;
    for user in ["lagging:a", "lagging:b"] {
        scene.enter_deletes_of(&pair.cluster, user)?;
    }
    let rolling = match rolling {
        Ok(figures) => figures,
        Err(error) => {
            wrong.push(format!("{error:#}"));
            String::new()
        }
    };
    if !wrong.is_empty() {
        bail!(
            "pods {} ms late, {REPLICAS} replicas wanted in each of {rounds} rounds: {}; {rolling}",
            LAG.as_millis(),
            wrong.join("; ")
        );
    }
    Ok(format!(
        "pods {} ms late: {REPLICAS} of {REPLICAS} created in each of {rounds} rounds (lease taken after {} s); {rolling}",
        LAG.as_millis(),
        took.join(", ")
    ))
}

/// The leader creates pods and is asked to leave at once. Returns the pods created, the most at once, and the seconds
/// until the standby had the Lease.
async fn scale_up(pair: &mut Pair<'_>, round: usize) -> Result<(usize, usize, f64)> {
    let namespace = format!("lagging-{round}");
    let objects = pair.cluster.objects();
    objects.create_namespace(&namespace).await?;
    let mark = pair.cluster.audit()?.mark()?;
    let census = Census::start(&pair.cluster, &namespace).await?;
    let web = deployment("web", REPLICAS, &plain_template());
    objects.create(&namespace, &web).await?;
    census
        .reaches(REPLICAS, PATIENCE)
        .await
        .with_context(|| pair.leader.manager.log_tail(10))?;
    let seconds = pair.hand_over().await?;
    // What a late watch could still provoke has been provoked when everything has been seen.
    tokio::time::sleep(LAG * 2 + Duration::from_secs(2)).await;
    until_pods(&objects, &namespace, REPLICAS, PATIENCE)
        .await
        .with_context(|| pair.standby.manager.log_tail(10))?;
    let created = pair.pods_created(&namespace, mark)?;
    Ok((created, census.read()?.living_max, seconds))
}

/// Many Deployments get another image, and the leader is asked to leave in the middle of it.
async fn roll(pair: &mut Pair<'_>) -> Result<String> {
    let objects = pair.cluster.objects();
    let _kubelet = Kubelet::start(&pair.cluster, KubeletOptions::lean()).await?;
    objects.create_namespace(ROLLING).await?;
    let history = ReplicaHistory::start(&pair.cluster, ROLLING).await?;
    let template = plain_template();
    each(async |name| {
        let object = deployment(&name, ROLLING_REPLICAS, &template);
        objects.create(ROLLING, &object).await.map(drop)
    })
    .await?;
    until_all_complete(&objects, ROLLING, PATIENCE).await?;
    let wanted = ROLLING_DEPLOYMENTS * ROLLING_REPLICAS;
    let mark = pair.cluster.audit()?.mark()?;

    pair.standby.set_lag(ROLLING_LAG);
    let image = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "app", "image": "app:v2" }] } } } });
    each(async |name| merge(&objects, ROLLING, &name, &image).await).await?;
    let begun = "a tenth of the rollout";
    crate::poll::until(begun, PATIENCE, async || {
        Ok((pair.pods_created(ROLLING, mark)? >= wanted / 10).then_some(()))
    })
    .await?;
    pair.hand_over().await?;
    let at_handover = pair.pods_created(ROLLING, mark)?;
    until_all_complete(&objects, ROLLING, PATIENCE)
        .await
        .with_context(|| pair.standby.manager.log_tail(10))?;
    tokio::time::sleep(ROLLING_LAG + Duration::from_secs(2)).await;
    until_pods(&objects, ROLLING, wanted, PATIENCE).await?;
    let excess = history.excess()?;
    let created = pair.pods_created(ROLLING, mark)?;
    if let Some(one) = excess.first() {
        bail!(
            "{ROLLING_DEPLOYMENTS} Deployments rolling: {} pods beyond what their ReplicaSet wanted, first {one}; \
             {created} created instead of {wanted}",
            excess.len()
        );
    }
    if at_handover >= wanted {
        bail!("the rollout was over before the handover");
    }
    Ok(format!(
        "{ROLLING_DEPLOYMENTS} Deployments rolling with pods {} s late, handover after {at_handover} of {wanted} pods: {created} created, \
         none beyond what its ReplicaSet wanted",
        ROLLING_LAG.as_secs()
    ))
}

async fn each(work: impl AsyncFn(String) -> Result<()>) -> Result<()> {
    futures::stream::iter(0..ROLLING_DEPLOYMENTS)
        .map(|number| work(format!("web-{number}")))
        .buffer_unordered(CONCURRENCY)
        .try_collect()
        .await
}
