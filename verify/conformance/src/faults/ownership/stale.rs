//! A collector whose watches are late: owners are made anew under their names, and dependents change hands, before it
//! has seen anything of it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::super::proxy::{Mood, Proxy};
use super::super::scene::Scene;
use super::CONTROLLERS;
use super::family::{Family, Owner};
use crate::objects::Propagation;

const NAMESPACE: &str = "stale";
const OWNERS: usize = 30;
const DEPENDENTS: usize = 6;

pub(in super::super) async fn check(scene: &Scene) -> Result<String> {
    // Twice as late as other watches are held up: a minute with `--full`.
    let lag = scene.options.lag * 2;
    let cluster = scene.cluster().await?;
    let family = Family::found(&cluster, NAMESPACE).await?;
    let ledger = &family.ledger;
    let proxy = Proxy::start(cluster.manager()).await?;
    let through = proxy.kubeconfig_flag(&cluster, cluster.manager())?;
    let manager = scene
        .manager_of(CONTROLLERS, &cluster, cluster.manager(), &[&through])
        .await?;

    let haven = family.create("haven", &[]).await?;
    let mut owners: Vec<Owner> = Vec::new();
    for number in 0..OWNERS {
        let owner = family.create(&format!("owner-{number}"), &[]).await?;
        let names = (0..DEPENDENTS).map(|at| format!("{}-{at}", owner.name));
        family.create_all(names.collect(), &owner).await?;
        owners.push(owner);
    }
    // One that nobody owns goes first: then the collector is known to have begun.
    let nobody = Owner::config_map("nobody", "00000000-0000-0000-0000-000000000000");
    family.create("first", &[nobody]).await?;
    let mut all: Vec<String> = ledger.names();
    all.retain(|name| name != "first");
    let begun = ledger.until_left(&all, Duration::from_secs(90)).await;
    begun.with_context(|| manager.log_tail(10))?;

    proxy.set(Mood {
        watch_lag: lag,
        ..Mood::default()
    });
    let started = Instant::now();
    let mut left = vec!["haven".to_owned()];
    for owner in &owners {
        family.delete(owner, Propagation::Background).await?;
        let anew = family.create(&owner.name, &[]).await?;
        left.push(owner.name.clone());
        // Some change hands to the new owner, some to another, some get a second one; the others are garbage.
        for at in 0..DEPENDENTS {
            let name = format!("{}-{at}", owner.name);
            let hands: &[Owner] = match at {
                0 => std::slice::from_ref(&anew),
                1 => std::slice::from_ref(&haven),
                2 => &[owner.clone(), haven.clone()],
                _ => continue,
            };
            family.move_to(&name, hands).await?;
            left.push(name);
        }
    }
    let limit = lag * 4 + Duration::from_secs(60);
    let ended = ledger.until_left(&left, limit).await;
    ended.with_context(|| manager.log_tail(10))?;
    // What late news could still provoke has been provoked when everything has been seen.
    tokio::time::sleep(lag + Duration::from_secs(2)).await;
    ledger.until_left(&left, Duration::from_secs(1)).await?;
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "watches {} s late, {OWNERS} owners made anew: {} deleted in {:.0} s, none of a living owner",
        lag.as_secs(),
        ledger.gone(),
        started.elapsed().as_secs_f64()
    ))
}
