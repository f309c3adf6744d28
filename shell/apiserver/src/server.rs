//! Requests through the registry to the disk, and answers back.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use flyball_api::Timestamp;
use flyball_durable::{Commit, Cut, IntoStoreError, Log, LogError, OpenError};
use flyball_rbac::User;
use flyball_registry::{
    Answer, Chance, Failure, ISSUER, Issuer, Listing, Registry, Reply, Request, ResourcePath,
    Signer, Stored, TokenRefused, Watch, open_token,
};
use flyball_storage::Revision;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WARNING};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use tokio::sync::{Mutex, watch};

use crate::asked::Asked;
use crate::authority::Authority;
use crate::body::{Body, WatchBody};
use crate::disk::not_written;
use crate::documents::Documents;
use crate::folder::DataFolder;
use crate::health;
use crate::impersonation::wanted;
use crate::in_flight::InFlight;
use crate::metrics::{self, Counted, Metrics};
use crate::page::Page;
use crate::probes::are_public;
use crate::rendering::{LaidOut, laid_out};
use crate::work::{Locked, Patience};
use flyball_https::Target;

/// An API server without its sockets.
pub struct ApiServer {
    registry: Arc<Mutex<Registry>>,
    log: Log,
    /// The unfinished end of the log that was dropped when it was opened.
    cut: Option<Cut>,
    /// The newest revision that is durable, for whoever waits for news.
    news: watch::Receiver<flyball_durable::Durable>,
    signer: Arc<dyn Signer>,
    /// Where clients reach the server over HTTPS.
    address: OnceLock<SocketAddr>,
    in_flight: InFlight,
    metrics: Metrics,
    stopping: AtomicBool,
    documents: Documents,
    /// How long a request may work in the registry.
    patience: Patience,
    /// Whether clients without credentials may see the probes.
    pub(crate) public_probes: AtomicBool,
    /// Whether pods need a service account that exists.
    pub(crate) accounts_required: AtomicBool,
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
    /// The first writes did not become durable.
    #[error("the data could not be written to disk: {0}")]
    Disk(#[from] LogError),
}

impl ApiServer {
    /// A server over what a folder holds; in memory only if there is no folder. The authority signs its
    /// tokens.
    pub async fn open(
        folder: Option<DataFolder>,
        authority: &Authority,
    ) -> Result<Arc<Self>, OpenFailed> {
        let (log, recovered) = match folder {
            Some(folder) => folder.open()?,
            None => Log::ephemeral(),
        };
        let cut = recovered.cut.clone();
        let store = recovered.into_store(Registry::limits(), |_, bytes| Stored::read(bytes))?;
        let mut registry = Registry::new(store);
        registry.bootstrap(now(), &mut Chance(&mut random));
        let signer: Arc<dyn Signer> = authority.signing();
        registry.issue_with(issuer(&signer, None));
        let server = Arc::new(Self {
            public_probes: AtomicBool::new(are_public(&registry)),
            registry: Arc::new(Mutex::new(registry)),
            documents: Documents::default(),
            patience: Patience::default(),
            news: log.durable(),
            log,
            cut,
            signer,
            address: OnceLock::new(),
            in_flight: InFlight::default(),
            metrics: Metrics::new(),
            stopping: AtomicBool::new(false),
            accounts_required: AtomicBool::new(false),
        });
        let mut registry = server.registry().await;
        server.hand_over(&mut registry).await;
        let seen = registry.revision();
        drop(registry);
        server.log.wait(seen).await?;
        Ok(server)
    }

    /// The unfinished end of the log that was dropped when it was opened.
    pub fn cut(&self) -> Option<&Cut> {
        self.cut.as_ref()
    }

    /// Tells clients from now on that the server is found at this address.
    pub async fn reached_at(&self, address: SocketAddr) -> Result<(), LogError> {
        let issuer = issuer(&self.signer, Some(address));
        let _ = self.address.set(address);
        let mut registry = self.registry().await;
        registry.issue_with(issuer);
        registry.advertise(address, now(), &mut Chance(&mut random));
        self.hand_over(&mut registry).await;
        let seen = registry.revision();
        drop(registry);
        self.log.wait(seen).await
    }

    /// Whom a token speaks for.
    pub(crate) async fn identify(&self, token: &str) -> Result<User, TokenRefused> {
        // Signatures are work: others go on meanwhile.
        let claims = open_token(&*self.signer, token)?;
        let found = self.registry().await.identify(&claims, &[], now())?;
        Ok(found.user)
    }

    /// Answers a request of a user who is known, within the process: nothing is limited, and laid out
    /// only where it is to be in something else than JSON.
    pub async fn answer(
        self: &Arc<Self>,
        request: http::Request<Bytes>,
        user: &User,
    ) -> Response<Body> {
        let (head, body) = request.into_parts();
        let Some(target) = Target::decode(&head.uri) else {
            return Page::error(400, "400 Bad Request").respond();
        };
        let wanted = match wanted(&head.headers) {
            Ok(wanted) => wanted,
            Err(failure) => {
                return unlimited(&Answer::from(failure));
            }
        };
        let asked = Asked {
            method: &head.method,
            headers: &head.headers,
            target: &target,
            user,
            wanted: wanted.as_ref(),
        };
        match self.reply(&asked, &body).await {
            Reply::Answer(answer) => unlimited(&answer),
            Reply::List(list) => unlimited(&rendered(*list).await),
            Reply::Watch(watch) => self.watch(watch, (None, None)),
            Reply::Page => self.page(&target).await.respond(),
        }
    }

    /// What the registry says to a request, once everything that it is based on is durable.
    pub(crate) async fn reply(self: &Arc<Self>, asked: &Asked<'_>, body: &Bytes) -> Reply {
        let is_read = matches!(*asked.method, http::Method::GET | http::Method::HEAD);
        let mut is_repeated = false;
        let reply = loop {
            let (reply, before, after) = self.work(asked, body).await;
            let Err(error) = self.log.wait(after).await else {
                break reply;
            };
            // What the server did on its own after a read is no part of the answer.
            let is_unchanged = is_read || after == before;
            if is_unchanged && self.is_durable(before) {
                break reply;
            }
            if is_repeated || !is_unchanged {
                let refusal = Answer::refusal(not_written(&error), asked.header(ACCEPT));
                return Reply::Answer(refusal);
            }
            // What was not durable is taken back before the request is looked at again.
            is_repeated = true;
        };
        if let Reply::Answer(answer) = &reply
            && answer.code == 403
        {
            asked.log_refusal(&answer.body);
        }
        reply
    }

    /// Whether whoever asks may do so at all, whatever the body is.
    pub(crate) async fn check_access(&self, asked: &Asked<'_>) -> Result<(), Failure> {
        let registry = self.registry().await;
        let request = asked.request(&[]);
        let access = match asked.wanted {
            None => registry.check_access(&request),
            Some(wanted) => registry.impersonate(&request, wanted).and_then(|user| {
                registry.check_access(&Request {
                    user: &user,
                    ..request
                })
            }),
        };
        access.inspect_err(|failure| asked.log_refusal(&failure.body()))
    }

    /// The changes that a watch tells, until whoever listens closes.
    pub(crate) fn watch(
        self: &Arc<Self>,
        mut watch: Box<Watch>,
        (closing, counted): (Option<watch::Receiver<bool>>, Option<Counted>),
    ) -> Response<Body> {
        let warnings = std::mem::take(&mut watch.warnings);
        let content_type = HeaderValue::from_static(watch.content_type());
        let body = WatchBody::new(self.clone(), watch, closing, counted);
        let mut response = Response::new(Body::watch(body));
        warn(response.headers_mut(), &warnings);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        response
    }

    /// A page of the server itself, for somebody who may see it.
    pub(crate) async fn page(&self, target: &Target) -> Page {
        match target.path.as_str() {
            "/" => self.index().await,
            "/metrics" => {
                let registry = self.registry().await;
                let objects = registry.object_counts();
                self.metrics.retain(|(group, version, resource)| {
                    registry.serves(&ResourcePath {
                        group: group.into(),
                        version: version.into(),
                        resource: resource.into(),
                        ..ResourcePath::default()
                    })
                });
                drop(registry);
                Page {
                    content_type: metrics::CONTENT_TYPE,
                    ..Page::text(200, self.metrics.text(self.in_flight.counts(), &objects))
                }
            }
            _ => health::page(target, &self.health()).unwrap_or_else(Page::not_found),
        }
    }

    /// The paths that there are.
    async fn index(&self) -> Page {
        let mut paths = self.registry().await.paths();
        paths.push("/metrics".to_owned());
        for probe in health::PROBES {
            paths.push(format!("/{probe}"));
            let checks = health::checks(probe).into_iter();
            paths.extend(checks.map(|check| format!("/{probe}/{check}")));
        }
        paths.sort();
        let document = serde_json::json!({ "paths": paths }).to_string();
        Page {
            content_type: "application/json",
            ..Page::text(200, flyball_registry::indented(document.as_bytes()))
        }
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Whether what a path names is served, so that it may be counted by name.
    pub(crate) async fn serves(&self, path: &ResourcePath) -> bool {
        self.registry().await.serves(path)
    }

    pub(crate) fn health(&self) -> health::State {
        let failure = self.news.borrow().failure.clone();
        health::State {
            broken: failure.map(|failure| failure.to_string()),
            is_stopping: self.stopping.load(Ordering::Relaxed),
        }
    }

    /// From now on the server says that it is not ready any more.
    pub(crate) fn begin_stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Gives what was committed to the log, in order: the caller holds the registry. If it is given up
    /// while it waits, what is left is handed over by the next one.
    pub(crate) async fn hand_over(&self, registry: &mut Registry) {
        while registry.has_committed() {
            let place = self.log.reserve().await;
            let Some(committed) = registry.take_committed() else {
                return;
            };
            match place {
                Ok(place) => place.append(Commit::of(&committed, |stored| stored.kept())),
                // Whoever waits for it is told why.
                Err(error) => tracing::error!(%error, "the log takes no more"),
            }
        }
    }

    /// Deletes Events that were last written at or before a revision, step by step.
    pub(crate) async fn expire_written(&self, written: Revision) {
        let mut after = None;
        loop {
            // A disk that takes nothing is no reason to delete: it would be taken back.
            if self.durable().failure.is_some() {
                return;
            }
            let mut registry = self.registry().await;
            after = registry.expire_events(written, after.as_deref());
            self.hand_over(&mut registry).await;
            if after.is_none() {
                return;
            }
        }
    }

    pub(crate) async fn lock_registry(&self) -> Locked {
        self.registry.clone().lock_owned().await
    }

    /// The registry, if it is not busy.
    pub(crate) fn try_registry(&self) -> Option<tokio::sync::MutexGuard<'_, Registry>> {
        self.registry.try_lock().ok()
    }

    pub(crate) fn documents(&self) -> &Documents {
        &self.documents
    }

    pub(crate) fn patience(&self) -> Duration {
        self.patience.get()
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address.get().copied()
    }

    pub(crate) fn signer(&self) -> &Arc<dyn Signer> {
        &self.signer
    }

    /// How far the disk has come.
    pub(crate) fn durable(&self) -> watch::Ref<'_, flyball_durable::Durable> {
        self.news.borrow()
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    pub(crate) fn news(&self) -> watch::Receiver<flyball_durable::Durable> {
        self.news.clone()
    }

    #[cfg(test)]
    pub(crate) fn is_busy(&self) -> bool {
        self.try_registry().is_none()
    }

    #[cfg(test)]
    pub(crate) fn set_patience(&self, time: Duration) {
        self.patience.set(time);
    }

    #[cfg(test)]
    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// The newest revision that is durable.
    pub fn revision(&self) -> Revision {
        self.news.borrow().revision
    }
}

pub(crate) fn issuer(signer: &Arc<dyn Signer>, address: Option<SocketAddr>) -> Issuer {
    let at = address.map_or_else(|| ISSUER.to_owned(), |address| format!("https://{address}"));
    Issuer {
        signer: signer.clone(),
        keys_url: format!("{at}/openid/v1/jwks"),
    }
}

/// Writes a list; a long one where nobody has to wait for it.
pub(crate) async fn rendered(list: Listing) -> Answer {
    if list.is_short() {
        return list.render();
    }
    match tokio::task::spawn_blocking(|| list.render()).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::error!(%error, "a list could not be written");
            Failure::new(500, "InternalError", error.to_string()).into()
        }
    }
}

/// An answer to a client of this process, which has no need of line breaks.
fn unlimited(answer: &Answer) -> Response<Body> {
    let as_it_is = || LaidOut {
        code: answer.code,
        content_type: answer.content_type.to_owned(),
        body: answer.body.clone(),
    };
    match answer.is_converted() {
        true => whole(answer, laid_out(answer, false)),
        false => whole(answer, as_it_is()),
    }
}

/// An answer as it is laid out.
pub(crate) fn whole(answer: &Answer, laid_out: LaidOut) -> Response<Body> {
    let mut response = Response::new(Body::whole(laid_out.body));
    *response.status_mut() =
        StatusCode::from_u16(laid_out.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(content_type) = HeaderValue::from_str(&laid_out.content_type) {
        headers.insert(CONTENT_TYPE, content_type);
    }
    if answer.retry_after_seconds > 0 {
        headers.insert(RETRY_AFTER, answer.retry_after_seconds.into());
    }
    warn(headers, &answer.warnings);
    response
}

/// Tells warnings in the head of an answer.
fn warn(headers: &mut HeaderMap, warnings: &[String]) {
    for warning in warnings {
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::from_str(&format!("299 - \"{quoted}\"")) {
            headers.append(WARNING, value);
        }
    }
}

/// The time of day.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::UNIX_EPOCH.saturating_add(since)
}

pub(crate) fn random() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().0
}
