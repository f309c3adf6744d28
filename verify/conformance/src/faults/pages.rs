//! The pages of a manager's own server, read with a certificate or without.

use anyhow::Result;
use http::Request;
use http_body_util::BodyExt as _;
use kube::client::Body;
use kube::{Client, Config};

use crate::cluster::Cluster;

/// A reader of one manager's pages.
pub(super) struct Pages {
    client: Client,
}

impl Pages {
    /// Reads with the administrator's certificate.
    pub(super) async fn as_admin(cluster: &Cluster, port: u16) -> Result<Self> {
        Self::with(cluster.admin().config().await?, port)
    }

    /// Reads without saying who it is.
    pub(super) fn anonymous(port: u16) -> Result<Self> {
        Self::with(Config::new("https://127.0.0.1".parse()?), port)
    }

    fn with(mut config: Config, port: u16) -> Result<Self> {
        config.cluster_url = format!("https://127.0.0.1:{port}").parse()?;
        // The manager's certificate is its own and self-signed.
        config.root_cert = None;
        config.accept_invalid_certs = true;
        Ok(Self {
            client: Client::try_from(config)?,
        })
    }

    /// A page and its code, whatever the code.
    pub(super) async fn fetch(&self, path: &str) -> Result<(u16, String)> {
        let request = Request::get(path).body(Body::empty())?;
        let answer = self.client.send(request).await?;
        let code = answer.status().as_u16();
        let bytes = answer.into_body().collect().await?.to_bytes();
        Ok((code, String::from_utf8_lossy(&bytes).into_owned()))
    }
}
