//! The surroundings of the tests, the same on every side but for the manager.

use std::path::Path;

use anyhow::{Context as _, Result};
use flyball::CONTROLLERS;

use super::E2eOptions;
use crate::child::Child;
use crate::cluster::{Cluster, ClusterOptions};
use crate::compare::Side;
use crate::machines::{Machines, wait_nodes};
use crate::process::Manager;

/// As many as upstream's tests ask for at least.
const NODES: usize = 3;

/// etcd, kube-apiserver, kube-scheduler, simulated nodes and a manager. Dropping it ends everything.
pub(super) struct Ground {
    // Invariant: declared, so dropped, before the cluster whose folder they write into.
    _managers: Vec<Manager>,
    _machines: Vec<Child>,
    cluster: Cluster,
    name: &'static str,
}

impl Ground {
    pub(super) async fn start(
        side: &Side,
        kube_scheduler: &Path,
        options: &E2eOptions,
    ) -> Result<Self> {
        let cluster = Cluster::start(ClusterOptions {
            service_account_admission: true,
            keep_folder: options.keep_folders,
            ..Default::default()
        })
        .await?;
        let machines = Machines {
            kube_scheduler,
            flyball: &options.flyball,
            nodes: NODES,
        };
        let machines = machines.start(&cluster, cluster.folder())?;
        let managers = managers(side, &cluster).await?;
        wait_nodes(&cluster.objects(), NODES).await?;
        Ok(Self {
            _managers: managers,
            _machines: machines,
            cluster,
            name: side.name(),
        })
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    pub(super) fn folder(&self) -> &Path {
        self.cluster.folder()
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }
}

/// Upstream's manager with everything on; or ours with everything on, and beside it upstream's with only those
/// controllers that ours does not have: tests need some of them (quotas, Jobs), whoever's turn it is.
async fn managers(side: &Side, cluster: &Cluster) -> Result<Vec<Manager>> {
    let certificate = cluster.authority_certificate().display();
    let root_ca = format!("--root-ca-file={certificate}");
    let extra = [root_ca.as_str()];
    let mut managers = match side {
        Side::Go => vec![Manager::go(cluster, &["*"], &extra).await?],
        Side::Flyball(binary) => {
            let ours = CONTROLLERS
                .iter()
                .map(|entry| format!("-{}", entry.descriptor.name));
            let others: Vec<String> = std::iter::once("*".to_owned()).chain(ours).collect();
            let others: Vec<&str> = others.iter().map(String::as_str).collect();
            let lender = cluster.create_identity("harness:environment").await?;
            vec![
                Manager::flyball(cluster, binary, &["*"], &extra).await?,
                Manager::go_as(cluster, &lender, &others, &extra).await?,
            ]
        }
    };
    for manager in &mut managers {
        let healthy = manager.wait_healthy().await;
        healthy.with_context(|| format!("a manager of {}", side.name()))?;
    }
    Ok(managers)
}
