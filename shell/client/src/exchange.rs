//! One request and its answer, within the bounds of rate, time and permit.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flyball_api::ApiError;
use flyball_api::request::{Method, Request};
use http::HeaderMap;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, RETRY_AFTER,
    USER_AGENT,
};
use tokio::time::{Instant, timeout};

use crate::Client;
use crate::body::collect;
use crate::load::chain;
use crate::observe::RequestSeen;
use crate::permit::{self, NotPermitted, Permit};
use crate::request::http_method;
use crate::transport::ResponseBody;

/// What a request may take before it counts as lost. Upstream waits for ever; a wait that can
/// hang a worker is not bounded.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

const NOT_MODIFIED: u16 = 304;

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

/// An error, and the wait after which the server wants the request again.
pub(crate) struct Failure {
    pub(crate) error: ApiError,
    pub(crate) wait: Option<Duration>,
}

impl Failure {
    /// A write that was not sent, because its permit had ended.
    pub(crate) fn not_sent() -> Self {
        ApiError::terminal("not sent: this process may no longer write").into()
    }

    fn lost(reason: String) -> Self {
        ApiError::transport(reason).into()
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self { error, wait: None }
    }
}

impl Client {
    /// Sends a request once and reads its answer to the end. A write under way when its permit
    /// ends is given up, and its connection closed.
    pub(crate) async fn exchange(&self, request: &Request) -> Result<Success<Bytes>, Failure> {
        let method = request.method;
        // A permit that has ended is no reason to open a connection.
        if permit::ask(self.permit_of(method)).is_err() {
            return Err(Failure::not_sent());
        }
        let Some(held) = self.while_permitted(method, self.hold()).await else {
            return Err(Failure::not_sent());
        };
        let sent = Instant::now();
        // Pinned here, because a future that is passed on by value takes its room twice.
        let answer = pin!(timeout(REQUEST_TIMEOUT, self.fetch(request)));
        let answer = match self.while_permitted(method, answer).await {
            Some(Ok(answer)) => answer,
            Some(Err(_)) => Err(Failure::lost(format!(
                "no answer from {} within {} s",
                self.host,
                REQUEST_TIMEOUT.as_secs()
            ))),
            None => {
                let reason = "given up: this process may no longer write";
                Err(Failure::lost(reason.to_owned()))
            }
        };
        self.note(method, &answer, sent.elapsed(), held);
        answer
    }

    /// Sends a read once and gives back its answer's head, with the body still to be read.
    pub(crate) async fn exchange_head(
        &self,
        request: &Request,
    ) -> Result<Success<ResponseBody>, Failure> {
        let held = self.hold().await;
        let sent = Instant::now();
        let answer = timeout(REQUEST_TIMEOUT, self.open(request)).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(Failure::lost(format!(
                "{} did not start the watch",
                self.host
            )))
        });
        self.note(request.method, &answer, sent.elapsed(), held);
        answer
    }

    /// The outcome of `work`; `None` if `work` is part of a write and the permit ended first.
    pub(crate) async fn while_permitted<T>(
        &self,
        method: Method,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let Some(permit) = self.permit_of(method) else {
            return Some(work.await);
        };
        tokio::select! {
            // An answer that has arrived counts, though the permit has ended.
            biased;
            outcome = work => Some(outcome),
            () = permit.ended() => None,
        }
    }

    /// The permit that requests of this method need; reads need none.
    fn permit_of(&self, method: Method) -> Option<&Arc<dyn Permit>> {
        let permit = self.permit.as_ref();
        permit.filter(|_| method != Method::Get)
    }

    async fn hold(&self) -> Duration {
        match &self.limit {
            Some(limit) => limit.wait().await,
            None => Duration::ZERO,
        }
    }

    async fn fetch(&self, request: &Request) -> Result<Success<Bytes>, Failure> {
        let Success { code, tag, body } = self.open(request).await?;
        let body = collect(body).await.map_err(Failure::lost)?;
        Ok(Success { code, tag, body })
    }

    /// Sends the request and gives back a successful answer, whose body is still to be read.
    async fn open(&self, request: &Request) -> Result<Success<ResponseBody>, Failure> {
        let http = self.http_request(request).await?;
        let answer = self.transport.send(http).await;
        let answer = answer.map_err(|error| self.unanswered(error.as_ref()))?;
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

    /// The request as it is sent, with the token and the permit that belong to it.
    async fn http_request(&self, request: &Request) -> Result<http::Request<Bytes>, Failure> {
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
            http = http.header(AUTHORIZATION, tokens.token().await?);
        }
        let mut http = http
            .body(request.body.clone())
            .map_err(|error| Failure::lost(format!("cannot build the request: {error}")))?;
        if let Some(permit) = self.permit_of(request.method) {
            permit::attach(&mut http, permit.clone());
        }
        Ok(http)
    }

    /// The reason why there was no answer, and where to look when the reason alone does not say.
    fn unanswered(&self, error: &(dyn std::error::Error + Send + Sync + 'static)) -> Failure {
        if error.is::<NotPermitted>() {
            return Failure::not_sent();
        }
        let (host, cause) = (&self.host, chain(error));
        if cause.contains("invalid peer certificate") {
            return Failure::lost(format!(
                "cannot trust {host}: {cause}; check certificate-authority in the kubeconfig"
            ));
        }
        Failure::lost(format!("no answer from {host}: {cause}"))
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
