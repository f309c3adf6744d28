//! The process that is killed, and a client of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use flyball::{Client, Plane, PlaneOptions};
use flyball_client::{ConfigSource, load};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::time::timeout;

use crate::Outcome;

/// The argument that makes a child of this program.
pub(crate) const WORD: &str = "serve-until-killed";

const PATIENCE: Duration = Duration::from_secs(60);

/// Serves the folder for as long as it is let live.
pub(crate) async fn serve(folder: &Path) -> Outcome<()> {
    install_cryptography();
    let plane = Plane::start_with(PlaneOptions {
        data: Some(folder.to_owned()),
        listen: Some(([127, 0, 0, 1], 0).into()),
        // Only the writers write, so that all that is stored can be accounted for.
        parts: Vec::new(),
        ..PlaneOptions::default()
    })
    .await?;
    let kubeconfig = plane.kubeconfig()?.ok_or("it does not listen")?;
    std::fs::write(kubeconfig_of(folder), kubeconfig)?;
    std::io::Write::write_all(&mut std::io::stdout(), b"ready\n")?;
    std::future::pending().await
}

fn kubeconfig_of(folder: &Path) -> PathBuf {
    folder.join("kubeconfig")
}

fn install_cryptography() {
    // A second time it is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A child that serves.
pub(crate) struct Child {
    process: std::process::Child,
    pub(crate) client: Client,
}

impl Child {
    /// Starts one and waits until it can be asked.
    pub(crate) async fn start(folder: &Path) -> Outcome<Self> {
        install_cryptography();
        let mut process = Command::new(std::env::current_exe()?)
            .arg(WORD)
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = process.stdout.take().ok_or("no standard output")?;
        let stdout = tokio::process::ChildStdout::from_std(stdout)?;
        let mut line = String::new();
        let mut lines = BufReader::new(stdout);
        timeout(PATIENCE, lines.read_line(&mut line)).await??;
        if line != "ready\n" {
            process.wait()?;
            return Err(format!("the server did not start again: {line:?}").into());
        }
        let source = ConfigSource {
            kubeconfig: Some(kubeconfig_of(folder)),
            master: None,
        };
        let config = load(&source).await?;
        let client = Client::new(&config, "crash")?;
        Ok(Self { process, client })
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) -> Outcome<()> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // A test that failed leaves nobody behind.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
