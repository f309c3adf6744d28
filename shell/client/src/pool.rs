//! Connections to one server, kept for the next request.
//!
//! A connection serves one request at a time and goes back when its answer has been read to the
//! end. The one used last is used next, so that under little load the others grow old and are
//! closed.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use tower::BoxError;

/// Connections kept for reuse: more than are ever under way, because closing one only to open the
/// next costs a TLS handshake, on the server's side too. Each costs some 50 kB until it times out.
const IDLE_CONNECTIONS_MAX: usize = 256;

/// How long a connection waits for its next request.
const IDLE_MAX: Duration = Duration::from_secs(30);

/// One end of a connection over which requests are sent.
pub(crate) type Connection = SendRequest<Full<Bytes>>;

/// Opens a connection.
pub(crate) type Connect =
    Box<dyn Fn() -> BoxFuture<'static, Result<Connection, BoxError>> + Send + Sync>;

/// The connections to one server.
pub(crate) struct Pool {
    connect: Connect,
    host: HeaderValue,
    /// What stands before every path; empty for most servers.
    prefix: String,
    idle: Mutex<Vec<Idle>>,
}

struct Idle {
    connection: Connection,
    since: Instant,
}

impl Pool {
    /// A pool of connections that `connect` opens to `server`.
    pub(crate) fn new(server: &Uri, connect: Connect) -> Result<Self, http::Error> {
        let host = server.authority().map_or("", |authority| {
            // Credentials in an address are for the connection, not for the header.
            authority.as_str().rsplit('@').next().unwrap_or_default()
        });
        Ok(Self {
            connect,
            host: HeaderValue::from_str(host)?,
            prefix: server.path().trim_end_matches('/').to_owned(),
            idle: Mutex::default(),
        })
    }

    /// Sends a request, over a connection that is there already if there is one.
    pub(crate) async fn send(
        self: Arc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<PooledBody>, BoxError> {
        self.address(&mut request)?;
        // Each round but the last uses up an idle connection.
        loop {
            let idle = self.take();
            let reused = idle.is_some();
            let mut connection = match idle {
                Some(connection) => connection,
                None => (self.connect)().await?,
            };
            if reused && connection.ready().await.is_err() {
                continue;
            }
            match connection.try_send_request(request).await {
                Ok(answer) => {
                    return Ok(answer.map(|body| PooledBody {
                        body,
                        connection: Some((connection, self)),
                    }));
                }
                // The server closed it while nobody looked; not a byte of the request was sent.
                Err(mut error) => match error.take_message() {
                    Some(unsent) if reused => request = unsent,
                    _ => return Err(error.into_error().into()),
                },
            }
        }
    }

    fn address(&self, request: &mut Request<Full<Bytes>>) -> Result<(), BoxError> {
        if !self.prefix.is_empty() {
            let path = request
                .uri()
                .path_and_query()
                .map_or("/", PathAndQuery::as_str);
            *request.uri_mut() = format!("{}{path}", self.prefix).parse()?;
        }
        request.headers_mut().insert(HOST, self.host.clone());
        Ok(())
    }

    fn take(&self) -> Option<Connection> {
        let mut idle = self.idle();
        while let Some(Idle { connection, since }) = idle.pop() {
            if since.elapsed() >= IDLE_MAX {
                // Those below have waited longer.
                idle.clear();
                return None;
            }
            if !connection.is_closed() {
                return Some(connection);
            }
        }
        None
    }

    fn put(&self, connection: Connection) {
        if connection.is_closed() {
            return;
        }
        let mut idle = self.idle();
        let since = Instant::now();
        let old = idle
            .iter()
            .take_while(|one| since - one.since >= IDLE_MAX)
            .count();
        idle.drain(..old);
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(Idle { connection, since });
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The body of an answer; at its end the connection goes back to the pool. Dropped before, the
/// connection is closed: what is left of the answer would be taken for the next one.
pub(crate) struct PooledBody {
    body: Incoming,
    connection: Option<(Connection, Arc<Pool>)>,
}

impl PooledBody {
    fn release(&mut self) {
        if let Some((connection, pool)) = self.connection.take() {
            pool.put(connection);
        }
    }
}

impl Body for PooledBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.release();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(io::Error::other)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for PooledBody {
    fn drop(&mut self) {
        if self.body.is_end_stream() {
            self.release();
        }
    }
}
