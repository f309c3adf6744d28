//! Owner references that make no sense: they are borne, and do not keep the collector busy.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::super::scene::Scene;
use super::CONTROLLERS;
use super::family::{Family, Owner};
use crate::objects::{Objects, status_code};
use crate::poll::until;

const NAMESPACE: &str = "nonsense";
const ELSEWHERE: &str = "nonsense-elsewhere";
const PATIENCE: Duration = Duration::from_secs(180);
const WATCHED: Duration = Duration::from_secs(25);
/// At rest, a manager asks what the server has and opens watches again.
const REQUESTS_MAX: usize = 60;
/// As many owners as one would try to put into an object; what is too large for the server is tried with fewer.
const OWNERS_MOST: usize = 10_000;

pub(in super::super) async fn check(scene: &Scene) -> Result<String> {
    let cluster = scene.cluster().await?;
    let family = Family::found(&cluster, NAMESPACE).await?;
    let (objects, ledger) = (&family.objects, &family.ledger);
    objects.create_namespace(ELSEWHERE).await?;
    let manager = scene
        .manager_of(CONTROLLERS, &cluster, cluster.manager(), &[])
        .await?;

    // Two that own each other, and one that owns itself.
    let one = family.create("circle-one", &[]).await?;
    let two = family
        .create("circle-two", std::slice::from_ref(&one))
        .await?;
    family.move_to("circle-one", &[two]).await?;
    let narcissus = family.create("itself", &[]).await?;
    family.move_to("itself", &[narcissus]).await?;
    // An owner of a kind that nobody knows.
    let ghost = Owner {
        api_version: "ghosts.example.com/v1".to_owned(),
        kind: "Ghost".to_owned(),
        name: "ghost".to_owned(),
        uid: uid(0),
    };
    family.create("of-a-ghost", &[ghost]).await?;
    // An owner in a namespace, of something that is in none.
    let haven = family.create("haven", &[]).await?;
    let mut unscoped = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": { "name": "unscoped" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
    });
    unscoped["metadata"]["ownerReferences"] = json!([haven.reference()]);
    objects.create("", &unscoped).await?;
    // An owner that lives, but elsewhere.
    let far = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "far" } });
    let far = objects.create(ELSEWHERE, &far).await?;
    let far = far["metadata"]["uid"].as_str().context("a uid")?.to_owned();
    family
        .create("of-one-elsewhere", &[Owner::config_map("far", &far)])
        .await?;
    // As many owners as fit, none of whom was ever there; with one more who lives, and without.
    let many = crowd(&family, "crowd-and-haven", Some(&haven)).await?;
    crowd(&family, "crowd", None).await?;

    let left = [
        "circle-one",
        "circle-two",
        "itself",
        "of-a-ghost",
        "haven",
        "crowd-and-haven",
    ];
    let left = left.map(str::to_owned);
    let ended = ledger.until_left(&left, PATIENCE).await;
    ended.with_context(|| manager.log_tail(10))?;
    until(
        "the owners that are gone to be taken off",
        PATIENCE,
        async || {
            let found = objects
                .get("ConfigMap", NAMESPACE, "crowd-and-haven")
                .await?;
            let found = found.context("crowd-and-haven is gone")?;
            let owners = found["metadata"]["ownerReferences"]
                .as_array()
                .map(Vec::len);
            Ok((owners == Some(1)).then_some(()))
        },
    )
    .await
    .with_context(|| manager.log_tail(10))?;
    until_told(objects).await?;

    let mark = cluster.audit()?.mark()?;
    let cpu = manager.usage()?.cpu;
    tokio::time::sleep(WATCHED).await;
    let requests = cluster.audit()?.since(mark)?.by_user(manager.user());
    let cpu = manager.usage()?.cpu.saturating_sub(cpu);
    if requests.len() > REQUESTS_MAX {
        let (count, seconds) = (requests.len(), WATCHED.as_secs());
        bail!(
            "{count} requests in {seconds} s at rest: {:?}",
            requests.by_verb()
        );
    }
    ledger.until_left(&left, Duration::from_secs(1)).await?;
    if objects
        .get("ClusterRoleBinding", "", "unscoped")
        .await?
        .is_none()
    {
        bail!("what is in no namespace is gone, though its owner lives");
    }
    scene.enter_deletes_of(&cluster, cluster.manager().user())?;
    Ok(format!(
        "circles, a ghost, misplaced owners and {many} owners of one object: {} requests and {} ms of CPU in {} s at \
         rest, nothing of a living owner went",
        requests.len(),
        cpu.as_millis(),
        WATCHED.as_secs()
    ))
}

fn uid(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// Creates something with as many owners as the server takes; how many.
async fn crowd(family: &Family, name: &str, haven: Option<&Owner>) -> Result<usize> {
    let mut count = OWNERS_MOST;
    loop {
        let absent = (0..count).map(|at| Owner::config_map(&format!("absent-{at}"), &uid(at)));
        let owners: Vec<Owner> = absent.chain(haven.cloned()).collect();
        match family.create(name, &owners).await {
            Ok(_) => return Ok(owners.len()),
            // Too large for the server or its store.
            Err(error) if count > 500 && status_code(&error).is_some() => count = count * 3 / 4,
            Err(error) => return Err(error),
        }
    }
}

/// Waits until people are told of the owner in the other namespace.
async fn until_told(objects: &Objects) -> Result<()> {
    let is_told = |event: &Value| {
        event["reason"] == "OwnerRefInvalidNamespace"
            && event["involvedObject"]["name"] == "of-one-elsewhere"
    };
    until("the event OwnerRefInvalidNamespace", PATIENCE, async || {
        let events = objects.list("Event", NAMESPACE, "").await?;
        Ok(events.iter().any(is_told).then_some(()))
    })
    .await
}
