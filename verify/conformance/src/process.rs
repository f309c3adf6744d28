//! A controller manager under test: upstream's or ours, started with the same flags.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use kube::Client;

use crate::child::Child;
use crate::cluster::{Cluster, merge_flags};
use crate::kubeconfig::Identity;
use crate::objects::Objects;
use crate::poll::until;
use crate::ports::free_port;
use crate::usage::Usage;

const START_LIMIT: Duration = Duration::from_secs(60);

/// The controllers of the workloads family that both managers have, as `--controllers` names them.
pub const WORKLOADS: &[&str] = &[
    "deployment-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
];

/// What the managers under comparison run: the workloads, and who decides what becomes of dependents and namespaces.
pub(crate) const COMPARED: &[&str] = &[
    "deployment-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "garbage-collector-controller",
    "namespace-controller",
];

/// A running manager. Dropping it kills it as `kill -9` would.
///
/// Flags the harness sets, all of them replaceable by an extra flag of the same name: the three kubeconfigs of the
/// identity, `--controllers`, `--leader-elect=false`, `--kube-api-qps=5000`, `--kube-api-burst=10000`,
/// `--bind-address=127.0.0.1` and a free `--secure-port`.
pub struct Manager {
    child: Child,
    health: Objects,
    user: String,
}

impl Manager {
    /// Starts upstream's manager as the cluster's manager user. It returns at once; see [`Manager::wait_healthy`].
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn go(cluster: &Cluster, controllers: &[&str], extra: &[&str]) -> Result<Self> {
        Self::go_as(cluster, cluster.manager(), controllers, extra).await
    }

    /// [`Manager::go`] as another user.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn go_as(
        cluster: &Cluster,
        identity: &Identity,
        controllers: &[&str],
        extra: &[&str],
    ) -> Result<Self> {
        let command = Command::new(&cluster.binaries().kube_controller_manager);
        Self::start(cluster, identity, "go", command, controllers, extra).await
    }

    /// Starts ours, `<binary> controller-manager`, as the cluster's manager user.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn flyball(
        cluster: &Cluster,
        binary: &Path,
        controllers: &[&str],
        extra: &[&str],
    ) -> Result<Self> {
        Self::flyball_as(cluster, cluster.manager(), binary, controllers, extra).await
    }

    /// [`Manager::flyball`] as another user.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn flyball_as(
        cluster: &Cluster,
        identity: &Identity,
        binary: &Path,
        controllers: &[&str],
        extra: &[&str],
    ) -> Result<Self> {
        let mut command = Command::new(binary);
        command.arg("controller-manager");
        Self::start(cluster, identity, "flyball", command, controllers, extra).await
    }

    /// Starts any command that takes upstream's flags. `name` heads its log file in the cluster's folder.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn start(
        cluster: &Cluster,
        identity: &Identity,
        name: &str,
        mut command: Command,
        controllers: &[&str],
        extra: &[&str],
    ) -> Result<Self> {
        let port = match extra
            .iter()
            .find_map(|flag| flag.strip_prefix("--secure-port="))
        {
            Some(port) => port.parse().context("--secure-port")?,
            None => free_port()?,
        };
        let kubeconfig = identity.kubeconfig().display().to_string();
        let ours = [
            ("kubeconfig", kubeconfig.clone()),
            ("authentication-kubeconfig", kubeconfig.clone()),
            ("authorization-kubeconfig", kubeconfig),
            ("controllers", controllers.join(",")),
            ("leader-elect", "false".to_owned()),
            ("kube-api-qps", "5000".to_owned()),
            ("kube-api-burst", "10000".to_owned()),
            ("bind-address", "127.0.0.1".to_owned()),
            ("secure-port", port.to_string()),
        ];
        let extra: Vec<String> = extra.iter().map(|flag| (*flag).to_owned()).collect();
        command.args(merge_flags(&ours, &extra));
        let log = cluster.folder().join(format!("{name}-{port}.log"));
        let child = Child::spawn(name, command, &log)?;

        // The manager's certificate is its own and self-signed; who may read what is decided by the API server.
        let mut config = cluster.admin().config().await?;
        config.cluster_url = format!("https://127.0.0.1:{port}").parse()?;
        config.root_cert = None;
        config.accept_invalid_certs = true;
        let health = Objects::of(Client::try_from(config)?);
        Ok(Self {
            child,
            health,
            user: identity.user().to_owned(),
        })
    }

    /// Waits until `/healthz` answers, which managers do before their controllers are up.
    ///
    /// # Errors
    /// When the manager exits or does not answer in time; the message carries the end of its log.
    pub async fn wait_healthy(&mut self) -> Result<()> {
        let health = self.health.clone();
        let child = &mut self.child;
        let healthy = until("health of the manager", START_LIMIT, async || {
            if let Some(status) = child.exited()? {
                bail!("the manager exited: {status}");
            }
            Ok(health.text("/healthz").await.is_ok().then_some(()))
        });
        let healthy = healthy.await;
        healthy.with_context(|| self.log_tail(30))
    }

    /// Reads a path of the manager's own server as the administrator: `/metrics`, `/readyz?verbose`, `/configz`.
    ///
    /// # Errors
    /// When it does not answer, or not with success.
    pub async fn read(&self, path: &str) -> Result<String> {
        self.health.text(path).await
    }

    /// The user it acts as, for the audit log.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// SIGKILL, and waits for the end.
    ///
    /// # Errors
    /// When it has already exited.
    pub async fn kill(&mut self) -> Result<ExitStatus> {
        self.child.signal("KILL")?;
        self.child.wait_exit(START_LIMIT).await
    }

    /// SIGTERM: asks for a clean exit. See [`Manager::wait_exit`].
    ///
    /// # Errors
    /// When it has already exited.
    pub fn terminate(&mut self) -> Result<()> {
        self.child.signal("TERM")
    }

    /// SIGSTOP: freezes it.
    ///
    /// # Errors
    /// When it has already exited.
    pub fn freeze(&mut self) -> Result<()> {
        self.child.signal("STOP")
    }

    /// SIGCONT: lets it go on.
    ///
    /// # Errors
    /// When it has already exited.
    pub fn thaw(&mut self) -> Result<()> {
        self.child.signal("CONT")
    }

    /// Waits for it to end by itself.
    ///
    /// # Errors
    /// When it still runs after `limit`.
    pub async fn wait_exit(&mut self, limit: Duration) -> Result<ExitStatus> {
        self.child.wait_exit(limit).await
    }

    /// The exit status, if it has ended.
    ///
    /// # Errors
    /// When the system refuses to say.
    pub fn exited(&mut self) -> Result<Option<ExitStatus>> {
        self.child.exited()
    }

    /// CPU time, resident memory and its peak.
    ///
    /// # Errors
    /// When it has ended.
    pub fn usage(&self) -> Result<Usage> {
        self.child.usage()
    }

    /// How many sockets it has open.
    ///
    /// # Errors
    /// When it has ended.
    pub fn sockets(&self) -> Result<usize> {
        Usage::sockets(self.pid())
    }

    /// The end of its log.
    #[must_use]
    pub fn log_tail(&self, lines: usize) -> String {
        self.child.log_tail(lines)
    }

    /// Where its log is.
    #[must_use]
    pub fn log(&self) -> &Path {
        self.child.log()
    }
}
