//! Owners and dependents, all of them ConfigMaps of one namespace.

use anyhow::{Context as _, Result};
use futures::{StreamExt as _, TryStreamExt as _};
use serde_json::{Value, json};

use super::ledger::Ledger;
use crate::cluster::Cluster;
use crate::objects::{Objects, PatchKind, Propagation};

/// Requests of the harness in flight at most.
const CONCURRENCY: usize = 8;

/// Somebody to be named as an owner.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) uid: String,
}

impl Owner {
    /// A ConfigMap of this name and identity.
    pub(super) fn config_map(name: &str, uid: &str) -> Self {
        Self {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
        }
    }

    pub(super) fn reference(&self) -> Value {
        json!({
            "apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid,
            "blockOwnerDeletion": true,
        })
    }
}

/// The namespace they live in, and the account that is kept of it.
pub(super) struct Family {
    pub(super) objects: Objects,
    pub(super) ledger: Ledger,
    namespace: &'static str,
}

impl Family {
    /// One in a namespace of its own.
    pub(super) async fn found(cluster: &Cluster, namespace: &'static str) -> Result<Self> {
        let objects = cluster.objects();
        objects.create_namespace(namespace).await?;
        Ok(Self {
            objects,
            ledger: Ledger::start(cluster, namespace).await?,
            namespace,
        })
    }

    /// Creates one that belongs to these.
    pub(super) async fn create(&self, name: &str, owners: &[Owner]) -> Result<Owner> {
        let owners: Vec<Value> = owners.iter().map(Owner::reference).collect();
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": { "name": name, "ownerReferences": owners },
        });
        let created = self.objects.create(self.namespace, &object).await?;
        let uid = created["metadata"]["uid"].as_str().context("a uid")?;
        Ok(Owner::config_map(name, uid))
    }

    /// Creates as many of an owner as wanted.
    pub(super) async fn create_all(&self, names: Vec<String>, owner: &Owner) -> Result<Vec<Owner>> {
        let owners = [owner.clone()];
        futures::stream::iter(names)
            .map(async |name| self.create(&name, &owners).await)
            .buffered(CONCURRENCY)
            .try_collect()
            .await
    }

    /// Deletes one, as a user does.
    pub(super) async fn delete(&self, it: &Owner, how: Propagation) -> Result<()> {
        self.ledger.own(&it.uid);
        let deleted = self
            .objects
            .delete("ConfigMap", self.namespace, &it.name, how);
        deleted.await.with_context(|| it.name.clone())
    }

    /// Gives one other owners.
    pub(super) async fn move_to(&self, name: &str, owners: &[Owner]) -> Result<()> {
        let owners: Vec<Value> = owners.iter().map(Owner::reference).collect();
        let patch = json!({ "metadata": { "ownerReferences": owners } });
        let merge = PatchKind::Merge;
        let moved = self
            .objects
            .patch("ConfigMap", self.namespace, name, "", merge, &patch);
        moved.await.map(drop).with_context(|| name.to_owned())
    }
}
