//! One socket from accept to close: TLS, then HTTP/1.1 or HTTP/2 as the client chose, within bounds.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use flyball_https::{Connection, http1};
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::UnixTime;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::activity::{Activity, Watched};
use crate::certificates::Shown;
use crate::connections::Connections;
use crate::edge::serve;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::peer::Peer;
use crate::server::ApiServer;

/// How long a connection that has to leave may take for its farewell.
const LEAVE_GRACE: Duration = Duration::from_secs(1);

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) server: Arc<ApiServer>,
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) clients: Arc<dyn ClientCertVerifier>,
    pub(crate) limits: Limits,
    pub(crate) connections: Arc<Connections>,
    pub(crate) memory: Arc<Memory>,
}

/// Serves a socket until the client leaves, a limit is reached, or `closing` turns true and what was
/// asked for is answered.
pub(crate) async fn run(
    socket: TcpStream,
    shared: Arc<Shared>,
    activity: Arc<Activity>,
    closing: watch::Receiver<bool>,
) {
    let _ = socket.set_nodelay(true);
    let limits = &shared.limits;
    let stream = tokio::select! {
        stream = timeout(limits.head_timeout, secured(socket, &shared.acceptor)) => stream,
        () = activity.leave.notified() => return,
    };
    let Ok(Some(stream)) = stream else { return };
    let (_, session) = stream.get_ref();
    let shown = Shown::of(
        &*shared.clients,
        session.peer_certificates(),
        UnixTime::now(),
    );
    if matches!(shown, Shown::User(..)) {
        activity.note_user();
    }
    let peer = Peer {
        shown: Arc::new(shown),
        activity: activity.clone(),
        memory: shared.memory.clone(),
        closing: closing.clone(),
    };
    let is_http2 = session.alpn_protocol() == Some(b"h2");
    let service = {
        let server = shared.server.clone();
        service_fn(move |request: Request<Incoming>| {
            let in_progress = peer.activity.begin();
            let (server, peer) = (server.clone(), peer.clone());
            async move {
                let response = serve(&server, &peer, request).await;
                Ok::<_, Infallible>(response.map(|body| body.sent_to(peer, in_progress)))
            }
        })
    };
    let io = TokioIo::new(Watched::new(stream, activity.clone()));
    let ended = if is_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams_max)
            .max_header_list_size(limits.head_bytes_max)
            .initial_stream_window_size(limits.window_bytes)
            .initial_connection_window_size(limits.window_bytes.saturating_mul(4))
            .max_send_buf_size(limits.send_bytes_max)
            .serve_connection(io, service);
        drive(connection, &activity, limits, closing).await
    } else {
        let connection =
            http1(limits.head_timeout, limits.head_bytes_max).serve_connection(io, service);
        drive(connection, &activity, limits, closing).await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended early");
    }
}

/// The TLS handshake. `None` when there is nothing to go on with.
async fn secured(socket: TcpStream, acceptor: &TlsAcceptor) -> Option<TlsStream<TcpStream>> {
    match flyball_https::secure(socket, acceptor).await {
        Ok(stream) => stream,
        Err(error) => {
            tracing::info!(%error, "TLS handshake failed");
            None
        }
    }
}

/// What is to become of a connection that is looked at.
enum Verdict {
    /// It is looked at again at this time.
    Stays(Instant),
    /// It ends after what it is doing.
    Finishes,
    /// It is cut off.
    Ends,
}

fn judge(activity: &Activity, limits: &Limits) -> Verdict {
    let now = Instant::now();
    let passed = |since: Instant, time: Duration| now.duration_since(since) >= time;
    let stalled = activity.stalled_since();
    if stalled.is_some_and(|since| passed(since, limits.stall_timeout)) {
        return Verdict::Ends;
    }
    let idle = activity.idle_since();
    if idle.is_some_and(|since| passed(since, limits.idle_timeout)) {
        return Verdict::Finishes;
    }
    let next_idle = idle.map_or(now + limits.idle_timeout, |since| {
        since + limits.idle_timeout
    });
    let next_stalled = stalled.unwrap_or(now) + limits.stall_timeout;
    Verdict::Stays(next_idle.min(next_stalled))
}

async fn drive(
    connection: impl Connection,
    activity: &Activity,
    limits: &Limits,
    mut closing: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let mut connection = std::pin::pin!(connection);
    let mut look = std::pin::pin!(sleep_until(Instant::now() + limits.stall_timeout));
    let mut finishing = false;
    let mut grace = limits.stop_grace;
    loop {
        let finish = tokio::select! {
            ended = connection.as_mut() => return ended,
            // A sender that is gone means that the server is gone: the same as closing.
            _ = closing.wait_for(|closing| *closing), if !finishing => true,
            () = activity.leave.notified(), if !finishing => {
                // What it does is not waited for: its client may see to it that it never ends.
                if activity.idle_since().is_none() {
                    return Ok(());
                }
                grace = grace.min(LEAVE_GRACE);
                true
            }
            () = look.as_mut() => match judge(activity, limits) {
                _ if finishing => return Ok(()),
                Verdict::Ends => {
                    tracing::info!("a connection is cut off: its client makes no progress");
                    return Ok(());
                }
                Verdict::Finishes => true,
                Verdict::Stays(until) => {
                    look.as_mut().reset(until);
                    false
                }
            },
        };
        if finish {
            finishing = true;
            connection.as_mut().finish();
            look.as_mut().reset(Instant::now() + grace);
        }
    }
}
