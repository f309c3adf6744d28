//! One socket from accept to close: TLS, then HTTP/1.1 or HTTP/2 as the client chose, with a bound on every wait.
//!
//! | the client… | …is cut off after |
//! |---|---|
//! | does not finish the TLS handshake | `head_timeout` |
//! | does not finish a request head (HTTP/1.1) | `head_timeout` |
//! | has no request in progress, or does not read its answer | `idle_timeout`, then `request_timeout` to finish |
//! | is anonymous and speaks HTTP/2 | its first answers, as upstream does against stream floods |

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flyball_https::{Connection, http1};
use http::{Request, Version};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls_pki_types::CertificateDer;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::dispatch::Dispatcher;
use crate::options::Limits;
use crate::reply::Body;
use crate::tls::LiveTls;

/// What every connection shares.
pub(crate) struct Shared {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) tls: Arc<LiveTls>,
    pub(crate) limits: Limits,
    pub(crate) http2_max_streams: u32,
}

/// Serves `socket` until the client leaves, a limit is reached, or `closing` turns true and requests are done.
pub(crate) async fn run(socket: TcpStream, shared: Arc<Shared>, closing: watch::Receiver<bool>) {
    let _ = socket.set_nodelay(true);
    let stream = timeout(shared.limits.head_timeout, secured(socket, &shared.tls)).await;
    let Ok(Some(stream)) = stream else { return };
    let (_, session) = stream.get_ref();
    let certificates = session.peer_certificates().unwrap_or_default();
    let peer: Arc<[CertificateDer<'static>]> = certificates.to_vec().into();
    let speaks_http2 = session.alpn_protocol() == Some(b"h2");

    let activity = Arc::new(Activity::new());
    let service = {
        let (dispatcher, activity) = (shared.dispatcher.clone(), activity.clone());
        service_fn(move |request: Request<Incoming>| {
            let request_done = Activity::begin(&activity);
            let (dispatcher, peer, activity) = (dispatcher.clone(), peer.clone(), activity.clone());
            async move {
                let over_http2 = request.version() == Version::HTTP_2;
                let answer = dispatcher.answer(peer, request).await;
                if over_http2 && !answer.caller_is_known {
                    activity.leave.notify_one();
                }
                drop(request_done);
                Ok::<http::Response<Body>, std::convert::Infallible>(answer.response)
            }
        })
    };
    let limits = &shared.limits;
    let io = TokioIo::new(stream);
    let ended = if speaks_http2 {
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_concurrent_streams(shared.http2_max_streams)
            .max_header_list_size(limits.head_bytes_max)
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
async fn secured(socket: TcpStream, tls: &LiveTls) -> Option<TlsStream<TcpStream>> {
    match flyball_https::secure(socket, &TlsAcceptor::from(tls.current())).await {
        Ok(stream) => stream,
        Err(error) => {
            tracing::debug!(%error, "TLS handshake error");
            None
        }
    }
}

async fn drive(
    connection: impl Connection,
    activity: &Activity,
    limits: &Limits,
    mut closing: watch::Receiver<bool>,
) -> hyper::Result<()> {
    let mut connection = std::pin::pin!(connection);
    let idle_until = activity.idle_until(limits.idle_timeout);
    let mut deadline = std::pin::pin!(sleep_until(idle_until));
    let mut finishing = false;
    loop {
        let finish = tokio::select! {
            ended = connection.as_mut() => return ended,
            // A sender that is gone means the server is gone: the same as closing.
            _ = closing.wait_for(|closing| *closing), if !finishing => true,
            () = activity.leave.notified(), if !finishing => true,
            () = deadline.as_mut() => {
                if finishing {
                    return Ok(());
                }
                let idle_until = activity.idle_until(limits.idle_timeout);
                deadline.as_mut().reset(idle_until);
                idle_until <= Instant::now()
            }
        };
        if finish {
            finishing = true;
            connection.as_mut().finish();
            deadline
                .as_mut()
                .reset(Instant::now() + limits.request_timeout);
        }
    }
}

/// What is going on on a connection.
struct Activity {
    requests: AtomicUsize,
    last_done: Mutex<Instant>,
    leave: Notify,
}

/// A request in progress; it ends when this is dropped, also when the client gives up.
struct InProgress(Arc<Activity>);

impl Activity {
    fn new() -> Self {
        Self {
            requests: AtomicUsize::new(0),
            last_done: Mutex::new(Instant::now()),
            leave: Notify::new(),
        }
    }

    fn begin(activity: &Arc<Self>) -> InProgress {
        activity.requests.fetch_add(1, Ordering::SeqCst);
        InProgress(activity.clone())
    }

    /// The moment from which the connection counts as idle, if nothing happens until then.
    fn idle_until(&self, idle_timeout: Duration) -> Instant {
        if self.requests.load(Ordering::SeqCst) > 0 {
            return Instant::now() + idle_timeout;
        }
        *self
            .last_done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            + idle_timeout
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        *self
            .0
            .last_done
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.requests.fetch_sub(1, Ordering::SeqCst);
    }
}
