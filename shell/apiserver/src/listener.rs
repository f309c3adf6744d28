//! HTTPS: sockets in, and a place for each as long as there is one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use crate::activity::Activity;
use crate::authority::Tls;
use crate::connection::{self, Shared};
use crate::connections::Connections;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::server::ApiServer;

/// The pause after a failed accept: it is usually a lack of file descriptors, which does not pass at
/// once.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How often a connection is looked for that has to leave while all places are taken.
const FULL_PAUSE: Duration = Duration::from_millis(50);

/// A server that listens. Dropping it ends it at once.
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    accepting: JoinHandle<()>,
    closing: watch::Sender<bool>,
    #[cfg(test)]
    pub(crate) memory: Arc<Memory>,
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
    let connections = Arc::new(Connections::default());
    let shared = Arc::new(Shared {
        server: server.clone(),
        acceptor: TlsAcceptor::from(tls.config),
        clients: tls.clients,
        limits,
        memory: Memory::new(
            (limits.memory_bytes_max, limits.connection_bytes_max),
            &connections,
        ),
        connections,
    });
    #[cfg(test)]
    let memory = shared.memory.clone();
    let accepting = tokio::spawn(accept_until(socket, shared, closed));
    Ok(Listening {
        address,
        accepting,
        closing,
        #[cfg(test)]
        memory,
        server,
    })
}

/// The task of a connection, and that it has come to an end.
fn ended(ended: Result<(Id, ()), JoinError>) -> Id {
    match ended {
        Ok((id, ())) => id,
        Err(error) => {
            tracing::error!(%error, "a connection ended abnormally");
            error.id()
        }
    }
}

/// Accepts until the server closes, then sees the connections out.
async fn accept_until(socket: TcpListener, shared: Arc<Shared>, mut closed: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    let (connections, most) = (&shared.connections, shared.limits.connections_max);
    // Some places stay free for those who come while others leave.
    let crowded = most - most.div_ceil(16);
    let connection_closed = closed.clone();
    loop {
        let has_room = connections.len() < most;
        tokio::select! {
            () = async { _ = closed.wait_for(|closed| *closed).await } => break,
            Some(task) = tasks.join_next_with_id() => connections.remove(ended(task)),
            () = sleep(FULL_PAUSE), if !has_room => connections.make_room(),
            accepted = socket.accept(), if has_room => match accepted {
                Ok((stream, _)) => {
                    let activity = Activity::new();
                    let task = tasks.spawn(connection::run(
                        stream,
                        shared.clone(),
                        activity.clone(),
                        connection_closed.clone(),
                    ));
                    if connections.len() >= crowded {
                        connections.make_room();
                    }
                    connections.insert(task.id(), activity);
                }
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    // Where there are fewer file descriptors than places, those are what is lacking.
                    connections.make_room();
                    sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
    drop(socket);
    let all_gone = async { while tasks.join_next().await.is_some() {} };
    if timeout(shared.limits.stop_grace, all_gone).await.is_err() {
        let left = tasks.len();
        tracing::warn!(
            connections = left,
            "cutting off connections that did not end"
        );
        tasks.shutdown().await;
    }
}
