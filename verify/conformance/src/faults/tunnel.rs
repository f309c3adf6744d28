//! A TCP tunnel on loopback between a manager and the API server, for trouble below HTTP.
//!
//! TLS passes through unread, so the manager keeps its own certificate. Connections can be cut, frozen, or held back
//! between accept and the first byte that is forwarded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::io::{AsyncReadExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::cluster::Cluster;
use crate::kubeconfig::Identity;

/// What becomes of connections, which are numbered in the order they are accepted.
#[derive(Debug, Clone, Copy, Default)]
struct Orders {
    /// Connections before this number are closed.
    cut_before: u64,
    /// Connections before this number are read from and never written to.
    frozen_before: u64,
    /// How long a new connection waits before anything is forwarded.
    stall: Duration,
}

/// A running tunnel. Dropping it closes every connection through it.
pub(super) struct Tunnel {
    port: u16,
    orders: watch::Sender<Orders>,
    accepted: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

impl Tunnel {
    /// Listens on a loopback port and forwards to the cluster's API server.
    pub(super) async fn start(cluster: &Cluster) -> Result<Self> {
        let target = cluster.server().trim_start_matches("https://").to_owned();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let port = listener.local_addr()?.port();
        let orders = watch::Sender::new(Orders::default());
        let accepted = Arc::new(AtomicU64::new(0));
        let accepting = accept(listener, target, orders.subscribe(), Arc::clone(&accepted));
        Ok(Self {
            port,
            orders,
            accepted,
            accepting: tokio::spawn(accepting),
        })
    }

    /// Writes a kubeconfig that leads through the tunnel and returns the flag that names it.
    pub(super) fn kubeconfig_flag(&self, cluster: &Cluster, identity: &Identity) -> Result<String> {
        let path = cluster
            .folder()
            .join(format!("tunnel-{}.kubeconfig", self.port));
        identity
            .write_kubeconfig(&path, &format!("https://127.0.0.1:{}", self.port))
            .context("the tunnel's kubeconfig")?;
        Ok(format!("--kubeconfig={}", path.display()))
    }

    /// Closes every connection there is.
    pub(super) fn cut(&self) {
        let next = self.accepted();
        self.orders.send_modify(|orders| orders.cut_before = next);
    }

    /// Freezes every connection there is: bytes are acknowledged and not forwarded, and sockets stay open.
    pub(super) fn freeze(&self) {
        let next = self.accepted();
        self.orders
            .send_modify(|orders| orders.frozen_before = next);
    }

    /// From now on holds new connections back for so long.
    pub(super) fn stall(&self, pause: Duration) {
        self.orders.send_modify(|orders| orders.stall = pause);
    }

    /// How many connections have been accepted.
    pub(super) fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Tunnel {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    target: String,
    orders: watch::Receiver<Orders>,
    accepted: Arc<AtomicU64>,
) {
    let mut connections = JoinSet::new();
    loop {
        // A connection that failed before it was accepted is the client's to try again.
        if let Ok((stream, _)) = listener.accept().await {
            let number = accepted.fetch_add(1, Ordering::SeqCst);
            connections.spawn(carry(stream, target.clone(), number, orders.clone()));
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Carries one connection until it ends or is cut. Errors are one side's leaving.
async fn carry(
    mut client: TcpStream,
    target: String,
    number: u64,
    mut orders: watch::Receiver<Orders>,
) {
    let stall = orders.borrow().stall;
    let mut cut = orders.clone();
    let forwarding = async {
        tokio::time::sleep(stall).await;
        let Ok(mut server) = TcpStream::connect(&target).await else {
            return;
        };
        tokio::select! {
            _ = copy_bidirectional(&mut client, &mut server) => return,
            _ = orders.wait_for(|orders| number < orders.frozen_before) => {}
        }
        tokio::select! {
            () = discard(&mut client) => {}
            () = discard(&mut server) => {}
        }
    };
    tokio::select! {
        () = forwarding => {}
        _ = cut.wait_for(|orders| number < orders.cut_before) => {}
    }
}

/// Reads until the other side closes.
async fn discard(stream: &mut TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(1..) = stream.read(&mut buffer).await {}
}
