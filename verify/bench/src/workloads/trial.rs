//! One manager through all phases.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use flyball_conformance::{
    Cluster, ClusterOptions, Kubelet, KubeletOptions, Manager, Mark, WORKLOADS,
};

use super::fleet::{self, Fleet, IMAGE_FIRST, IMAGE_SECOND};
use super::seen::{Deployments, Wanted};
use crate::contest::Contender;
use crate::measure::{AUDITED, Figures, Reading, megabytes, until_quiet};
use crate::progress::Progress;
use crate::sight::Sight;

/// How long a phase may take.
const PHASE_LIMIT: Duration = Duration::from_secs(900);

/// How much work there is.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) deployments: usize,
    pub(super) replicas: usize,
}

/// One run of one manager.
pub(super) struct Trial<'a> {
    pub(super) contender: &'a Contender,
    pub(super) size: Size,
    pub(super) flags: &'a [String],
    /// Whether the server writes an audit log, which costs it CPU.
    pub(super) audit: bool,
}

/// The cluster of a trial, with everything in it that lasts from phase to phase.
struct Scene<'a> {
    trial: &'a Trial<'a>,
    cluster: Cluster,
    kubelet: Kubelet,
    sight: Sight<Deployments>,
    label: &'a str,
    progress: &'a Progress,
    figures: Figures,
}

impl Trial<'_> {
    pub(super) async fn run(&self, label: &str, progress: &Progress) -> Result<Figures> {
        progress.begin(&format!("{label}: start"), self.size.deployments);
        let options = ClusterOptions {
            audit: self.audit,
            ..Default::default()
        };
        let cluster = Cluster::start(options).await?;
        let kubelet = Kubelet::start(&cluster, KubeletOptions::lean()).await?;
        let fleet = Fleet::new(cluster.objects(), self.size.deployments);
        fleet.create_namespaces().await?;
        let sight = Sight::<Deployments>::open(&cluster).await?;
        let figures = Figures::default();
        let mut scene = Scene {
            trial: self,
            cluster,
            kubelet,
            sight,
            label,
            progress,
            figures,
        };
        let mut manager = scene.start().await?;
        let outcome = scene.work(&manager, &fleet).await;
        outcome.with_context(|| scene.diagnosis(&manager))?;
        manager.kill().await?;
        scene.restart(&fleet).await?;
        Ok(scene.figures)
    }
}

impl Scene<'_> {
    async fn start(&mut self) -> Result<Manager> {
        let mut manager = self
            .trial
            .contender
            .start(&self.cluster, WORKLOADS, self.trial.flags)
            .await?;
        manager.wait_healthy().await?;
        until_quiet(&manager).await?;
        let usage = manager.usage()?;
        self.figures.put("start: CPU s", usage.cpu.as_secs_f64());
        self.figures.put("start: RSS MB", megabytes(usage.rss_kb));
        Ok(manager)
    }

    async fn work(&mut self, manager: &Manager, fleet: &Fleet) -> Result<()> {
        let Size { replicas, .. } = self.trial.size;
        let half = replicas.div_ceil(2);
        let wanted = |replicas, image| Wanted { replicas, image };
        let created = wanted(replicas, IMAGE_FIRST);
        self.phase("create", manager, created, fleet.create(replicas))
            .await?;
        let halved = wanted(half, IMAGE_FIRST);
        self.phase("halve", manager, halved, fleet.scale_all(half))
            .await?;
        let rolled = wanted(half, IMAGE_SECOND);
        self.phase("roll", manager, rolled, fleet.change_image(IMAGE_SECOND))
            .await
    }

    /// Does something to all Deployments and measures until the manager has dealt with it.
    async fn phase(
        &mut self,
        phase: &str,
        manager: &Manager,
        wanted: Wanted,
        deed: impl Future<Output = Result<()>>,
    ) -> Result<()> {
        let Self {
            progress, sight, ..
        } = self;
        let count = self.trial.size.deployments;
        progress.begin(&format!("{}: {phase}", self.label), count);
        let audit = self.trial.audit.then(|| self.cluster.audit()).transpose()?;
        let mark = audit
            .as_ref()
            .map_or(Ok(Mark::default()), |audit| audit.mark())?;
        let before = Reading::take(&self.cluster, manager).await?;

        let begun = Instant::now();
        let seen = sight.until_all(count, wanted, PHASE_LIMIT, |done| progress.at(done));
        let (done, seen) = tokio::join!(deed, seen);
        let wall = begun.elapsed();
        done.with_context(|| format!("{phase}: the harness's own requests"))?;
        seen.with_context(|| phase.to_owned())?;

        until_quiet(manager).await?;
        let after = Reading::take(&self.cluster, manager).await?;
        self.figures
            .put(format!("{phase}: wall s"), wall.as_secs_f64());
        after.figures_since(&before, phase, &mut self.figures);
        if let Some(audit) = audit {
            let requests = audit.since(mark)?.by_user(manager.user());
            for ((verb, resource), count) in requests.by_verb() {
                self.figures
                    .put(format!("{phase}{AUDITED}{verb} {resource}"), count as f64);
            }
        }
        Ok(())
    }

    /// A fresh process finds everything in place and one Deployment changed.
    async fn restart(&mut self, fleet: &Fleet) -> Result<()> {
        self.progress.begin(&format!("{}: restart", self.label), 1);
        let replicas = self.trial.size.replicas.div_ceil(2) + 1;
        fleet.scale(0, replicas).await?;
        let begun = Instant::now();
        let manager = self
            .trial
            .contender
            .start(&self.cluster, WORKLOADS, self.trial.flags)
            .await?;
        let wanted = Wanted {
            replicas,
            image: IMAGE_SECOND,
        };
        let seen = self
            .sight
            .until_one(&fleet::name(0), wanted, PHASE_LIMIT)
            .await;
        let wall = begun.elapsed();
        seen.with_context(|| self.diagnosis(&manager))?;
        until_quiet(&manager).await?;
        let usage = manager.usage()?;
        self.figures.put("restart: wall s", wall.as_secs_f64());
        self.figures.put("restart: CPU s", usage.cpu.as_secs_f64());
        self.figures.put("restart: RSS MB", megabytes(usage.rss_kb));
        self.figures
            .put("restart: RSS peak MB", megabytes(usage.rss_kb_peak));
        Ok(())
    }

    fn diagnosis(&self, manager: &Manager) -> String {
        let kubelet = self.kubelet.failures();
        let log = manager.log_tail(20);
        format!("kubelet: {kubelet:?}\nthe end of the manager's log:\n{log}")
    }
}
