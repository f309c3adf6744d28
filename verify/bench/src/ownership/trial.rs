//! One garbage collector through all policies.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use flyball_conformance::{Cluster, ClusterOptions, Manager, Propagation};

use super::broken;
use super::tree::{Forest, Size, Standing};
use crate::contest::Contender;
use crate::measure::{Figures, Reading, megabytes, until_quiet};
use crate::progress::Progress;
use crate::sight::Sight;

/// How long a phase may take.
const PHASE_LIMIT: Duration = Duration::from_secs(900);

/// The only controller that is measured here.
const CONTROLLERS: &[&str] = &["garbage-collector-controller"];

/// One run of one manager.
pub(super) struct Trial<'a> {
    pub(super) contender: &'a Contender,
    pub(super) size: Size,
    pub(super) flags: &'a [String],
    pub(super) dead_webhook: bool,
}

/// The cluster of a trial, with everything in it that lasts from phase to phase.
struct Scene<'a> {
    trial: &'a Trial<'a>,
    cluster: Cluster,
    forest: Forest,
    sight: Sight<Standing>,
    label: &'a str,
    progress: &'a Progress,
    figures: Figures,
}

impl Trial<'_> {
    pub(super) async fn run(&self, label: &str, progress: &Progress) -> Result<Figures> {
        progress.begin(&format!("{label}: start"), 1);
        let cluster = Cluster::start(ClusterOptions::default()).await?;
        if self.dead_webhook {
            broken::install(&cluster.objects()).await?;
        }
        let forest = Forest {
            objects: cluster.objects(),
            size: self.size,
        };
        forest.create_namespaces().await?;
        let sight = Sight::<Standing>::open(&cluster).await?;
        let mut scene = Scene {
            trial: self,
            cluster,
            forest,
            sight,
            label,
            progress,
            figures: Figures::default(),
        };
        let manager = scene.start().await?;
        for (phase, policy) in [
            ("background", Propagation::Background),
            ("foreground", Propagation::Foreground),
            ("orphan", Propagation::Orphan),
        ] {
            let outcome = scene.phase(phase, policy, &manager).await;
            outcome.with_context(|| manager.log_tail(20))?;
        }
        Ok(scene.figures)
    }
}

impl Scene<'_> {
    /// A tree whose root is gone before the manager starts is what shows that it has begun to collect.
    async fn start(&mut self) -> Result<Manager> {
        let seedling = Forest {
            objects: self.cluster.objects(),
            size: Size {
                roots: 1,
                children: 1,
                leaves: 1,
            },
        };
        seedling.grow().await?;
        seedling.fell(Propagation::Background).await?;
        let contender = self.trial.contender;
        let begun = Instant::now();
        let mut manager = contender
            .start(&self.cluster, CONTROLLERS, self.trial.flags)
            .await?;
        let begins = self.sight.until(PHASE_LIMIT, |seen| seen.alive() == 0);
        let begins = begins.await.with_context(|| manager.log_tail(20));
        begins.context("the first collection after the start")?;
        let wall = begun.elapsed();
        manager.wait_healthy().await?;
        until_quiet(&manager).await?;
        let usage = manager.usage()?;
        self.figures.put("start: wall s", wall.as_secs_f64());
        self.figures.put("start: CPU s", usage.cpu.as_secs_f64());
        self.figures.put("start: RSS MB", megabytes(usage.rss_kb));
        Ok(manager)
    }

    /// Grows the trees, fells them and measures until the manager has dealt with it.
    async fn phase(&mut self, phase: &str, policy: Propagation, manager: &Manager) -> Result<()> {
        let size = self.trial.size;
        self.progress
            .begin(&format!("{}: {phase}: grow", self.label), size.objects());
        let grown = self.sight.until(PHASE_LIMIT, |seen| {
            self.progress.at(seen.alive());
            seen.alive() == size.objects()
        });
        let (created, grown) = tokio::join!(self.forest.grow(), grown);
        created.with_context(|| format!("{phase}: the harness's own requests"))?;
        grown.with_context(|| format!("{phase}: trees that grow"))?;
        until_quiet(manager).await?;

        let (left, touched) = match policy {
            Propagation::Orphan => (size.leaves_in_all(), size.objects()),
            _ => (0, size.objects()),
        };
        self.progress
            .begin(&format!("{}: {phase}", self.label), size.objects());
        let before = Reading::take(&self.cluster, manager).await?;
        let begun = Instant::now();
        let felled = self.sight.until(PHASE_LIMIT, |seen| {
            self.progress.at(size.objects() - seen.owned());
            seen.alive() == left && seen.owned() == 0
        });
        let (done, felled) = tokio::join!(self.forest.fell(policy), felled);
        let wall = begun.elapsed().as_secs_f64();
        done.with_context(|| format!("{phase}: the harness's own requests"))?;
        felled.with_context(|| format!("{phase}: trees that fall"))?;
        until_quiet(manager).await?;
        let after = Reading::take(&self.cluster, manager).await?;
        self.figures.put(format!("{phase}: wall s"), wall);
        self.figures
            .put(format!("{phase}: objects/s"), touched as f64 / wall);
        after.figures_since(&before, phase, &mut self.figures);

        self.forest.clear().await?;
        let cleared = self.sight.until(PHASE_LIMIT, |seen| seen.alive() == 0);
        cleared
            .await
            .with_context(|| format!("{phase}: trees that are cleared away"))
    }
}
