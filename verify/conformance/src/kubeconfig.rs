//! Kubeconfig files and the users they speak for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::json;

use crate::certificates::KeyFiles;

/// A user of the cluster: a name the server knows, and the files to act in it.
#[derive(Debug, Clone)]
pub struct Identity {
    user: String,
    kubeconfig: PathBuf,
    keys: KeyFiles,
    authority: PathBuf,
}

impl Identity {
    pub(crate) fn write(
        folder: &Path,
        file: &str,
        user: &str,
        server: &str,
        authority: &Path,
        keys: KeyFiles,
    ) -> Result<Self> {
        let identity = Self {
            user: user.to_owned(),
            kubeconfig: folder.join(format!("{file}.kubeconfig")),
            keys,
            authority: authority.to_path_buf(),
        };
        identity.write_kubeconfig(&identity.kubeconfig, server)?;
        Ok(identity)
    }

    /// The user name as the server sees it, for instance in the audit log.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The kubeconfig that leads straight to the API server.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// PEM files of the client certificate and its key, for a proxy that acts in this user's name.
    #[must_use]
    pub fn key_files(&self) -> (&Path, &Path) {
        (&self.keys.certificate, &self.keys.key)
    }

    /// Writes a kubeconfig for this user that leads to another server address, such as a proxy.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path, server: &str) -> Result<()> {
        let mut cluster = json!({ "server": server });
        if server.starts_with("https:") {
            cluster["certificate-authority"] = json!(self.authority);
        }
        // JSON is YAML, so kubectl and every client read it.
        let content = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "harness", "cluster": cluster }],
            "users": [{ "name": self.user, "user": {
                "client-certificate": self.keys.certificate,
                "client-key": self.keys.key,
            }}],
            "contexts": [{ "name": "harness", "context": {
                "cluster": "harness",
                "user": self.user,
            }}],
            "current-context": "harness",
        });
        fs::write(path, serde_json::to_string_pretty(&content)?)
            .with_context(|| format!("cannot write {}", path.display()))
    }

    /// A client in this user's name.
    ///
    /// # Errors
    /// When the kubeconfig cannot be used.
    pub async fn client(&self) -> Result<Client> {
        Ok(Client::try_from(self.config().await?)?)
    }

    pub(crate) async fn config(&self) -> Result<Config> {
        let kubeconfig = Kubeconfig::read_from(&self.kubeconfig)?;
        Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    }
}
