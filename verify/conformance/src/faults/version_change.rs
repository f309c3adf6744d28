//! A custom kind gets another version, which its clients prefer, while the garbage collector works on its objects.
//!
//! The collector must watch the kind at the new version then. Until it has seen all objects there, it does not know
//! what an owner's dependents are: an orphaning owner that goes too early takes them with it, and a foreground owner
//! that goes too early leaves blocking dependents behind.

mod gadgets;

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use self::gadgets::{Conversion, Gadgets};
use super::ownership::CONTROLLERS;
use super::proxy::{Mood, Proxy};
use super::scene::Scene;
use crate::cluster::Cluster;
use crate::poll::until;
use crate::requests::{AuditLog, Mark};

const ORPHANING: usize = 600;
const FOREGROUND: usize = 100;
/// The collector's own limit, so that it is still at work when the new version comes.
const PACE: [&str; 2] = ["--kube-api-qps=80", "--kube-api-burst=80"];
/// Owners that are gone when the new version comes.
const CHANGE_AT: usize = 60;
const PATIENCE: Duration = Duration::from_secs(240);
/// Without a write for so long, the collector has nothing left to do.
const QUIET: Duration = Duration::from_secs(8);
/// How long a conversion webhook that cannot be reached stays.
const BROKEN: Duration = Duration::from_secs(45);
/// How late watches of the kind are from the change on: what a large collection takes to arrive.
const LAG: Duration = Duration::from_secs(3);

/// The new version needs no conversion.
pub(super) async fn plain(scene: &Scene) -> Result<String> {
    rounds(scene, Conversion::None).await
}

/// The new version needs a webhook that cannot be reached.
pub(super) async fn broken_webhook(scene: &Scene) -> Result<String> {
    rounds(scene, Conversion::UnreachableWebhook).await
}

async fn rounds(scene: &Scene, conversion: Conversion) -> Result<String> {
    let mut figures = Vec::new();
    for round in 0..scene.options.rounds.unwrap_or(1) {
        let figure = once(scene, conversion).await;
        figures.push(figure.with_context(|| format!("round {round}"))?);
    }
    Ok(figures.join("; "))
}

async fn once(scene: &Scene, conversion: Conversion) -> Result<String> {
    let cluster = scene.cluster().await?;
    let gadgets = Gadgets::define(&cluster).await?;
    let proxy = Proxy::start(cluster.manager()).await?;
    let through = proxy.kubeconfig_flag(&cluster, cluster.manager())?;
    let flags = [PACE[0], PACE[1], &through];
    let manager = scene
        .manager_of(CONTROLLERS, &cluster, cluster.manager(), &flags)
        .await?;
    gadgets.create_orphaning(ORPHANING).await?;
    gadgets.create_foreground(FOREGROUND).await?;
    let audit = cluster.audit()?;
    let mark = audit.mark()?;
    // Most are deleted before the new version comes, the others right after it.
    gadgets.delete_orphaning(0..ORPHANING * 3 / 4).await?;
    gadgets.delete_foreground(0..FOREGROUND / 2).await?;
    until("the first owners to go", PATIENCE, async || {
        let gone = gadgets.orphaning_gone(ORPHANING).await?;
        Ok((gone >= CHANGE_AT).then_some(()))
    })
    .await
    .with_context(|| manager.log_tail(10))?;
    proxy.set(Mood {
        watch_lag: LAG,
        lagging: Some("gadgets"),
        ..Mood::default()
    });
    gadgets.add_version(conversion).await?;
    let gone_at_change = gadgets.orphaning_gone(ORPHANING).await?;
    gadgets
        .delete_orphaning(ORPHANING * 3 / 4..ORPHANING)
        .await?;
    gadgets
        .delete_foreground(FOREGROUND / 2..FOREGROUND)
        .await?;
    if conversion == Conversion::UnreachableWebhook {
        tokio::time::sleep(BROKEN).await;
        judge(&gadgets, &audit, mark, &cluster)
            .await
            .context("with the webhook out of reach")?;
        gadgets.remove_version().await?;
    }

    let mut gone = 0;
    let ended = until("every orphaning owner to go", PATIENCE, async || {
        gone = gadgets.orphaning_gone(ORPHANING).await?;
        Ok((gone == ORPHANING).then_some(()))
    })
    .await;
    // Dependents that were not orphaned go some time after their owner.
    quiet(&audit, cluster.manager().user()).await?;
    judge(&gadgets, &audit, mark, &cluster).await?;
    ended.with_context(|| format!("{gone} of {ORPHANING} gone\n{}", manager.log_tail(10)))?;

    // Nothing blocks the foreground owners any more: they go, which shows that the collector still works.
    gadgets.release_foreground().await?;
    let mut left = 0;
    let released = until("every foreground owner to go", PATIENCE, async || {
        left = gadgets.foreground_left().await?;
        Ok((left == 0).then_some(()))
    })
    .await;
    released.with_context(|| format!("{left} of {FOREGROUND} left\n{}", manager.log_tail(10)))?;
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "a version added after {gone_at_change} of {ORPHANING} orphaning owners: {} dependents kept, {FOREGROUND} \
         foreground owners held until their dependents went",
        gadgets::dependents_of(ORPHANING)
    ))
}

/// No dependent of an orphaning owner is deleted, and no foreground owner is gone while dependents block it.
async fn judge(gadgets: &Gadgets, audit: &AuditLog, since: Mark, cluster: &Cluster) -> Result<()> {
    let requests = audit.since(since)?.by_user(cluster.manager().user());
    let deleted = requests.filter(|one| {
        one.verb == "delete" && one.code == 200 && gadgets::is_of_orphaning(&one.name)
    });
    let lost = gadgets::dependents_of(ORPHANING) - gadgets.orphans_kept().await?;
    let early = FOREGROUND - gadgets.foreground_left().await?;
    if lost + early + deleted.len() > 0 {
        bail!(
            "{lost} dependents of orphaning owners are gone ({} deletes by the collector), {early} of {FOREGROUND} \
             foreground owners went before their dependents",
            deleted.len()
        );
    }
    Ok(())
}

/// Waits until a user has written nothing for a while.
async fn quiet(audit: &AuditLog, user: &str) -> Result<()> {
    until("a collector at rest", PATIENCE, async || {
        let mark = audit.mark()?;
        tokio::time::sleep(QUIET).await;
        let writes = audit.since(mark)?.by_user(user).writes();
        Ok(writes.is_empty().then_some(()))
    })
    .await
}
