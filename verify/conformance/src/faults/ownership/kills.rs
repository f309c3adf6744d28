//! kill -9 in the middle of cascades.

use std::time::Duration;

use anyhow::{Context as _, Result};

use super::super::scene::Scene;
use super::CONTROLLERS;
use super::family::Family;
use crate::objects::Propagation;

const NAMESPACE: &str = "kills";
const TREES: usize = 6;
const CHILDREN: usize = 5;
const LEAVES: usize = 10;
const PATIENCE: Duration = Duration::from_secs(120);

/// What becomes of a tree.
#[derive(Clone, Copy)]
enum Fate {
    Lives,
    Goes(Propagation),
}

const FATES: [Fate; 4] = [
    Fate::Goes(Propagation::Background),
    Fate::Lives,
    Fate::Goes(Propagation::Foreground),
    Fate::Goes(Propagation::Orphan),
];

pub(in super::super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let family = Family::found(&cluster, NAMESPACE).await?;
    let ledger = &family.ledger;
    let mut random = fastrand::Rng::with_seed(scene.options.seed);
    let mut manager = scene
        .manager_of(CONTROLLERS, &cluster, cluster.manager(), &[])
        .await?;
    let mut left: Vec<String> = Vec::new();
    for round in 0..scene.options.scaleups {
        let before = ledger.gone();
        let mut roots = Vec::new();
        for number in 0..TREES {
            let fate = FATES[(round + number) % FATES.len()];
            let root = family.create(&format!("r{round}-{number}"), &[]).await?;
            let names = (0..CHILDREN).map(|at| format!("{}-{at}", root.name));
            let children = family.create_all(names.collect(), &root).await?;
            if matches!(fate, Fate::Lives) {
                left.push(root.name.clone());
            }
            for child in &children {
                let names = (0..LEAVES).map(|at| format!("{}-{at}", child.name));
                let leaves: Vec<String> = names.collect();
                family.create_all(leaves.clone(), child).await?;
                // Orphaned children keep their own dependents.
                if !matches!(
                    fate,
                    Fate::Goes(Propagation::Background | Propagation::Foreground)
                ) {
                    left.push(child.name.clone());
                    left.extend(leaves);
                }
            }
            roots.push((root, fate));
        }
        for (root, fate) in &roots {
            if let Fate::Goes(how) = fate {
                family.delete(root, *how).await?;
            }
        }
        // A moment is a number of deletions seen and a few milliseconds more.
        let going = roots.iter().filter(|(_, fate)| {
            matches!(
                fate,
                Fate::Goes(Propagation::Background | Propagation::Foreground)
            )
        });
        let going = going.count() * (CHILDREN + CHILDREN * LEAVES);
        let (seen, more_ms) = (random.usize(0..going.max(1)), random.u64(0..20));
        let reached = crate::poll::until("deletions of the collector", PATIENCE, async || {
            Ok((ledger.gone() - before >= seen).then_some(()))
        });
        reached.await.with_context(|| manager.log_tail(10))?;
        tokio::time::sleep(Duration::from_millis(more_ms)).await;
        manager.kill().await?;
        manager = scene
            .manager_of(CONTROLLERS, &cluster, cluster.manager(), &[])
            .await?;
        let ended = ledger.until_left(&left, PATIENCE).await;
        ended.with_context(|| format!("round {round}\n{}", manager.log_tail(10)))?;
    }
    ledger.judge()?;
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "{} kills in cascades of all policies (seed {}): {} collected, {} left as they should be, none of a living owner",
        scene.options.scaleups,
        scene.options.seed,
        ledger.gone(),
        left.len()
    ))
}
