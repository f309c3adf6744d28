//! One named client: requests in, bytes or classified errors out.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use flyball_api::ApiError;
use flyball_api::request::{Method, Request};
use http::HeaderMap;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, RETRY_AFTER,
    USER_AGENT,
};
use http_body_util::BodyExt;
use kube::Config;
use tokio::time::{Instant, timeout};
use tower::{BoxError, Service};

use crate::RateLimit;
use crate::credentials::TokenSource;
use crate::discover::Known;
use crate::load::{LoadError, chain};
use crate::observe::{Observer, RequestSeen};
use crate::permit::Permit;
use crate::request::http_method;
use crate::stream::WatchStream;
use crate::transport::{ResponseBody, Transport, over, transport};

/// What a request may take before it counts as lost. Upstream waits for ever; a wait that can
/// hang a worker is not bounded.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// More than any list page of 500 objects.
const BODY_BYTES_MAX: usize = 1 << 30;

/// How often a request is sent again because the server said when.
const RETRIES_MAX: usize = 10;

/// The longest wait a server may ask for.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);

/// A named client of one API server; cheap to clone.
#[derive(Clone)]
pub struct Client {
    transport: Transport,
    host: Arc<str>,
    agent: HeaderValue,
    limit: Option<Arc<RateLimit>>,
    tokens: Option<Arc<TokenSource>>,
    permit: Option<Arc<dyn Permit>>,
    observer: Option<Arc<dyn Observer>>,
    /// What the server was last found to have, for all clients of the same server.
    pub(crate) discovered: Arc<Mutex<Option<Known>>>,
}

/// A successful answer.
pub(crate) struct Success<B> {
    code: u16,
    /// By which the server knows its answer again; empty if it does not.
    pub(crate) tag: String,
    pub(crate) body: B,
}

impl<B> Success<B> {
    /// Whether the answer is the one that was known, and its body empty.
    pub(crate) fn is_known(&self) -> bool {
        self.code == NOT_MODIFIED
    }
}

const NOT_MODIFIED: u16 = 304;

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

    fn with(transport: Transport, host: &str, agent: &str) -> Result<Self, LoadError> {
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

    /// The same client, whose writes are sent only while `permit` says so.
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

    /// Sends a request and gives back the body of a successful answer.
    ///
    /// An answer that asks for patience (`Retry-After` on 429 or 5xx) is honoured up to ten times;
    /// every other failure is handed back at once.
    pub async fn send(&self, request: &Request) -> Result<Bytes, ApiError> {
        let answer = self.answer(request).await;
        answer.map(|success| success.body)
    }

    /// As [`Client::send`], with what else there is to an answer.
    pub(crate) async fn answer(&self, request: &Request) -> Result<Success<Bytes>, ApiError> {
        let mut tries = 0;
        loop {
            let held = self.hold().await;
            let sent = Instant::now();
            let answer = timeout(REQUEST_TIMEOUT, self.send_once(request)).await;
            let answer = answer.unwrap_or_else(|_| {
                Err(Failure::lost(format!(
                    "no answer from {} within {} s",
                    self.host,
                    REQUEST_TIMEOUT.as_secs()
                )))
            });
            self.note(request.method, &answer, sent.elapsed(), held);
            let failure = match answer {
                Ok(success) => return Ok(success),
                Err(failure) => failure,
            };
            match failure.wait {
                Some(wait) if tries < RETRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(wait.min(RETRY_AFTER_MAX)).await;
                }
                _ => return Err(failure.error),
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
        let held = self.hold().await;
        let sent = Instant::now();
        let answer = timeout(REQUEST_TIMEOUT, self.open(request)).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(Failure::lost(format!(
                "{} did not start the watch",
                self.host
            )))
        });
        self.note(Method::Get, &answer, sent.elapsed(), held);
        answer
            .map(|success| WatchStream::new(success.body))
            .map_err(|failure| failure.error)
    }

    async fn hold(&self) -> Duration {
        match &self.limit {
            Some(limit) => limit.wait().await,
            None => Duration::ZERO,
        }
    }

    async fn send_once(&self, request: &Request) -> Result<Success<Bytes>, Failure> {
        let Success { code, tag, body } = self.open(request).await?;
        let body = collect(body).await.map_err(Failure::lost)?;
        Ok(Success { code, tag, body })
    }

    /// Sends the request and gives back a successful answer, whose body is still to be read.
    async fn open(&self, request: &Request) -> Result<Success<ResponseBody>, Failure> {
        let mut http = http::Request::builder()
            .method(http_method(request.method))
            .uri(&request.path)
            .header(ACCEPT, HeaderValue::from_static(request.accept()))
            .header(USER_AGENT, &self.agent);
        if !request.body.is_empty() {
            let content_type = request.method.content_type();
            http = http.header(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        if !request.known.is_empty() {
            http = http.header(IF_NONE_MATCH, &request.known);
        }
        if let Some(tokens) = &self.tokens {
            let token = tokens
                .token()
                .await
                .map_err(|error| Failure { error, wait: None })?;
            http = http.header(AUTHORIZATION, token);
        }
        let http = http
            .body(request.body.clone())
            .map_err(|error| Failure::lost(format!("cannot build the request: {error}")))?;
        let forbidden = self
            .permit
            .as_ref()
            .is_some_and(|permit| !permit.may_write());
        if forbidden && request.method != Method::Get {
            let error = ApiError::terminal("not sent: this process may no longer write");
            return Err(Failure { error, wait: None });
        }
        let answer = self
            .transport
            .send(http)
            .await
            .map_err(|error| Failure::lost(unanswered(&self.host, &chain(error.as_ref()))))?;
        let code = answer.status().as_u16();
        let is_known = code == NOT_MODIFIED && !request.known.is_empty();
        if answer.status().is_success() || is_known {
            let tag = header(answer.headers(), ETAG).unwrap_or_default();
            let body = answer.into_body();
            return Ok(Success { code, tag, body });
        }
        if let (401, Some(tokens)) = (code, &self.tokens) {
            tokens.reset();
        }
        let retry_after = header(answer.headers(), RETRY_AFTER);
        let body = collect(answer.into_body()).await.unwrap_or_default();
        let error = ApiError::from_response(code, retry_after.as_deref(), &body);
        // The header alone asks for patience; without it the caller decides.
        let wait = retry_after
            .and_then(|seconds| seconds.trim().parse().ok())
            .filter(|_| code == 429 || code >= 500)
            .map(Duration::from_secs);
        Err(Failure { error, wait })
    }

    fn note<T>(
        &self,
        method: Method,
        answer: &Result<Success<T>, Failure>,
        took: Duration,
        held: Duration,
    ) {
        let Some(observer) = &self.observer else {
            return;
        };
        let code = match answer {
            Ok(success) => Some(success.code),
            Err(failure) => Some(failure.error.code()).filter(|code| *code != 0),
        };
        let method = http_method(method);
        observer.request(RequestSeen {
            method: method.as_str(),
            host: &self.host,
            code,
            took,
            held,
        });
    }
}

fn header(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    value.to_str().ok().map(str::to_owned)
}

struct Failure {
    error: ApiError,
    wait: Option<Duration>,
}

impl Failure {
    fn lost(reason: String) -> Self {
        Self {
            error: ApiError::transport(reason),
            wait: None,
        }
    }
}

/// Why there was no answer, and where to look when the reason alone does not say.
fn unanswered(host: &str, cause: &str) -> String {
    if cause.contains("invalid peer certificate") {
        return format!(
            "cannot trust {host}: {cause}; check certificate-authority in the kubeconfig"
        );
    }
    format!("no answer from {host}: {cause}")
}

async fn collect(mut body: ResponseBody) -> Result<Bytes, String> {
    let mut whole = Chunks::None;
    while let Some(frame) = body.frame().await {
        let frame =
            frame.map_err(|error| format!("reading the answer failed: {}", chain(&error)))?;
        if let Ok(chunk) = frame.into_data() {
            whole = whole.and(chunk);
        }
        if whole.len() > BODY_BYTES_MAX {
            return Err("reading the answer failed: it is larger than any answer".to_owned());
        }
    }
    Ok(whole.into_bytes())
}

/// What has arrived of a body. Most bodies arrive whole and need no copy.
enum Chunks {
    None,
    One(Bytes),
    More(BytesMut),
}

impl Chunks {
    fn and(self, chunk: Bytes) -> Self {
        match self {
            Self::None => Self::One(chunk),
            Self::One(first) => {
                let mut all = BytesMut::with_capacity(2 * (first.len() + chunk.len()));
                all.extend_from_slice(&first);
                all.extend_from_slice(&chunk);
                Self::More(all)
            }
            Self::More(mut all) => {
                all.extend_from_slice(&chunk);
                Self::More(all)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(chunk) => chunk.len(),
            Self::More(all) => all.len(),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::None => Bytes::new(),
            Self::One(chunk) => chunk,
            Self::More(all) => all.freeze(),
        }
    }
}
