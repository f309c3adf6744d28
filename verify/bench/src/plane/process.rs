//! `flyball up` as a process of its own, and a client of it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use flyball_client::{Client, ConfigSource, Method, Request, load};
use flyball_conformance::Usage;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::{Instant, interval, timeout};

/// Longer than any start takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running plane.
pub(super) struct Plane {
    child: Child,
    synced: oneshot::Receiver<Duration>,
    client: Client,
    folder: PathBuf,
    /// How long it took until a write was accepted.
    pub(super) first_write: Duration,
}

impl Plane {
    /// Starts the program and writes to it as soon as it takes writes.
    pub(super) async fn start(binary: &Path, nodes: u32, ephemeral: bool) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("flyball-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make {}", folder.display()))?;
        let kubeconfig = folder.join("kubeconfig");
        let mut command = Command::new(binary);
        command
            .args([
                "up",
                "--listen",
                "127.0.0.1:0",
                "--nodes",
                &nodes.to_string(),
            ])
            .arg("--kubeconfig")
            .arg(&kubeconfig);
        match ephemeral {
            true => command.arg("--ephemeral"),
            false => command.arg("--data-dir").arg(folder.join("data")),
        };
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let (tell, synced) = oneshot::channel();
        tokio::spawn(read(stdout, started, tell));
        let client = timeout(PATIENCE, client(&kubeconfig)).await??;
        accepted(&client).await?;
        Ok(Self {
            child,
            synced,
            client,
            folder,
            first_write: started.elapsed(),
        })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// How long it took from the start until it said that everything is ready.
    pub(super) async fn until_synced(&mut self) -> Result<Duration> {
        let synced = timeout(PATIENCE, &mut self.synced).await;
        synced
            .context("it is never ready")?
            .context("it ended before it was ready")
    }

    pub(super) fn usage(&self) -> Result<Usage> {
        Usage::of(self.child.id().context("it has ended")?)
    }

    /// Ends it and removes what it wrote.
    pub(super) async fn stop(mut self) -> Result<()> {
        self.child.kill().await?;
        std::fs::remove_dir_all(&self.folder)?;
        Ok(())
    }
}

/// Reads what the program says, to its end, and tells when it said that everything is ready.
async fn read(stdout: ChildStdout, started: Instant, tell: oneshot::Sender<Duration>) {
    let mut tell = Some(tell);
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.ends_with("everything is ready")
            && let Some(tell) = tell.take()
        {
            // Whoever gave up waiting does not care.
            let _ = tell.send(started.elapsed());
        }
    }
}

/// A client, as soon as the kubeconfig is there: it is put in place as a whole.
async fn client(kubeconfig: &Path) -> Result<Client> {
    // One provider of cryptography for everything in the process; a second time it is there.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut tick = interval(Duration::from_millis(1));
    while !kubeconfig.exists() {
        tick.tick().await;
    }
    let source = ConfigSource {
        kubeconfig: Some(kubeconfig.to_owned()),
        master: None,
    };
    Ok(Client::new(&load(&source).await?, "bench")?)
}

async fn accepted(client: &Client) -> Result<()> {
    let body = r#"{"metadata":{"name":"first"},"data":{"a":"b"}}"#;
    let path = "/api/v1/namespaces/default/configmaps";
    let answer = client.send(&Request::with(Method::Post, path, body)).await;
    answer
        .map(drop)
        .map_err(|error| anyhow!("the first write: {error}"))
}
