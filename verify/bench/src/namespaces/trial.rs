//! One manager that empties all namespaces.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use flyball_conformance::{Cluster, ClusterOptions, Objects, until};

use super::standing::Standing;
use super::{Size, content};
use crate::contest::Contender;
use crate::measure::{Figures, Reading, megabytes, until_quiet};
use crate::progress::Progress;
use crate::sight::Sight;

/// How long a phase may take.
const PHASE_LIMIT: Duration = Duration::from_secs(1800);

/// How long a stuck namespace may take to say why, after the others have gone.
const TELLING_LIMIT: Duration = Duration::from_secs(120);

/// Who empties namespaces, and who has to follow whatever goes with them.
const CONTROLLERS: &[&str] = &["namespace-controller", "garbage-collector-controller"];

/// One run of one manager.
pub(super) struct Trial<'a> {
    pub(super) contender: &'a Contender,
    pub(super) size: Size,
    pub(super) flags: &'a [String],
}

impl Trial<'_> {
    pub(super) async fn run(&self, label: &str, progress: &Progress) -> Result<Figures> {
        let size = self.size;
        let cluster = Cluster::start(ClusterOptions::default()).await?;
        let objects = cluster.objects();
        progress.begin(&format!("{label}: custom kinds"), size.definitions);
        content::install(&objects, size, progress).await?;
        progress.begin(&format!("{label}: namespaces"), size.namespaces);
        content::fill(&objects, size, progress).await?;
        let sight = Sight::<Standing>::open(&cluster).await?;
        let filled = sight.until(PHASE_LIMIT, |seen| seen.alive() == size.namespaces);
        filled.await.context("the namespaces that were created")?;

        let mut figures = Figures::default();
        let mut manager = self
            .contender
            .start(&cluster, CONTROLLERS, self.flags)
            .await?;
        manager.wait_healthy().await?;
        until_quiet(&manager).await?;
        let usage = manager.usage()?;
        figures.put("start: CPU s", usage.cpu.as_secs_f64());
        figures.put("start: RSS MB", megabytes(usage.rss_kb));
        figures.put("start: sockets", manager.sockets()? as f64);

        progress.begin(&format!("{label}: delete"), size.namespaces - size.stuck);
        let before = Reading::take(&cluster, &manager).await?;
        let begun = Instant::now();
        let gone = sight.until(PHASE_LIMIT, |seen| {
            progress.at(size.namespaces - seen.alive());
            seen.alive() == size.stuck
        });
        let (asked, gone) = tokio::join!(content::delete(&objects, size), gone);
        let wall = begun.elapsed().as_secs_f64();
        asked.context("the harness's own requests")?;
        gone.with_context(|| manager.log_tail(20))
            .context("namespaces that go")?;
        let after = Reading::take(&cluster, &manager).await?;
        let went = (size.namespaces - size.stuck) as f64;
        figures.put("delete: wall s", wall);
        figures.put("delete: namespaces/s", went / wall);
        after.figures_since(&before, "delete", &mut figures);
        figures.put("delete: sockets", manager.sockets()? as f64);
        let told = until_told(&objects, size).await;
        told.with_context(|| manager.log_tail(20))?;
        Ok(figures)
    }
}

/// Waits until every namespace that is stuck says why.
async fn until_told(objects: &Objects, size: Size) -> Result<()> {
    let mut silent = Vec::new();
    let told = until(
        "conditions that name the blocker",
        TELLING_LIMIT,
        async || {
            silent = content::silent(objects, size).await?;
            Ok(silent.is_empty().then_some(()))
        },
    );
    let told = told.await;
    told.with_context(|| silent.join("\n"))
}
