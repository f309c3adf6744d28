//! A custom kind of one version at first, its objects, and the ConfigMaps that own them.

use std::ops::Range;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt as _, TryStreamExt as _};
use http::Method;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::custom::definition;
use crate::objects::{Objects, Propagation};
use crate::poll::until;

const NAMESPACE: &str = "versions";
const GROUP: &str = "versions.flyball.dev";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GADGETS: &str = "/apis/versions.flyball.dev/v1beta1/namespaces/versions/gadgets";
/// Keeps a terminating dependent until the harness removes it.
const HOLD: &str = "versions.flyball.dev/hold";
const DEPENDENTS: usize = 3;
const ORPHANING: &str = "orphaning";
const FOREGROUND: &str = "foreground";
const CONCURRENCY: usize = 16;
const SERVED_LIMIT: Duration = Duration::from_secs(60);

/// How objects come from one version to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Only `apiVersion` changes.
    None,
    /// By a webhook that refuses connections.
    UnreachableWebhook,
}

/// The number of dependents of so many owners.
pub(super) fn dependents_of(owners: usize) -> usize {
    owners * DEPENDENTS
}

/// Whether an object of this name is an orphaning owner's dependent.
pub(super) fn is_of_orphaning(name: &str) -> bool {
    // The owner is orphaning-7, its dependents are orphaning-7-0 and so on.
    name.starts_with(ORPHANING) && name.matches('-').count() == 2
}

/// The kind and its namespace.
pub(super) struct Gadgets {
    objects: Objects,
}

impl Gadgets {
    /// Defines the kind at v1beta1 and waits until it is served.
    pub(super) async fn define(cluster: &Cluster) -> Result<Self> {
        let objects = cluster.objects();
        objects.create_namespace(NAMESPACE).await?;
        let mut body = definition(GROUP, "gadgets", "Gadget");
        body["spec"]["versions"][0]["name"] = json!("v1beta1");
        let created = objects.send(Method::POST, DEFINITIONS, "application/json", Some(&body));
        created.await?;
        until("a server that serves Gadgets", SERVED_LIMIT, async || {
            let listed = objects.send(Method::GET, GADGETS, "application/json", None);
            Ok(listed.await.is_ok().then_some(()))
        })
        .await?;
        Ok(Self { objects })
    }

    /// Adds v1 to the versions, served and so preferred; v1beta1 stays the stored one.
    pub(super) async fn add_version(&self, conversion: Conversion) -> Result<()> {
        let mut spec = self.spec().await?;
        let mut version = spec["versions"][0].clone();
        version["name"] = json!("v1");
        version["storage"] = json!(false);
        spec["versions"] = json!([spec["versions"][0], version]);
        if conversion == Conversion::UnreachableWebhook {
            spec["conversion"] = json!({ "strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": { "url": "https://127.0.0.1:1/convert" },
            }});
        }
        self.apply(&spec).await
    }

    /// Takes v1 away again.
    pub(super) async fn remove_version(&self) -> Result<()> {
        let mut spec = self.spec().await?;
        spec["versions"] = json!([spec["versions"][0]]);
        spec["conversion"] = json!({ "strategy": "None", "webhook": null });
        self.apply(&spec).await
    }

    async fn spec(&self) -> Result<Value> {
        let path = format!("{DEFINITIONS}/gadgets.{GROUP}");
        let read = self
            .objects
            .send(Method::GET, &path, "application/json", None);
        Ok(read.await?["spec"].take())
    }

    async fn apply(&self, spec: &Value) -> Result<()> {
        let path = format!("{DEFINITIONS}/gadgets.{GROUP}");
        let patch = json!({ "spec": spec });
        let merge = "application/merge-patch+json";
        let patched = self.objects.send(Method::PATCH, &path, merge, Some(&patch));
        patched.await.map(drop).context("the new definition")
    }

    /// Creates owners and their dependents.
    pub(super) async fn create_orphaning(&self, owners: usize) -> Result<()> {
        each(0..owners, async |number| {
            self.create(&format!("{ORPHANING}-{number}"), &[]).await
        })
        .await
    }

    /// Creates owners with dependents that a finalizer holds.
    pub(super) async fn create_foreground(&self, owners: usize) -> Result<()> {
        each(0..owners, async |number| {
            self.create(&format!("{FOREGROUND}-{number}"), &[HOLD])
                .await
        })
        .await
    }

    async fn create(&self, owner: &str, finalizers: &[&str]) -> Result<()> {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": owner },
        });
        let created = self.objects.create(NAMESPACE, &object).await?;
        for number in 0..DEPENDENTS {
            let dependent = json!({
                "apiVersion": format!("{GROUP}/v1beta1"), "kind": "Gadget",
                "metadata": {
                    "name": format!("{owner}-{number}"),
                    "finalizers": finalizers,
                    "ownerReferences": [{
                        "apiVersion": "v1", "kind": "ConfigMap", "name": owner,
                        "uid": created["metadata"]["uid"], "blockOwnerDeletion": true,
                    }],
                },
            });
            let json = "application/json";
            let sent = self
                .objects
                .send(Method::POST, GADGETS, json, Some(&dependent));
            sent.await?;
        }
        Ok(())
    }

    pub(super) async fn delete_orphaning(&self, numbers: Range<usize>) -> Result<()> {
        self.delete(ORPHANING, numbers, Propagation::Orphan).await
    }

    pub(super) async fn delete_foreground(&self, numbers: Range<usize>) -> Result<()> {
        self.delete(FOREGROUND, numbers, Propagation::Foreground)
            .await
    }

    async fn delete(&self, prefix: &str, numbers: Range<usize>, how: Propagation) -> Result<()> {
        each(numbers, async |number| {
            let name = format!("{prefix}-{number}");
            self.objects
                .delete("ConfigMap", NAMESPACE, &name, how)
                .await
        })
        .await
    }

    /// Removes the finalizer of everything that blocks a foreground owner.
    pub(super) async fn release_foreground(&self) -> Result<()> {
        let held: Vec<String> = self.names(GADGETS, FOREGROUND).await?;
        let patch = json!({ "metadata": { "finalizers": null } });
        let patch = &patch;
        futures::stream::iter(held)
            .map(async |name| {
                let path = format!("{GADGETS}/{name}");
                let merge = "application/merge-patch+json";
                let patched = self.objects.send(Method::PATCH, &path, merge, Some(patch));
                patched.await.map(drop)
            })
            .buffer_unordered(CONCURRENCY)
            .try_collect()
            .await
    }

    /// How many orphaning owners of so many are gone.
    pub(super) async fn orphaning_gone(&self, of: usize) -> Result<usize> {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
        Ok(of - self.names(&path, ORPHANING).await?.len())
    }

    /// How many foreground owners are left.
    pub(super) async fn foreground_left(&self) -> Result<usize> {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
        Ok(self.names(&path, FOREGROUND).await?.len())
    }

    /// How many dependents of orphaning owners are there and not terminating.
    pub(super) async fn orphans_kept(&self) -> Result<usize> {
        Ok(self.names(GADGETS, ORPHANING).await?.len())
    }

    /// Names in a collection that begin so. Terminating dependents of orphaning owners do not count.
    async fn names(&self, path: &str, prefix: &str) -> Result<Vec<String>> {
        let listed = self
            .objects
            .send(Method::GET, path, "application/json", None);
        let listed = listed.await?;
        let Some(items) = listed["items"].as_array() else {
            bail!("{path} answered without items");
        };
        let terminating = |item: &Value| !item["metadata"]["deletionTimestamp"].is_null();
        let counts = |item: &&Value| !(path == GADGETS && prefix == ORPHANING && terminating(item));
        let names = items.iter().filter(counts);
        let names = names.filter_map(|item| item["metadata"]["name"].as_str());
        let wanted = names.filter(|name| name.starts_with(prefix));
        Ok(wanted.map(str::to_owned).collect())
    }
}

async fn each(numbers: Range<usize>, work: impl AsyncFn(usize) -> Result<()>) -> Result<()> {
    futures::stream::iter(numbers)
        .map(|number| work(number))
        .buffer_unordered(CONCURRENCY)
        .try_collect()
        .await
}
