//! HTTPS: sockets in, and a place for each as long as there is one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{Id, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::activity::Activity;
use crate::authority::Tls;
use crate::connection::{self, Shared};
use crate::limits::Limits;
use crate::server::ApiServer;

/// The pause after a failed accept: it is usually a lack of file descriptors, which does not pass at
/// once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server that listens. Dropping it ends it at once.
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    accepting: JoinHandle<()>,
    closing: watch::Sender<bool>,
    server: Arc<ApiServer>,
}

impl Listening {
    /// Takes no new connections, ends watches, lets what was asked for be answered, and then ends the
    /// connections that there are. It takes a bounded time.
    pub async fn stop(mut self) {
        self.server.begin_stop();
        self.closing.send_replace(true);
        if let Err(error) = (&mut self.accepting).await {
            tracing::error!(%error, "the listener ended abnormally");
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.closing.send_replace(true);
        self.accepting.abort();
    }
}

/// Serves on a socket that is bound already.
pub fn listen(server: Arc<ApiServer>, socket: TcpListener, tls: Tls) -> std::io::Result<Listening> {
    listen_within(server, socket, tls, Limits::default())
}

/// Serves within these bounds.
pub(crate) fn listen_within(
    server: Arc<ApiServer>,
    socket: TcpListener,
    tls: Tls,
    limits: Limits,
) -> std::io::Result<Listening> {
    let address = socket.local_addr()?;
    let (closing, closed) = watch::channel(false);
    let shared = Arc::new(Shared {
        server: server.clone(),
        acceptor: TlsAcceptor::from(tls.config),
        clients: tls.clients,
        limits,
    });
    let accepting = tokio::spawn(accept_until(socket, shared, closed));
    Ok(Listening {
        address,
        accepting,
        closing,
        server,
    })
}

/// Connections and what is known of them.
#[derive(Default)]
struct Connections {
    tasks: JoinSet<()>,
    known: std::collections::HashMap<Id, Arc<Activity>>,
}

impl Connections {
    fn ended(&mut self, ended: Result<(Id, ()), tokio::task::JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                tracing::error!(%error, "a connection ended abnormally");
                error.id()
            }
        };
        self.known.remove(&id);
    }

    /// Asks the connection that is idle the longest to leave.
    fn make_room(&self) {
        let idle = self.known.values();
        let idle = idle.filter_map(|activity| Some((activity.idle_since()?, activity)));
        if let Some((_, activity)) = idle.min_by_key(|(since, _)| *since) {
            activity.leave.notify_one();
        }
    }
}

/// Accepts until the server closes, then sees the connections out.
async fn accept_until(socket: TcpListener, shared: Arc<Shared>, mut closed: watch::Receiver<bool>) {
    let mut connections = Connections::default();
    let connection_closed = closed.clone();
    loop {
        let has_room = connections.known.len() < shared.limits.connections_max;
        tokio::select! {
            () = async { _ = closed.wait_for(|closed| *closed).await } => break,
            Some(ended) = connections.tasks.join_next_with_id() => connections.ended(ended),
            accepted = socket.accept(), if has_room => match accepted {
                Ok((stream, _)) => {
                    let activity = Activity::new();
                    let task = connections.tasks.spawn(connection::run(
                        stream,
                        shared.clone(),
                        activity.clone(),
                        connection_closed.clone(),
                    ));
                    connections.known.insert(task.id(), activity);
                    if connections.known.len() >= shared.limits.connections_max {
                        connections.make_room();
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(socket);
    let all_gone = async { while connections.tasks.join_next().await.is_some() {} };
    if timeout(shared.limits.stop_grace, all_gone).await.is_err() {
        let left = connections.tasks.len();
        tracing::warn!(
            connections = left,
            "cutting off connections that did not end"
        );
        connections.tasks.shutdown().await;
    }
}
