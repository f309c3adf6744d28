//! Connections to one server, kept for the next request.
//!
//! A connection serves one request at a time and goes back when its answer has been read to the
//! end. The one used last is used next, so that under little load the others grow old and are
//! closed.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::Full;
use tokio::sync::watch;
use tokio::time::Instant;
use tower::BoxError;

use crate::connection::Connection;
use crate::permit;
use crate::pooled_body::PooledBody;
use crate::suspicion::Suspicion;

/// Connections kept for reuse: more than are ever under way, because closing one only to open the
/// next costs a TLS handshake, on the server's side too. Each costs some 50 kB until it times out.
const IDLE_CONNECTIONS_MAX: usize = 256;

/// How long a connection waits for its next request.
const IDLE_MAX: Duration = Duration::from_secs(30);

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
    suspicion: Suspicion,
}

/// A connection of the pool that is in use.
pub(crate) struct Leased {
    connection: Connection,
    generation: u64,
    pool: Arc<Pool>,
}

struct Idle {
    connection: Connection,
    generation: u64,
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
            suspicion: Suspicion::default(),
        })
    }

    /// The number of times that older connections were found suspect.
    pub(crate) fn connections_suspect(&self) -> watch::Receiver<u64> {
        self.suspicion.reports()
    }

    /// Sends a request, over a connection that is there already if there is one. A write is sent
    /// only if the permit attached to it still holds when the connection is ready.
    pub(crate) async fn send(
        self: Arc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<PooledBody>, BoxError> {
        let permit = permit::detach(&mut request);
        self.address(&mut request)?;
        // Each round but the last uses up an idle connection.
        loop {
            let idle = self.take();
            let reused = idle.is_some();
            let mut leased = match idle {
                Some(leased) => leased,
                None => self.open().await?,
            };
            match leased.connection.ready().await {
                Ok(()) => {}
                Err(_) if reused => continue,
                Err(error) => return Err(error.into()),
            }
            // Invariant: nothing is awaited between the answer of the permit and the hand-over.
            if let Err(refused) = permit::ask(permit.as_ref()) {
                leased.release();
                return Err(refused.into());
            }
            let answer = pin!(leased.connection.send(request));
            // Declared last and so dropped first: the connection is aborted before hyper learns
            // that the answer is no longer wanted and sends the rest of the request.
            let in_flight = InFlight::new(leased);
            let answer = tokio::select! {
                biased;
                answer = answer => answer,
                () = in_flight.is_hopeless() => return Err(Unanswered.into()),
            };
            match answer {
                Ok(answer) => {
                    let leased = in_flight.answered();
                    return Ok(answer.map(|body| PooledBody::new(body, leased)));
                }
                Err(mut error) => {
                    in_flight.failed();
                    match error.take_message() {
                        // The server had closed the connection; not a byte of the request was sent.
                        Some(unsent) if reused => request = unsent,
                        _ => return Err(error.into_error().into()),
                    }
                }
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

    async fn open(self: &Arc<Self>) -> Result<Leased, BoxError> {
        // Taken first: a connection that began to open before a request was given up is as
        // suspect as the others.
        let generation = self.suspicion.generation();
        Ok(Leased {
            connection: (self.connect)().await?,
            generation,
            pool: self.clone(),
        })
    }

    fn take(self: &Arc<Self>) -> Option<Leased> {
        let mut idle = self.idle();
        while let Some(last) = idle.pop() {
            if last.since.elapsed() >= IDLE_MAX {
                // Those below have waited longer.
                idle.clear();
                return None;
            }
            if !last.connection.is_closed() {
                return Some(Leased {
                    connection: last.connection,
                    generation: last.generation,
                    pool: self.clone(),
                });
            }
        }
        None
    }

    fn put(&self, connection: Connection, generation: u64) {
        if connection.is_closed() {
            return;
        }
        let mut idle = self.idle();
        if generation < self.suspicion.generation() {
            return;
        }
        let since = Instant::now();
        let old = idle
            .iter()
            .take_while(|one| since - one.since >= IDLE_MAX)
            .count();
        idle.drain(..old);
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.push(Idle {
                connection,
                generation,
                since,
            });
        }
    }

    /// Records a request given up without an answer. If that makes the connections so far
    /// suspect, the idle ones are closed: the next request would only hang on one of them.
    fn given_up(&self, generation: u64, handed_over: Instant) {
        if self.suspicion.given_up(generation, handed_over) {
            let current = self.suspicion.generation();
            self.idle().retain(|one| one.generation >= current);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leased {
    /// Gives the connection back for the next request.
    pub(crate) fn release(self) {
        self.pool.put(self.connection, self.generation);
    }
}

/// A request handed to a connection, until the head of its answer is there. Dropped before, the
/// request is given up.
struct InFlight {
    leased: Option<Leased>,
    handed_over: Instant,
}

impl InFlight {
    fn new(leased: Leased) -> Self {
        Self {
            leased: Some(leased),
            handed_over: Instant::now(),
        }
    }

    fn answered(mut self) -> Option<Leased> {
        let leased = self.leased.take();
        if let Some(leased) = &leased {
            leased.pool.suspicion.answered(leased.generation);
        }
        leased
    }

    fn failed(mut self) {
        self.leased = None;
    }

    async fn is_hopeless(&self) {
        if let Some(leased) = &self.leased {
            let suspicion = &leased.pool.suspicion;
            suspicion
                .is_hopeless(leased.generation, self.handed_over)
                .await;
        }
    }
}

/// The request was sent over a connection that brings no answers.
#[derive(Debug, thiserror::Error)]
#[error("the connection brings no answers, newer ones do")]
struct Unanswered;

impl Drop for InFlight {
    fn drop(&mut self) {
        if let Some(leased) = self.leased.take() {
            leased.connection.abort();
            leased.pool.given_up(leased.generation, self.handed_over);
        }
    }
}
