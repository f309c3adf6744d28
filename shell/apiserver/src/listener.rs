//! HTTPS: sockets in, answers out, within bounds.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::UnixTime;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use crate::authority::Tls;
use crate::certificates::Shown;
use crate::edge::serve;
use crate::server::ApiServer;

/// Connections at once; who comes later waits.
const CONNECTIONS_MAX: usize = 4096;

/// How long a client may take for its handshake and for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// A server that listens. Dropping it ends it at once.
pub struct Listening {
    /// Where.
    pub address: SocketAddr,
    accepting: JoinHandle<()>,
    closing: watch::Sender<bool>,
    server: Arc<ApiServer>,
}

impl Listening {
    /// Takes no new connections and ends those that there are.
    pub async fn stop(self) {
        self.server.begin_stop();
        self.closing.send_replace(true);
        self.accepting.abort();
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
    let address = socket.local_addr()?;
    let (closing, closed) = watch::channel(false);
    let (acceptor, clients) = (TlsAcceptor::from(tls.config), tls.clients);
    let listened_for = server.clone();
    let accepting = tokio::spawn(async move {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            // Never closed, so there is a place in the end.
            let Ok(place) = places.clone().acquire_owned().await else {
                return;
            };
            match socket.accept().await {
                Ok((stream, _)) => {
                    let (server, acceptor, closed) =
                        (server.clone(), acceptor.clone(), closed.clone());
                    let clients = clients.clone();
                    tokio::spawn(async move {
                        connection(server, (acceptor, clients), stream, closed).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection failed");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    });
    Ok(Listening {
        address,
        accepting,
        closing,
        server: listened_for,
    })
}

async fn connection(
    server: Arc<ApiServer>,
    (acceptor, clients): (TlsAcceptor, Arc<dyn ClientCertVerifier>),
    stream: TcpStream,
    mut closed: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let stream = match timeout(HEAD_TIMEOUT, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::info!(%error, "TLS handshake failed");
            return;
        }
        Err(_) => return,
    };
    let (_, session) = stream.get_ref();
    let shown = Shown::of(&*clients, session.peer_certificates(), UnixTime::now());
    let shown = Arc::new(shown);
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    let service = service_fn(move |request: Request<Incoming>| {
        let (server, shown) = (server.clone(), shown.clone());
        async move { Ok::<_, Infallible>(serve(&server, &shown, request).await) }
    });
    let io = TokioIo::new(stream);
    let ended = if is_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(250)
            .serve_connection(io, service);
        tokio::select! {
            ended = connection => ended,
            _ = closed.wait_for(|closed| *closed) => Ok(()),
        }
    } else {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(io, service);
        tokio::select! {
            ended = connection => ended,
            _ = closed.wait_for(|closed| *closed) => Ok(()),
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended early");
    }
}
