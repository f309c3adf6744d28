//! What managers hold in memory of a full cluster: pods of Deployments, and large ConfigMaps that nobody works on.
//!
//! Both managers run the controllers that ours has. Resident memory is read when the manager has gone quiet: empty,
//! filled while it ran, and in a fresh process that found everything in place.

use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::{ArgMatches, Command};
use flyball::CONTROLLERS;
use flyball_conformance::{Cluster, ClusterOptions, Kubelet, KubeletOptions, Manager, Objects};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::json;

use crate::contest::{Contender, Contest, number, said, with_arguments};
use crate::measure::{Figures, megabytes, until_quiet};
use crate::progress::Progress;
use crate::report::Limits;
use crate::sight::Sight;
use crate::workloads::{Deployments, Fleet, IMAGE_FIRST, Wanted};

const LIMITS: Limits = &[("full: RSS MB", 0.10), ("restart: RSS MB", 0.10)];

/// How long a phase may take.
const PHASE_LIMIT: Duration = Duration::from_secs(900);

/// Requests of the harness in flight at most.
const CONCURRENCY: usize = 16;

/// How much there is.
#[derive(Clone, Copy)]
struct Size {
    deployments: usize,
    replicas: usize,
    config_maps: usize,
    bytes: usize,
}

pub(crate) fn command_line() -> Command {
    let command = Command::new("memory")
        .about("Compare what managers hold in memory of a full cluster")
        .arg(number("deployments", "600", "Deployments to create"))
        .arg(number("replicas", "50", "Pods of each"))
        .arg(number("config-maps", "50000", "ConfigMaps to create"))
        .arg(number("bytes", "10000", "Size of each ConfigMap"));
    with_arguments(command)
}

/// Measures and prints; `Ok(false)` if a limit was to be checked and is not kept.
pub(crate) fn run(arguments: &ArgMatches) -> Result<bool> {
    let contest = Contest::read(arguments)?;
    let size = Size {
        deployments: said(arguments, "deployments")?,
        replicas: said(arguments, "replicas")?,
        config_maps: said(arguments, "config-maps")?,
        bytes: said(arguments, "bytes")?,
    };
    let title = format!(
        "{} pods of {} Deployments, {} ConfigMaps of {} bytes",
        size.deployments * size.replicas,
        size.deployments,
        size.config_maps,
        size.bytes
    );
    contest.measure(title, LIMITS, async |contender, label, progress| {
        fill(contender, &contest.flags, size, label, progress).await
    })
}

/// One manager, empty, full and anew.
async fn fill(
    contender: &Contender,
    flags: &[String],
    size: Size,
    label: &str,
    progress: &Progress,
) -> Result<Figures> {
    progress.begin(&format!("{label}: start"), 1);
    let controllers: Vec<&str> = CONTROLLERS
        .iter()
        .map(|entry| entry.descriptor.name)
        .collect();
    let cluster = Cluster::start(ClusterOptions::default()).await?;
    let _kubelet = Kubelet::start(&cluster, KubeletOptions::lean()).await?;
    let fleet = Fleet::new(cluster.objects(), size.deployments);
    fleet.create_namespaces().await?;
    let sight = Sight::<Deployments>::open(&cluster).await?;
    let mut figures = Figures::default();
    let mut manager = contender.start(&cluster, &controllers, flags).await?;
    manager.wait_healthy().await?;
    put_memory(&manager, "empty", &mut figures).await?;

    progress.begin(&format!("{label}: Deployments"), size.deployments);
    let wanted = Wanted {
        replicas: size.replicas,
        image: IMAGE_FIRST,
    };
    let seen = sight.until_all(size.deployments, wanted, PHASE_LIMIT, |done| {
        progress.at(done);
    });
    let (created, seen) = tokio::join!(fleet.create(size.replicas), seen);
    created.context("the harness's own requests")?;
    seen.with_context(|| manager.log_tail(20))?;
    put_memory(&manager, "pods", &mut figures).await?;

    progress.begin(&format!("{label}: ConfigMaps"), size.config_maps);
    create_config_maps(&cluster.objects(), size, progress).await?;
    put_memory(&manager, "full", &mut figures).await?;

    progress.begin(&format!("{label}: restart"), 1);
    manager.kill().await?;
    let mut manager = contender.start(&cluster, &controllers, flags).await?;
    manager.wait_healthy().await?;
    put_memory(&manager, "restart", &mut figures).await?;
    Ok(figures)
}

async fn put_memory(manager: &Manager, phase: &str, figures: &mut Figures) -> Result<()> {
    until_quiet(manager).await?;
    let usage = manager.usage()?;
    figures.put(format!("{phase}: RSS MB"), megabytes(usage.rss_kb));
    figures.put(
        format!("{phase}: RSS peak MB"),
        megabytes(usage.rss_kb_peak),
    );
    figures.put(format!("{phase}: CPU so far s"), usage.cpu.as_secs_f64());
    Ok(())
}

async fn create_config_maps(objects: &Objects, size: Size, progress: &Progress) -> Result<()> {
    let text = "x".repeat(size.bytes);
    let mut created = futures::stream::iter(0..size.config_maps)
        .map(async |number| {
            let object = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": { "name": format!("settings-{number}") },
                "data": { "settings": text },
            });
            objects.create("default", &object).await
        })
        .buffer_unordered(CONCURRENCY);
    let mut done = 0;
    while created.try_next().await?.is_some() {
        done += 1;
        progress.at(done);
    }
    Ok(())
}
