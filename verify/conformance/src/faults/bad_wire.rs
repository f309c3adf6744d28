//! Nonsense on the wire: from the start, and while running.
//!
//! Each kind of nonsense gets a manager of its own, because back-offs grow with each trouble and are forgotten
//! only after minutes, as upstream's are.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::pages::Pages;
use super::proxy::{Mischief, Mood, Proxy};
use super::scene::Scene;
use super::workload::{deployment, plain_template, scale, until_all_complete};
use crate::cluster::Cluster;
use crate::kubelet::{Kubelet, KubeletOptions};
use crate::poll::until;
use crate::ports::free_port;
use crate::process::Manager;

const NAMESPACE: &str = "wire";
/// How long each mischief lasts: several retries of a manager whose first are immediate.
const AFFLICTION: Duration = Duration::from_secs(5);
/// How long until /readyz must fail for a kind that neither lists nor watches bring: a leader is out of touch with it
/// for 30 s then.
const NAMED_WITHIN: Duration = Duration::from_secs(40);
const RECOVERY: Duration = Duration::from_secs(60);
/// An endless line must not be kept: lines end at 64 MiB, and the rest is what a manager needs anyway.
const RSS_KB_MAX: u64 = 400 * 1024;

pub(super) async fn check(scene: &Scene) -> Result<String> {
    if scene.binary().is_none() {
        return Ok(
            "not asked of Go, which has no /readyz and waits for ever in a garbled stream"
                .to_owned(),
        );
    }
    let cluster = scene.cluster().await?;
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::default()).await?;
    let objects = cluster.objects();
    objects.create_namespace(NAMESPACE).await?;
    objects
        .create(NAMESPACE, &deployment("web", 1, &plain_template()))
        .await?;
    let mut recoveries = vec![at_start(scene, &cluster).await.context("a bad start")?];
    for (number, mischief) in Mischief::ALL.into_iter().enumerate() {
        let replicas = number + 2;
        let recovery = while_running(scene, &cluster, mischief, replicas)
            .await
            .with_context(|| format!("{mischief:?}"))?;
        recoveries.push(recovery);
    }
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "survived and named; recovery after {}",
        recoveries.join(", ")
    ))
}

/// A manager behind a proxy of its own.
struct Afflicted {
    proxy: Proxy,
    manager: Manager,
    pages: Pages,
}

impl Afflicted {
    async fn start(scene: &Scene, cluster: &Cluster, mood: Mood) -> Result<Self> {
        let proxy = Proxy::start(cluster.manager()).await?;
        proxy.set(mood);
        let through = proxy.kubeconfig_flag(cluster, cluster.manager())?;
        let port = free_port()?;
        let flags = [through.as_str(), &format!("--secure-port={port}")];
        let manager = scene.manager(cluster, cluster.manager(), &flags).await?;
        let pages = Pages::as_admin(cluster, port).await?;
        Ok(Self {
            proxy,
            manager,
            pages,
        })
    }

    /// Waits until /readyz says that pods are in order, or names them.
    async fn until_ready(&self, ready: bool, limit: Duration) -> Result<()> {
        let what = if ready {
            "/readyz to be ok"
        } else {
            "/readyz to name pods"
        };
        let mut last = String::new();
        let told = until(what, limit, async || {
            let (code, text) = self.pages.fetch("/readyz?verbose").await?;
            let named = text
                .lines()
                .any(|line| line.starts_with("[-]") && line.contains("pods"));
            last = text;
            Ok(((code == 200) == ready && named != ready).then_some(()))
        })
        .await;
        told.with_context(|| last)
    }

    /// Ends the trouble; how long until all is as asked.
    async fn recover(&self, cluster: &Cluster, label: &str) -> Result<String> {
        self.proxy.set(Mood::default());
        let started = Instant::now();
        until_all_complete(&cluster.objects(), NAMESPACE, RECOVERY)
            .await
            .with_context(|| self.manager.log_tail(10))?;
        let took = started.elapsed().as_secs_f64();
        self.until_ready(true, RECOVERY).await?;
        Ok(format!("{label} {took:.1} s"))
    }
}

fn mood(mischief: Mischief) -> Mood {
    Mood {
        mischief: Some(("pods", mischief)),
        ..Mood::default()
    }
}

/// Neither lists nor watches of pods get through from the first request on.
async fn at_start(scene: &Scene, cluster: &Cluster) -> Result<String> {
    let afflicted = Afflicted::start(scene, cluster, mood(Mischief::WebPage)).await?;
    afflicted.until_ready(false, NAMED_WITHIN).await?;
    let (code, text) = afflicted.pages.fetch("/healthz").await?;
    if code != 200 {
        bail!("/healthz answers {code} {text} while lists fail");
    }
    afflicted.recover(cluster, "bad start").await
}

/// A manager at work is afflicted, and wanted to scale meanwhile.
async fn while_running(
    scene: &Scene,
    cluster: &Cluster,
    mischief: Mischief,
    replicas: usize,
) -> Result<String> {
    let objects = cluster.objects();
    let mut afflicted = Afflicted::start(scene, cluster, Mood::default()).await?;
    afflicted.until_ready(true, RECOVERY).await?;
    afflicted.proxy.set(mood(mischief));
    scale(&objects, NAMESPACE, "web", replicas).await?;
    tokio::time::sleep(AFFLICTION).await;
    if mischief.is_total() {
        afflicted.until_ready(false, NAMED_WITHIN).await?;
    }
    let manager = &mut afflicted.manager;
    if let Some(status) = manager.exited()? {
        bail!("the manager ended with {status}: {}", manager.log_tail(15));
    }
    let rss_kb = manager.usage()?.rss_kb_peak;
    if rss_kb > RSS_KB_MAX {
        bail!("the manager held {rss_kb} kB");
    }
    let log = fs::read_to_string(manager.log())?;
    if log.contains("panicked") {
        bail!("a panic: {}", manager.log_tail(15));
    }
    let names_kind = |line: &str| {
        let is_complaint = line.starts_with('W') || line.starts_with('E');
        is_complaint && (line.contains("pods") || line.contains("Pod"))
    };
    if !log.lines().any(names_kind) {
        bail!("no warning in the log names pods: {}", manager.log_tail(15));
    }
    let recovery = afflicted.recover(cluster, &format!("{mischief:?}")).await?;
    let pods = objects.count("Pod", NAMESPACE).await?;
    if pods != replicas {
        bail!("{pods} pods instead of {replicas}");
    }
    Ok(recovery)
}
