//! A server that does not say, or says wrongly, which resources it has.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use http::Method;
use serde_json::{Value, json};

use super::super::pages::Pages;
use super::super::proxy::{Confusion, Mood, Proxy};
use super::super::scene::Scene;
use super::CONTROLLERS;
use super::family::{Family, Owner};
use crate::cluster::Cluster;
use crate::custom::define;
use crate::objects::{Objects, Propagation};
use crate::poll::until;
use crate::ports::free_port;
use crate::process::Manager;

const NAMESPACE: &str = "discovery";
const GROUP: &str = "faults.flyball.dev";
const DEPENDENTS: usize = 5;
const PATIENCE: Duration = Duration::from_secs(90);
/// A manager asks every 30 s and upon a change; ours in doubt once a second as long as it knows nothing at all.
const REQUESTS_MAX: usize = 400;

const CONFUSIONS: [Confusion; 7] = [
    Confusion::Unavailable,
    Confusion::WebPage,
    Confusion::CutOff,
    Confusion::Empty,
    Confusion::Half,
    Confusion::Stale(GROUP),
    Confusion::Without(GROUP),
];

pub(in super::super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let family = Family::found(&cluster, NAMESPACE).await?;
    let (objects, ledger) = (&family.objects, &family.ledger);
    define(objects, GROUP, "keepers", "Keeper").await?;
    let keeper = keeper(objects, "keeper").await?;
    let kept = (0..DEPENDENTS).map(|at| format!("kept-{at}"));
    let kept: Vec<String> = kept.collect();
    family.create_all(kept.clone(), &keeper).await?;

    let mut afflicted = Afflicted::start(scene, &cluster, None).await?;
    let begun = collects(&family, &kept, "begun").await;
    begun.with_context(|| afflicted.manager.log_tail(10))?;
    let mut requests_max = 0;
    for (number, confusion) in CONFUSIONS.into_iter().enumerate() {
        let mark = cluster.audit()?.mark()?;
        afflicted.set(Some(confusion));
        // A definition more makes every manager ask.
        define_extra(objects, number).await?;
        if scene.binary().is_some() && confusion != Confusion::Without(GROUP) {
            let named = afflicted.until_named(true).await;
            named.with_context(|| format!("{confusion:?}"))?;
        }
        let what = format!("{confusion:?}");
        let collected = collects(&family, &kept, &format!("during-{number}")).await;
        collected
            .with_context(|| afflicted.manager.log_tail(10))
            .with_context(|| what.clone())?;
        // One that starts in the middle of it knows nothing, and must not act on that.
        if confusion.is_total() || matches!(confusion, Confusion::Without(_)) {
            let fresh = Afflicted::start(scene, &cluster, Some(confusion)).await;
            let fresh = fresh.with_context(|| what.clone())?;
            tokio::time::sleep(Duration::from_secs(8)).await;
            ledger.until_left(&kept, Duration::from_secs(1)).await?;
            drop(fresh);
        }
        let user = cluster.manager().user();
        let asked = cluster.audit()?.since(mark)?.by_user(user).len();
        requests_max = requests_max.max(asked);
        afflicted.set(None);
    }
    if scene.binary().is_some() {
        define(objects, GROUP, "lasts", "Last").await?;
        afflicted.until_named(false).await?;
        if requests_max > REQUESTS_MAX {
            bail!("{requests_max} requests during one trouble, more than {REQUESTS_MAX}");
        }
    }
    // Now that all is well, those whose owner goes go with it.
    let path = format!("{}/keeper", keepers());
    let json = "application/json";
    objects.send(Method::DELETE, &path, json, None).await?;
    let ended = ledger.until_left(&[], PATIENCE).await;
    ended.with_context(|| afflicted.manager.log_tail(10))?;
    ledger.judge()?;
    afflicted.manager.kill().await?;
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "{} ways to go wrong: {} collected, none of a living owner, at most {requests_max} requests in one of them",
        CONFUSIONS.len(),
        ledger.gone()
    ))
}

/// Whether what has lost its owner is collected, and nothing else.
async fn collects(family: &Family, kept: &[String], name: &str) -> Result<()> {
    let owner = family.create(name, &[]).await?;
    let names = (0..DEPENDENTS).map(|at| format!("{name}-{at}"));
    family.create_all(names.collect(), &owner).await?;
    family.delete(&owner, Propagation::Background).await?;
    family.ledger.until_left(kept, PATIENCE).await
}

/// A manager behind a proxy of its own.
struct Afflicted {
    proxy: Proxy,
    manager: Manager,
    pages: Pages,
}

impl Afflicted {
    async fn start(scene: &Scene, cluster: &Cluster, confusion: Option<Confusion>) -> Result<Self> {
        let proxy = Proxy::start(cluster.manager()).await?;
        proxy.set(mood(confusion));
        let through = proxy.kubeconfig_flag(cluster, cluster.manager())?;
        let port = free_port()?;
        let flags = [through.as_str(), &format!("--secure-port={port}")];
        let manager = scene
            .manager_of(CONTROLLERS, cluster, cluster.manager(), &flags)
            .await?;
        let pages = Pages::as_admin(cluster, port).await?;
        Ok(Self {
            proxy,
            manager,
            pages,
        })
    }

    fn set(&self, confusion: Option<Confusion>) {
        self.proxy.set(mood(confusion));
    }

    /// Waits until /readyz names discovery, or does not; either way the manager is ready.
    async fn until_named(&self, wanted: bool) -> Result<()> {
        let mut last = String::new();
        let told = until("/readyz to tell of discovery", PATIENCE, async || {
            let (code, text) = self.pages.fetch("/readyz?verbose").await?;
            let mut lines = text.lines();
            let named = lines.any(|line| line.starts_with("[-]discovery"));
            last = text;
            Ok((named == wanted && code == 200).then_some(()))
        });
        let told = told.await;
        told.with_context(|| last)
    }
}

fn mood(confusion: Option<Confusion>) -> Mood {
    Mood {
        confusion,
        ..Mood::default()
    }
}

fn keepers() -> String {
    format!("/apis/{GROUP}/v1/namespaces/{NAMESPACE}/keepers")
}

/// Creates a custom owner, once the server serves its kind.
async fn keeper(objects: &Objects, name: &str) -> Result<Owner> {
    let api_version = format!("{GROUP}/v1");
    let body = json!({ "apiVersion": api_version, "kind": "Keeper", "metadata": { "name": name } });
    let path = keepers();
    let created: Value = until("a server that serves Keepers", PATIENCE, async || {
        let made = objects.send(Method::POST, &path, "application/json", Some(&body));
        Ok(made.await.ok())
    })
    .await?;
    let uid = created["metadata"]["uid"].as_str().context("a uid")?;
    Ok(Owner {
        api_version,
        kind: "Keeper".to_owned(),
        name: name.to_owned(),
        uid: uid.to_owned(),
    })
}

/// Defines one more kind.
async fn define_extra(objects: &Objects, number: usize) -> Result<()> {
    let (plural, kind) = (format!("extras{number}"), format!("Extra{number}"));
    define(objects, GROUP, &plural, &kind).await
}
