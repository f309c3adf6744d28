//! A server that clients are tried on: a plane of ours, or upstream's programs as the reference.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::ClientOptions;
use crate::child::Child;
use crate::cluster::{Cluster, ClusterOptions, Folder};
use crate::machines::{Machines, wait_nodes};
use crate::poll::until;
use crate::process::Manager;
use crate::upstream::Tools;

const START_LIMIT: Duration = Duration::from_secs(60);
const NODES: usize = 3;

/// A running server with its nodes. Dropping it ends everything.
pub(super) struct Subject {
    // Invariant: declared, so dropped, before the folder that they write into.
    _children: Vec<Child>,
    _manager: Option<Manager>,
    _cluster: Option<Cluster>,
    kubeconfig: PathBuf,
    folder: Folder,
}

impl Subject {
    /// `flyball up`, with everything it runs.
    pub(super) async fn plane(options: &ClientOptions) -> Result<Self> {
        let folder = Folder::create(options.keep_folders)?;
        let kubeconfig = folder.path().join("plane.kubeconfig");
        let log = folder.path().join("flyball.log");
        let mut command = Command::new(&options.flyball);
        command
            .args(["up", "--listen", "127.0.0.1:0", "--nodes"])
            .arg(NODES.to_string())
            .arg("--data-dir")
            .arg(folder.path().join("data"))
            .arg("--kubeconfig")
            .arg(&kubeconfig);
        let mut plane = Child::spawn("flyball up", command, &log)?;
        let ready = until("readiness of flyball up", START_LIMIT, async || {
            if let Some(status) = plane.exited()? {
                bail!("flyball up exited: {status}");
            }
            let said = fs::read_to_string(&log).unwrap_or_default();
            Ok(said.contains("everything is ready").then_some(()))
        });
        ready.await.with_context(|| plane.log_tail(20))?;
        Ok(Self {
            _children: vec![plane],
            _manager: None,
            _cluster: None,
            kubeconfig,
            folder,
        })
    }

    /// Upstream's etcd, kube-apiserver, controller manager and scheduler, with our simulated nodes.
    pub(super) async fn reference(options: &ClientOptions, tools: &Tools) -> Result<Self> {
        let cluster = Cluster::start(ClusterOptions {
            service_account_admission: true,
            keep_folder: options.keep_folders,
            ..Default::default()
        })
        .await?;
        let mut manager = Manager::go(&cluster, &["*"], &[]).await?;
        let folder = Folder::create(options.keep_folders)?;
        let kubeconfig = cluster.admin().kubeconfig().to_path_buf();
        let machines = Machines {
            kube_scheduler: &tools.kube_scheduler,
            flyball: &options.flyball,
            nodes: NODES,
        };
        let children = machines.start(&cluster, folder.path())?;
        manager.wait_healthy().await?;
        wait_nodes(&cluster.objects(), NODES).await?;
        Ok(Self {
            _children: children,
            _manager: Some(manager),
            _cluster: Some(cluster),
            kubeconfig,
            folder,
        })
    }

    /// How to reach it as an administrator.
    pub(super) fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where scripts and logs go.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Ends it, and says so in the code.
    pub(super) fn end(self) {}
}
