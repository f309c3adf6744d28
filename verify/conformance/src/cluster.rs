//! A private etcd and kube-apiserver on loopback, with certificates of their own, gone when dropped.

mod flags;
mod servers;

pub(crate) use flags::merge as merge_flags;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::certificates::Authority;
use crate::child::{Child, Guard};
use crate::kubeconfig::Identity;
use crate::objects::{Objects, status_code};
use crate::ports::free_port;
use crate::requests::{AuditLog, Totals};
use crate::upstream::{Binaries, Upstream};
use crate::usage::Usage;
use servers::{Launch, Launches, wait_ready};

/// The user that upstream's manager has in a cluster made by kubeadm.
pub const MANAGER_USER: &str = "system:kube-controller-manager";

/// How to start a cluster. The default suits conformance runs.
#[derive(Debug, Clone, Default)]
pub struct ClusterOptions {
    /// Upstream's programs; `None` builds or finds them.
    pub binaries: Option<Binaries>,
    /// Record every request of every user but the harness's own, for [`Cluster::audit`]. It costs the server some
    /// CPU, so benches leave it off and read [`Cluster::totals`].
    pub audit: bool,
    /// Admit pods only with a service account and mount its token. Off, pods need no service-account controller.
    pub service_account_admission: bool,
    /// More flags for kube-apiserver. A flag given here replaces the harness's own of the same name.
    pub apiserver_flags: Vec<String>,
    /// Leave logs and data on disk at the end.
    pub keep_folder: bool,
}

/// A running cluster: etcd and kube-apiserver, no node and no controller.
///
/// Dropping it kills both and removes their data. If the harness is killed instead, guards do the same.
pub struct Cluster {
    // Invariant: declared, so dropped, before the folder they write into.
    apiserver: Child,
    etcd: Child,
    launches: Launches,
    folder: Folder,
    authority: Authority,
    server: String,
    admin: Identity,
    manager: Identity,
    binaries: Binaries,
    audit_log: Option<PathBuf>,
    client: kube::Client,
}

impl Cluster {
    /// Starts a cluster and waits until the server is ready, its bootstrap roles included.
    ///
    /// # Errors
    /// When a program does not start or is not ready in time; the message carries the end of its log.
    pub async fn start(options: ClusterOptions) -> Result<Self> {
        let binaries = match options.binaries.clone() {
            Some(binaries) => binaries,
            None => tokio::task::spawn_blocking(Upstream::ensure).await??,
        };
        let folder = Folder::create(options.keep_folder)?;
        let authority = Authority::create(&folder.path, "ca")?;
        let (etcd_launch, etcd_url, etcd_port) = launch_of_etcd(&binaries, &folder.path)?;
        let etcd = etcd_launch.start_etcd(etcd_port).await?;

        let port = free_port()?;
        let server = format!("https://127.0.0.1:{port}");
        let (flags, audit_log) =
            flags::apiserver(&folder.path, &authority, &etcd_url, port, &options)?;
        let launches = Launches {
            etcd: etcd_launch,
            etcd_port,
            apiserver: Launch {
                name: "kube-apiserver",
                program: binaries.kube_apiserver.clone(),
                flags,
                log: folder.path.join("kube-apiserver.log"),
            },
        };
        let mut apiserver = launches.apiserver.spawn()?;

        let identify = |file: &str, user: &str, group: Option<&str>| {
            let keys = authority.client(file, user, group)?;
            Identity::write(
                &folder.path,
                file,
                user,
                &server,
                authority.certificate(),
                keys,
            )
        };
        let admin = identify("admin", "harness", Some("system:masters"))?;
        let manager = identify("manager", MANAGER_USER, None)?;
        let client = admin.client().await?;
        let objects = Objects::of(client.clone());
        wait_ready(&mut apiserver, &objects).await?;

        let cluster = Self {
            apiserver,
            etcd,
            launches,
            folder,
            authority,
            server,
            admin,
            manager,
            binaries,
            audit_log,
            client,
        };
        // Upstream's role for this user is enough only together with one service account per controller.
        // Clusters differ in that; the harness lets both ways work.
        cluster.grant_everything(MANAGER_USER).await?;
        Ok(cluster)
    }

    /// Reads and writes as an administrator whom no audit log records.
    #[must_use]
    pub fn objects(&self) -> Objects {
        Objects::of(self.client.clone())
    }

    /// The administrator.
    #[must_use]
    pub fn admin(&self) -> &Identity {
        &self.admin
    }

    /// The user that managers act as unless told otherwise: [`MANAGER_USER`].
    #[must_use]
    pub fn manager(&self) -> &Identity {
        &self.manager
    }

    /// Makes another user with every right, for instance to tell two managers apart in the audit log.
    ///
    /// # Errors
    /// When the certificate or the binding cannot be made.
    pub async fn create_identity(&self, user: &str) -> Result<Identity> {
        let file = user.replace([':', '/'], "-");
        let keys = self.authority.client(&file, user, None)?;
        self.grant_everything(user).await?;
        let authority = self.authority.certificate();
        Identity::write(
            &self.folder.path,
            &file,
            user,
            &self.server,
            authority,
            keys,
        )
    }

    /// The server's address, `https://127.0.0.1:port`.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// The certificate that signs the server's own and every client's.
    #[must_use]
    pub fn authority_certificate(&self) -> &Path {
        self.authority.certificate()
    }

    /// Logs, certificates and data.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder.path
    }

    /// Upstream's programs that this cluster runs on.
    #[must_use]
    pub fn binaries(&self) -> &Binaries {
        &self.binaries
    }

    /// kube-apiserver's CPU and memory so far.
    ///
    /// # Errors
    /// When it is gone.
    pub fn apiserver_usage(&self) -> Result<Usage> {
        self.apiserver.usage()
    }

    /// etcd's CPU and memory so far.
    ///
    /// # Errors
    /// When it is gone.
    pub fn etcd_usage(&self) -> Result<Usage> {
        self.etcd.usage()
    }

    /// kube-apiserver's process, to stop, continue or kill it.
    pub fn apiserver(&mut self) -> &mut Child {
        &mut self.apiserver
    }

    /// The end of both logs, for error messages.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        format!(
            "{}\n{}",
            self.apiserver.log_tail(lines),
            self.etcd.log_tail(lines)
        )
    }

    /// The audit log, which knows who asked for what.
    ///
    /// # Errors
    /// When the cluster was started without [`ClusterOptions::audit`].
    pub fn audit(&self) -> Result<AuditLog> {
        let path = self
            .audit_log
            .clone()
            .context("the cluster was started without audit")?;
        Ok(AuditLog::at(path))
    }

    /// The server's own request counters, of all users together.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn totals(&self) -> Result<Totals> {
        Ok(Totals::parse(&self.objects().text("/metrics").await?))
    }

    /// A `kubectl` that acts as the administrator in `namespace`.
    #[must_use]
    pub fn kubectl(&self, namespace: &str) -> Command {
        let mut command = Command::new(&self.binaries.kubectl);
        command
            .arg("--kubeconfig")
            .arg(self.admin.kubeconfig())
            .args(["--namespace", namespace]);
        // Discovery is cached below HOME by default, where clusters of other runs left theirs.
        command
            .arg("--cache-dir")
            .arg(self.folder.path.join("kubectl-cache"));
        command
    }

    async fn grant_everything(&self, user: &str) -> Result<()> {
        let binding = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": { "name": format!("harness:{user}") },
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "cluster-admin",
            },
            "subjects": [{
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "User",
                "name": user,
            }],
        });
        match self.objects().create("", &binding).await {
            Err(error) if status_code(&error) != Some(409) => Err(error),
            _ => Ok(()),
        }
    }
}

fn launch_of_etcd(binaries: &Binaries, folder: &Path) -> Result<(Launch, String, u16)> {
    let (client_port, peer_port) = (free_port()?, free_port()?);
    let url = format!("http://127.0.0.1:{client_port}");
    let launch = Launch {
        name: "etcd",
        program: binaries.etcd.clone(),
        flags: flags::etcd(folder, &url, peer_port),
        log: folder.join("etcd.log"),
    };
    Ok((launch, url, client_port))
}

/// A folder of its own, removed on drop, and by a guard should the harness be killed.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    keep: bool,
    guard: Option<Guard>,
}

impl Folder {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn create(keep: bool) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("flyball-cluster-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        if path.exists() {
            // A process of the same id died before us; whatever it left is stale.
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
        let guard = if keep {
            None
        } else {
            // The children's guards need a moment to end the writers first.
            Some(Guard::spawn(
                "sleep 1; rm -rf -- \"$0\"",
                &path.to_string_lossy(),
            )?)
        };
        Ok(Self { path, keep, guard })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // What cannot be removed stays in the system's temporary folder.
            let _ = fs::remove_dir_all(&self.path);
        }
        if let Some(guard) = &mut self.guard {
            guard.release();
        }
    }
}
