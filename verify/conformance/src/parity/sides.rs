//! The two servers: upstream's with its etcd, and ours, both with nothing else running.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context as _, Result};
use flyball::{Plane, PlaneOptions};
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::answer::Answer;
use super::request::Request;
use crate::cluster::{Cluster, ClusterOptions};

/// Who asks upstream's server.
pub(crate) const THEIR_USER: &str = "harness";

/// Who asks ours.
pub(crate) const OUR_USER: &str = "flyball-admin";

/// A server that can be asked.
#[derive(Clone)]
pub(crate) struct Side {
    client: Client,
}

impl Side {
    pub(crate) fn of(client: Client) -> Self {
        Self { client }
    }

    /// Sends a request and reads the answer to its end.
    pub(crate) async fn ask(&self, request: &Request) -> Result<Answer> {
        let response = self.client.send(request.http()?).await;
        let response = response.with_context(|| request.line())?;
        Answer::read(response).await.with_context(|| request.line())
    }
}

impl Side {
    /// Lets upstream's cache see all writes so far before a request that it may answer for an earlier moment.
    pub(crate) async fn settle(&self, request: &Request) -> Result<()> {
        if !request.cached.is_empty() {
            self.ask(&Request::new("GET", request.cached.as_str()))
                .await?;
        }
        Ok(())
    }

    /// What the server says, which may be nothing: upstream breaks the connection where it meets what it did not think
    /// of, and goes on with the next.
    pub(crate) async fn answer(&self, request: &Request) -> Result<Answer> {
        let failed = match self.ask(request).await {
            Ok(answer) => return Ok(answer),
            Err(failed) => failed,
        };
        match self.ask(&Request::new("GET", "/livez")).await {
            Ok(_) => Ok(Answer::broken_off(&failed)),
            Err(_) => Err(failed),
        }
    }
}

/// Both servers; dropping them ends them.
pub(crate) struct Sides {
    pub(crate) theirs: Side,
    pub(crate) ours: Side,
    _cluster: Cluster,
    plane: Plane,
}

impl Sides {
    /// Starts both, without controllers and nodes: whatever happens is an answer to a request.
    pub(crate) async fn start() -> Result<Self> {
        let cluster = Cluster::start(ClusterOptions {
            // Ours has upstream's own default.
            apiserver_flags: vec!["--service-cluster-ip-range=10.96.0.0/12".to_owned()],
            ..ClusterOptions::default()
        })
        .await?;
        let options = PlaneOptions {
            listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))),
            nodes: 0,
            parts: Vec::new(),
            ..PlaneOptions::default()
        };
        let plane = Plane::start_with(options).await?;
        let kubeconfig = plane.kubeconfig()?.context("the plane does not listen")?;
        let kubeconfig = Kubeconfig::from_yaml(&kubeconfig)?;
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        Ok(Self {
            theirs: Side {
                client: cluster.admin().client().await?,
            },
            ours: Side {
                client: Client::try_from(config)?,
            },
            _cluster: cluster,
            plane,
        })
    }

    /// Ends both.
    pub(crate) async fn stop(self) {
        self.plane.stop().await;
    }
}
