//! Requests through the registry to the disk, and answers back.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flyball_api::Timestamp;
use flyball_durable::{Commit, IntoStoreError, Log, OpenError, Options};
use flyball_rbac::User;
use flyball_registry::{
    Answer, Chance, Failure, ISSUER, Issuer, Method, Registry, Reply, Request, Signer, Stored,
    TokenRefused, open_token,
};
use flyball_storage::Revision;
use http::header::{ACCEPT, CONTENT_TYPE, USER_AGENT, WARNING};
use http::{HeaderValue, Response, StatusCode};
use tokio::sync::{Mutex, watch};

use crate::accept::representation;
use crate::authority::Authority;
use crate::body::{Body, WatchBody};
use crate::impersonation::wanted;

/// The largest body that is read, as upstream's.
pub(crate) const BODY_BYTES_MAX: usize = 3 << 20;

/// An API server without its sockets.
pub struct ApiServer {
    registry: Mutex<Registry>,
    log: Log,
    /// The newest revision that is durable, for whoever waits for news.
    news: watch::Receiver<flyball_durable::Durable>,
    signer: Arc<dyn Signer>,
}

/// Why a server could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenFailed {
    /// The data folder cannot be used.
    #[error(transparent)]
    Data(#[from] OpenError),
    /// What the data folder holds cannot be read.
    #[error("the data folder holds what this program cannot read: {0}")]
    Content(#[from] IntoStoreError<serde_json::Error>),
}

impl ApiServer {
    /// A server over what a folder holds; in memory only if there is no folder. The authority signs its
    /// tokens.
    pub async fn open(
        folder: Option<&Path>,
        authority: &Authority,
    ) -> Result<Arc<Self>, OpenFailed> {
        let (log, recovered) = match folder {
            Some(folder) => Log::open(folder, Options::default())?,
            None => Log::ephemeral(),
        };
        let store = recovered.into_store(Registry::limits(), |_, bytes| Stored::read(bytes))?;
        let mut registry = Registry::new(store);
        registry.bootstrap(now(), &mut Chance(&mut random));
        let signer: Arc<dyn Signer> = authority.signing();
        registry.issue_with(issuer(&signer, ISSUER));
        let server = Arc::new(Self {
            registry: Mutex::new(registry),
            news: log.durable(),
            log,
            signer,
        });
        let mut registry = server.registry.lock().await;
        server.hand_over(&mut registry).await;
        drop(registry);
        Ok(server)
    }

    /// Tells clients from now on that the server is found at this address.
    pub async fn reached_at(&self, address: SocketAddr) {
        let issuer = issuer(&self.signer, &format!("https://{address}"));
        self.registry.lock().await.issue_with(issuer);
    }

    /// Whom a token speaks for.
    pub(crate) async fn identify(&self, token: &str) -> Result<User, TokenRefused> {
        // Signatures are work: others go on meanwhile.
        let claims = open_token(&*self.signer, token)?;
        let found = self.registry.lock().await.identify(&claims, &[], now())?;
        Ok(found.user)
    }

    /// Answers a request of a user who is known.
    pub async fn answer(
        self: &Arc<Self>,
        request: http::Request<Bytes>,
        user: &User,
    ) -> Response<Body> {
        let (head, body) = request.into_parts();
        let method = match head.method.as_str() {
            "GET" | "HEAD" => Method::Get,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            "DELETE" => Method::Delete,
            _ => return respond(Failure::method_not_allowed().into()),
        };
        let header = |name| {
            let value = head
                .headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok());
            value.unwrap_or_default()
        };
        let Some(representation) = representation(header(ACCEPT)) else {
            let message = "only the following media types are accepted: application/json";
            return respond(Failure::new(406, "NotAcceptable", message).into());
        };
        let (Some(path), Some(query)) = (decoded(head.uri.path()), pairs(head.uri.query())) else {
            return respond(Failure::bad_request("the path or the query is not UTF-8").into());
        };
        let wanted = match wanted(&head.headers) {
            Ok(wanted) => wanted,
            Err(failure) => return respond(failure.into()),
        };
        let request = Request {
            method,
            path: &path,
            query: &query,
            body: &body,
            content_type: header(CONTENT_TYPE),
            representation,
            user,
            agent: header(USER_AGENT),
            now: now(),
        };
        let (reply, seen) = {
            let mut registry = self.registry.lock().await;
            let reply = decide(&mut registry, request, wanted.as_ref());
            self.hand_over(&mut registry).await;
            (reply, registry.revision())
        };
        if let Err(error) = self.log.wait(seen).await {
            tracing::error!(%error, "not answered: what it is based on is not durable");
            let message = format!("the data could not be written to disk: {error}");
            return respond(Failure::new(500, "InternalError", message).into());
        }
        match reply {
            Reply::Answer(answer) => {
                if answer.code == 403 {
                    let told: serde_json::Value =
                        serde_json::from_slice(&answer.body).unwrap_or_default();
                    let why = told["message"].as_str().unwrap_or_default();
                    tracing::info!(user = %user.name, method = %head.method, %path, why, "Forbidden");
                }
                respond(answer)
            }
            Reply::Watch(watch) => {
                let body = WatchBody::new(self.clone(), watch);
                let mut response = Response::new(Body::Watch(body));
                let json = HeaderValue::from_static("application/json");
                response.headers_mut().insert(CONTENT_TYPE, json);
                response
            }
        }
    }

    /// Gives what was committed to the log, in order: the caller holds the registry.
    async fn hand_over(&self, registry: &mut Registry) {
        for committed in registry.take_committed() {
            match self.log.reserve().await {
                Ok(place) => place.append(Commit::of(&committed, |stored| stored.bare().clone())),
                // Whoever waits for it is told why.
                Err(error) => tracing::error!(%error, "the log takes no more"),
            }
        }
    }

    pub(crate) async fn registry(&self) -> tokio::sync::MutexGuard<'_, Registry> {
        self.registry.lock().await
    }

    pub(crate) fn news(&self) -> watch::Receiver<flyball_durable::Durable> {
        self.news.clone()
    }

    /// The newest revision that is durable.
    pub fn revision(&self) -> Revision {
        self.news.borrow().revision
    }
}

/// Lets the registry decide, for whom the sender wants to be.
fn decide(registry: &mut Registry, request: Request<'_>, wanted: Option<&User>) -> Reply {
    let chance = &mut Chance(&mut random);
    let Some(wanted) = wanted else {
        return registry.handle(request, chance);
    };
    match registry.impersonate(&request, wanted) {
        Ok(user) => registry.handle(
            Request {
                user: &user,
                ..request
            },
            chance,
        ),
        Err(failure) => Reply::Answer(failure.into()),
    }
}

fn issuer(signer: &Arc<dyn Signer>, at: &str) -> Issuer {
    Issuer {
        signer: signer.clone(),
        keys_url: format!("{at}/openid/v1/jwks"),
    }
}

fn respond(answer: Answer) -> Response<Body> {
    let mut response = Response::new(Body::whole(answer.body));
    *response.status_mut() =
        StatusCode::from_u16(answer.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    for warning in answer.warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            headers.append(WARNING, value);
        }
    }
    response
}

/// The time of day.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::UNIX_EPOCH.saturating_add(since)
}

fn random() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}

/// A path or a part of a query without its escapes; `None` if it is not UTF-8 then.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = after.get(..2).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 16).ok()
        });
        match (byte, escape) {
            (b'%', Some(escaped)) => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            _ => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

fn pairs(query: Option<&str>) -> Option<Vec<(String, String)>> {
    let parts = query
        .unwrap_or_default()
        .split('&')
        .filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let spaced = |text: &str| decoded(&text.replace('+', " "));
            Some((spaced(key)?, spaced(value)?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(decoded("/a%20b%2Fc").as_deref(), Some("/a b/c"));
        assert_eq!(decoded("100%"), Some("100%".to_owned()));
        assert_eq!(decoded("%ff"), None);
        let want = vec![("labelSelector".to_owned(), "a in (b,c)".to_owned())];
        assert_eq!(pairs(Some("labelSelector=a+in+%28b%2Cc%29")), Some(want));
    }
}
