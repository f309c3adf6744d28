//! A plain-HTTP proxy on loopback between a manager and the API server, for trouble on the wire.
//!
//! It acts in one user's name towards the server, so the audit log still tells who asked. Watches can be made to
//! lag, one resource at a time can be served nonsense, and so can discovery, and reads can be refused as an overloaded
//! server does, and objects can be changed before a write reaches them; everything else passes through unchanged.

mod confusion;
mod mischief;
mod relay;
mod rival;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::cluster::Cluster;
use crate::kubeconfig::Identity;
pub(super) use confusion::Confusion;
pub(super) use mischief::Mischief;
pub(super) use relay::GRAFTED;
use relay::Relay;
pub(super) use rival::Rival;

/// How the proxy behaves at the moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Mood {
    /// How much later than the server says it a watch's line arrives.
    pub(super) watch_lag: Duration,
    /// The only resource whose watches lag; all of them if there is none.
    pub(super) lagging: Option<&'static str>,
    /// End all watches but those of Leases, and answer every list and watch with 429 and this `Retry-After`.
    pub(super) overload: Option<&'static str>,
    /// What is done to one resource's lists and watches.
    pub(super) mischief: Option<(&'static str, Mischief)>,
    /// What is done to the documents of discovery.
    pub(super) confusion: Option<Confusion>,
    /// Put a field that no schema has into every pod template on its way to the manager.
    pub(super) graft: bool,
    /// Change an object before a write to it.
    pub(super) rival: Option<Rival>,
}

impl Mood {
    /// The lag of a resource's watches.
    fn lag_of(&self, resource: &str) -> Duration {
        match self.lagging {
            Some(only) if only != resource => Duration::ZERO,
            _ => self.watch_lag,
        }
    }

    /// The `Retry-After` that lists and watches of a resource are refused with.
    fn overload_of(&self, resource: &str) -> Option<&'static str> {
        self.overload.filter(|_| resource != "leases")
    }

    fn mischief_for(&self, resource: &str) -> Option<Mischief> {
        let (afflicted, mischief) = self.mischief?;
        (afflicted == resource).then_some(mischief)
    }
}

/// An object that the manager asked the server to create.
#[derive(Debug, Clone)]
pub(super) struct Posted {
    pub(super) resource: String,
    pub(super) body: Bytes,
}

/// What all connections of the proxy share.
struct Shared {
    client: kube::Client,
    mood: watch::Receiver<Mood>,
    posted: Mutex<Vec<Posted>>,
}

/// A running proxy. Dropping it closes every connection through it.
pub(super) struct Proxy {
    address: String,
    mood: watch::Sender<Mood>,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a loopback port and forwards as `identity`.
    pub(super) async fn start(identity: &Identity) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}", listener.local_addr()?);
        let mood = watch::Sender::new(Mood::default());
        let shared = Arc::new(Shared {
            client: identity.client().await?,
            mood: mood.subscribe(),
            posted: Mutex::default(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            mood,
            shared,
            accepting,
        })
    }

    /// Writes a kubeconfig that leads through the proxy and returns the flag that names it.
    pub(super) fn kubeconfig_flag(&self, cluster: &Cluster, identity: &Identity) -> Result<String> {
        let port = self.address.rsplit(':').next().context("no port")?;
        let path = cluster.folder().join(format!("proxied-{port}.kubeconfig"));
        identity.write_kubeconfig(&path, &self.address)?;
        Ok(format!("--kubeconfig={}", path.display()))
    }

    /// From now on behaves like this; watches under way notice at once.
    pub(super) fn set(&self, mood: Mood) {
        self.mood.send_replace(mood);
    }

    /// What the manager asked to create so far.
    pub(super) fn posted(&self) -> Vec<Posted> {
        self.shared
            .posted
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        // A connection that failed before it was accepted is the client's to try again.
        if let Ok((stream, _)) = listener.accept().await {
            connections.spawn(serve(stream, Arc::clone(&shared)));
        }
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let relay = Relay {
            shared: Arc::clone(&shared),
        };
        async move { relay.answer(request).await }
    });
    // Errors are the peer's leaving; mischief leaves no other way to say so either.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
