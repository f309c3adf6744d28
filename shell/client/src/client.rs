//! One named client: requests in, bytes or classified errors out.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use flyball_api::ApiError;
use flyball_api::request::Request;
use http::header::HeaderValue;
use kube::Config;
use tokio::sync::watch;
use tokio::time::sleep;
use tower::{BoxError, Service};

use crate::RateLimit;
use crate::credentials::TokenSource;
use crate::discover::Known;
use crate::exchange::{Failure, Success};
use crate::load::LoadError;
use crate::observe::Observer;
use crate::permit::Permit;
use crate::stream::WatchStream;
use crate::transport::{Transport, over, transport};

/// How often a request is sent again because the server said when.
const RETRIES_MAX: usize = 10;

/// The longest wait a server may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// A named client of one API server; cheap to clone.
#[derive(Clone)]
pub struct Client {
    pub(crate) transport: Transport,
    pub(crate) host: Arc<str>,
    pub(crate) agent: HeaderValue,
    pub(crate) limit: Option<Arc<RateLimit>>,
    pub(crate) tokens: Option<Arc<TokenSource>>,
    pub(crate) permit: Option<Arc<dyn Permit>>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// What the server was last found to have, for all clients of the same server.
    pub(crate) discovered: Arc<Mutex<Option<Known>>>,
}

impl Client {
    /// A client for the server of `config`, introducing itself as `agent`.
    pub fn new(config: &Config, agent: &str) -> Result<Self, LoadError> {
        let host = config
            .cluster_url
            .authority()
            .map(|a| a.as_str())
            .unwrap_or_default();
        Self::with(transport(config)?, host, agent)
    }

    /// A client over any HTTP service: another transport, or a server within the same process.
    /// Requests have paths only; `host` is what metrics and messages call the server.
    pub fn over<S, B>(service: S, host: &str, agent: &str) -> Result<Self, LoadError>
    where
        S: Service<http::Request<Bytes>, Response = http::Response<B>, Future: Send>,
        S: Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        Self::with(over(service), host, agent)
    }

    pub(crate) fn with(transport: Transport, host: &str, agent: &str) -> Result<Self, LoadError> {
        let agent = HeaderValue::from_str(agent).map_err(|error| LoadError::Setup {
            server: host.to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self {
            transport,
            host: host.into(),
            agent,
            limit: None,
            tokens: None,
            permit: None,
            observer: None,
            discovered: Arc::default(),
        })
    }

    /// The same connection pool under another name and with a rate limit of its own.
    pub fn named(&self, agent: &str, limit: Option<RateLimit>) -> Self {
        let agent = HeaderValue::from_str(agent).unwrap_or_else(|_| self.agent.clone());
        Self {
            agent,
            limit: limit.map(Arc::new),
            ..self.clone()
        }
    }

    /// The same client, counted by `observer`.
    pub fn observed(self, observer: Arc<dyn Observer>) -> Self {
        Self {
            observer: Some(observer),
            ..self
        }
    }

    /// The same client, whose writes are sent only while `permit` lasts. A write under way when it
    /// ends is given up, and its connection closed.
    pub fn permitted(self, permit: Arc<dyn Permit>) -> Self {
        Self {
            permit: Some(permit),
            ..self
        }
    }

    /// The same client, with the token of a service account on each request.
    pub(crate) fn with_tokens(self, tokens: Arc<TokenSource>) -> Self {
        Self {
            tokens: Some(tokens),
            ..self
        }
    }

    /// The number of times that the connections so far were found suspect, growing by one at most
    /// every 20 seconds. It is shared by all clients with the same connections.
    ///
    /// They are suspect when a request got no answer for two seconds and was given up, and then a
    /// connection opened later brought an answer. Requests use new connections from then on. A
    /// watch that is being read over an older one may be dead: its reader opens it again.
    pub fn connections_suspect(&self) -> watch::Receiver<u64> {
        self.transport.connections_suspect()
    }

    /// Whether it reaches the server over connections, which may die.
    pub fn has_connections(&self) -> bool {
        self.transport.has_connections()
    }

    /// Sends a request and gives back the body of a successful answer.
    ///
    /// An answer that asks for patience (`Retry-After` on 429 or 5xx) is honoured up to ten times;
    /// every other failure is handed back at once.
    pub async fn send(&self, request: &Request) -> Result<Bytes, ApiError> {
        let answer = self.answer(request).await;
        answer.map(|success| success.body)
    }

    /// Sends a request as [`Client::send`] does, but once: an answer that asks for patience is
    /// handed back, and the error's [`retry_after`](ApiError::retry_after) has the wait.
    pub async fn send_once(&self, request: &Request) -> Result<Bytes, ApiError> {
        let answer = self.exchange(request).await;
        let answer = answer.map(|success| success.body);
        answer.map_err(|failure| failure.error)
    }

    /// As [`Client::send`], with what else there is to an answer.
    pub(crate) async fn answer(&self, request: &Request) -> Result<Success<Bytes>, ApiError> {
        let mut tries = 0;
        loop {
            let failure = match self.exchange(request).await {
                Ok(success) => return Ok(success),
                Err(failure) => failure,
            };
            let wait = match failure.wait {
                Some(wait) if tries < RETRIES_MAX => sleep(wait.min(RETRY_AFTER_MAX)),
                _ => return Err(failure.error),
            };
            tries += 1;
            if self.while_permitted(request.method, wait).await.is_none() {
                return Err(Failure::not_sent().error);
            }
        }
    }

    /// Opens a watch; its answer's head must come soon, its lines may take their time.
    pub async fn watch(&self, path: &str) -> Result<WatchStream, ApiError> {
        self.watch_by(&Request::get(path)).await
    }

    /// As [`Client::watch`], told of no more than the metadata of each object.
    pub async fn watch_metadata(&self, path: &str) -> Result<WatchStream, ApiError> {
        self.watch_by(&Request::get(path).metadata_only()).await
    }

    async fn watch_by(&self, request: &Request) -> Result<WatchStream, ApiError> {
        let answer = self.exchange_head(request).await;
        answer
            .map(|success| WatchStream::new(success.body))
            .map_err(|failure| failure.error)
    }
}
