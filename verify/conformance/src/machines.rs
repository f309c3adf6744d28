//! What a cluster needs before pods run in it: upstream's scheduler, and our simulated nodes.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::child::Child;
use crate::cluster::Cluster;
use crate::objects::Objects;
use crate::poll::until;
use crate::ports::free_port;

const START_LIMIT: Duration = Duration::from_secs(60);

/// Which programs to start, and how many nodes.
pub(crate) struct Machines<'a> {
    pub(crate) kube_scheduler: &'a Path,
    pub(crate) flyball: &'a Path,
    pub(crate) nodes: usize,
}

impl Machines<'_> {
    /// Starts both, with their logs in `folder`. See [`wait_nodes`].
    pub(crate) fn start(&self, cluster: &Cluster, folder: &Path) -> Result<Vec<Child>> {
        let kubeconfig = cluster.admin().kubeconfig();
        let mut scheduler = Command::new(self.kube_scheduler);
        scheduler
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .arg(format!("--secure-port={}", free_port()?))
            .args(["--bind-address=127.0.0.1", "--leader-elect=false"]);
        let mut nodes = Command::new(self.flyball);
        nodes
            .args(["nodes", "--count"])
            .arg(self.nodes.to_string())
            .arg("--kubeconfig")
            .arg(kubeconfig);
        Ok(vec![
            Child::spawn(
                "kube-scheduler",
                scheduler,
                &folder.join("kube-scheduler.log"),
            )?,
            Child::spawn("flyball nodes", nodes, &folder.join("nodes.log"))?,
        ])
    }
}

/// Waits until `count` nodes are there and ready: before, pods would wait for them.
pub(crate) async fn wait_nodes(objects: &Objects, count: usize) -> Result<()> {
    until("readiness of the nodes", START_LIMIT, async || {
        let nodes = objects.list("Node", "", "").await?;
        let ready = nodes.iter().filter(|node| {
            let conditions = node["status"]["conditions"].as_array();
            let mut conditions = conditions.into_iter().flatten();
            conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
        });
        Ok((ready.count() == count).then_some(()))
    })
    .await
}
