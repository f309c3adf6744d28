//! What the checks share: clusters, the manager under test, and the ledger of deletes.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};

use super::{FaultOptions, Subject};
use crate::cluster::{Cluster, ClusterOptions};
use crate::kubeconfig::Identity;
use crate::process::{Manager, WORKLOADS};
use crate::requests::{Mark, Requests};

/// Election flags with times short enough for many handovers in a run: lease 5 s, deadline 3 s, retry 1 s.
pub(super) const SHORT_LEASE: &[&str] = &[
    "--leader-elect=true",
    "--leader-elect-lease-duration=5s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=1s",
];

/// The controllers that ours runs by default, by upstream's names.
pub(super) const DEFAULT_CONTROLLERS: &[&str] = &[
    "clusterrole-aggregation-controller",
    "deployment-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "ttl-after-finished-controller",
];

/// Deletes seen in the checks so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Deletes {
    pub(super) seen: usize,
    pub(super) without_uid: Vec<String>,
}

/// The options of the run and what its checks leave for each other.
pub(super) struct Scene {
    pub(super) options: FaultOptions,
    deletes: Mutex<Deletes>,
}

impl Scene {
    pub(super) fn new(options: FaultOptions) -> Self {
        Self {
            options,
            deletes: Mutex::default(),
        }
    }

    /// A cluster with an audit log.
    pub(super) async fn cluster(&self) -> Result<Cluster> {
        self.cluster_with(ClusterOptions::default()).await
    }

    /// A cluster with an audit log and more.
    pub(super) async fn cluster_with(&self, options: ClusterOptions) -> Result<Cluster> {
        let options = ClusterOptions {
            audit: true,
            keep_folder: self.options.keep_folders,
            ..options
        };
        Cluster::start(options)
            .await
            .context("the cluster of the check")
    }

    /// Our binary; `None` when upstream's is under test.
    pub(super) fn binary(&self) -> Option<&PathBuf> {
        match &self.options.subject {
            Subject::Flyball(binary) => Some(binary),
            Subject::Go => None,
        }
    }

    /// Starts the manager under test with the workload controllers and waits until it answers.
    pub(super) async fn manager(
        &self,
        cluster: &Cluster,
        identity: &Identity,
        extra: &[&str],
    ) -> Result<Manager> {
        self.manager_of(WORKLOADS, cluster, identity, extra).await
    }

    /// The same with other controllers.
    pub(super) async fn manager_of(
        &self,
        controllers: &[&str],
        cluster: &Cluster,
        identity: &Identity,
        extra: &[&str],
    ) -> Result<Manager> {
        let mut manager = match self.binary() {
            Some(binary) => {
                Manager::flyball_as(cluster, identity, binary, controllers, extra).await?
            }
            None => Manager::go_as(cluster, identity, controllers, extra).await?,
        };
        manager.wait_healthy().await?;
        Ok(manager)
    }

    /// Enters the deletes of a manager of ours into the ledger, unless the rule was not for it.
    pub(super) fn enter_deletes(&self, requests: &Requests) {
        if self.binary().is_none() {
            return;
        }
        let mut deletes = self.deletes.lock().unwrap_or_else(PoisonError::into_inner);
        for request in requests
            .all
            .iter()
            .filter(|request| request.verb.starts_with("delete"))
        {
            deletes.seen += 1;
            if request.uid_precondition().is_none() {
                deletes.without_uid.push(format!(
                    "{} {} {}/{} by {}",
                    request.verb, request.resource, request.namespace, request.name, request.user
                ));
            }
        }
    }

    /// Enters everything that `user` deleted in the cluster.
    pub(super) fn enter_deletes_of(&self, cluster: &Cluster, user: &str) -> Result<()> {
        let requests = cluster.audit()?.since(Mark::default())?;
        self.enter_deletes(&requests.by_user(user));
        Ok(())
    }

    pub(super) fn deletes(&self) -> Deletes {
        self.deletes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
