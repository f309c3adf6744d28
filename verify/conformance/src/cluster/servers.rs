//! Stopping and starting a cluster's servers, and the data beneath them.
//!
//! A server starts again with the flags it was first started with, so on the same port: clients only see that it was
//! away. [`Cluster::copy_data`] and [`Cluster::restore_data`] are what an administrator does with a backup of etcd.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use super::Cluster;
use crate::child::Child;
use crate::objects::Objects;
use crate::poll::until;

const START_LIMIT: Duration = Duration::from_secs(60);

/// How a server is started.
pub(super) struct Launch {
    pub(super) name: &'static str,
    pub(super) program: PathBuf,
    pub(super) flags: Vec<String>,
    pub(super) log: PathBuf,
}

/// How both servers are started.
pub(super) struct Launches {
    pub(super) etcd: Launch,
    pub(super) etcd_port: u16,
    pub(super) apiserver: Launch,
}

impl Launch {
    pub(super) fn spawn(&self) -> Result<Child> {
        let mut command = Command::new(&self.program);
        command.args(&self.flags);
        Child::spawn(self.name, command, &self.log)
    }

    /// Starts etcd and waits until it listens.
    pub(super) async fn start_etcd(&self, port: u16) -> Result<Child> {
        let mut etcd = self.spawn()?;
        let listening = until("etcd to listen", START_LIMIT, async || {
            if let Some(status) = etcd.exited()? {
                bail!("etcd exited: {status}");
            }
            Ok(tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .ok()
                .map(drop))
        });
        listening.await.with_context(|| etcd.log_tail(20))?;
        Ok(etcd)
    }
}

/// Waits until kube-apiserver is ready, its bootstrap roles included.
pub(super) async fn wait_ready(apiserver: &mut Child, objects: &Objects) -> Result<()> {
    let ready = until("readiness of kube-apiserver", START_LIMIT, async || {
        if let Some(status) = apiserver.exited()? {
            bail!("kube-apiserver exited: {status}");
        }
        Ok(objects.text("/readyz").await.is_ok().then_some(()))
    });
    ready.await.with_context(|| apiserver.log_tail(30))
}

impl Cluster {
    /// Kills kube-apiserver as `kill -9` would.
    ///
    /// # Errors
    /// When it has already exited.
    pub async fn kill_apiserver(&mut self) -> Result<()> {
        kill(&mut self.apiserver).await
    }

    /// Kills kube-apiserver and etcd.
    ///
    /// # Errors
    /// When one of them has already exited.
    pub async fn kill_servers(&mut self) -> Result<()> {
        kill(&mut self.apiserver).await?;
        kill(&mut self.etcd).await
    }

    /// Starts kube-apiserver again on the same port and waits until it is ready.
    ///
    /// # Errors
    /// When it does not start or is not ready in time.
    pub async fn start_apiserver(&mut self) -> Result<()> {
        self.apiserver = self.launches.apiserver.spawn()?;
        let objects = self.objects();
        wait_ready(&mut self.apiserver, &objects).await
    }

    /// Starts etcd and kube-apiserver again on the same ports and waits until they are ready.
    ///
    /// # Errors
    /// When one of them does not start or is not ready in time.
    pub async fn start_servers(&mut self) -> Result<()> {
        let (launch, port) = (&self.launches.etcd, self.launches.etcd_port);
        self.etcd = launch.start_etcd(port).await?;
        self.start_apiserver().await
    }

    /// Copies etcd's data to a folder beside it. etcd is frozen meanwhile, so the copy is what a crash would leave.
    ///
    /// # Errors
    /// When etcd has exited or the data cannot be copied.
    pub fn copy_data(&mut self) -> Result<PathBuf> {
        let copy = self.folder.path.join("etcd-copy");
        self.etcd.signal("STOP")?;
        let copied = copy_folder(&self.data(), &copy);
        self.etcd.signal("CONT")?;
        copied.context("cannot copy etcd's data")?;
        Ok(copy)
    }

    /// Puts a copy of etcd's data in place of the data. Both servers must be stopped.
    ///
    /// # Errors
    /// When etcd still runs or the data cannot be copied.
    pub fn restore_data(&mut self, copy: &Path) -> Result<()> {
        if self.etcd.exited()?.is_none() {
            bail!("etcd still runs");
        }
        fs::remove_dir_all(self.data())?;
        copy_folder(copy, &self.data()).context("cannot restore etcd's data")
    }

    fn data(&self) -> PathBuf {
        self.folder.path.join("etcd")
    }
}

async fn kill(child: &mut Child) -> Result<()> {
    child.signal("KILL")?;
    child.wait_exit(START_LIMIT).await.map(drop)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
