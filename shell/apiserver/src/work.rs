//! Where the registry works: in passing, or on a thread of its own where that may take long.
//!
//! The thread of the server also does TLS, HTTP and the watches of all clients. A request that may
//! keep the registry busy is handed to another thread together with the registry: other requests for
//! the registry wait, and everything else goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use flyball_rbac::User;
use flyball_registry::{Answer, Chance, Failure, Method, Path, Registry, Reply, Request};
use flyball_storage::Revision;
use http::HeaderMap;
use http::header::ACCEPT;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use crate::asked::Asked;
use crate::documents::Documents;
use crate::server::{ApiServer, random};
use flyball_https::Target;

/// The registry, for one at a time.
pub(crate) type Locked = OwnedMutexGuard<Registry>;

/// How long a request may work in the registry before its client gets 504.
const TIME_MAX: Duration = Duration::from_secs(30);

/// That time, which tests shorten.
#[derive(Debug)]
pub(crate) struct Patience(AtomicU64);

impl Default for Patience {
    fn default() -> Self {
        Self(AtomicU64::new(TIME_MAX.as_secs()))
    }
}

impl Patience {
    pub(crate) fn get(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Relaxed))
    }

    #[cfg(test)]
    pub(crate) fn set(&self, time: Duration) {
        self.0.store(time.as_secs(), Ordering::Relaxed);
    }
}

/// Bodies and queries up to so many bytes are looked at in no time.
const QUICK_BYTES: usize = 16 << 10;

/// As many objects are looked through in no time.
const QUICK_OBJECTS: usize = 5_000;

/// Whether a request may keep the registry busy for longer than others should wait.
fn takes_long(registry: &Registry, request: &Request<'_>) -> bool {
    let query: usize = request.query.iter().map(|(_, value)| value.len()).sum();
    if request.body.len() > QUICK_BYTES || query > QUICK_BYTES / 8 {
        return true;
    }
    match Path::parse(request.path) {
        Path::Other => request.path.starts_with("/openapi/"),
        Path::Resource(path) if path.name.is_empty() => match request.method {
            Method::Get => registry.store().len() > QUICK_OBJECTS,
            Method::Delete => true,
            _ => false,
        },
        Path::Resource(_) => false,
    }
}

impl ApiServer {
    /// What the registry says to a request, and the newest revisions before and after it.
    pub(crate) async fn work(
        self: &Arc<Self>,
        asked: &Asked<'_>,
        body: &Bytes,
    ) -> (Reply, Revision, Revision) {
        let request = asked.request(body);
        let mut registry = self.registry_for(&request).await;
        let before = registry.revision();
        if !takes_long(&registry, &request) {
            let reply = decide(&mut registry, self.documents(), request, asked.wanted);
            self.hand_over(&mut registry).await;
            return (reply, before, registry.revision());
        }
        let (server, owned) = (self.clone(), Owned::of(asked, body));
        // A task of its own: what was begun is handed to the disk also if nothing waits for it any more.
        let task = tokio::spawn(async move { server.work_apart(registry, owned).await });
        let failure = match timeout(self.patience(), task).await {
            Ok(Ok(Some((reply, after)))) => return (reply, before, after),
            Ok(_) => Failure::new(500, "InternalError", "the request could not be worked on"),
            Err(_) => too_slow(self.patience()),
        };
        let refusal = Answer::refusal(failure, asked.header(ACCEPT));
        (Reply::Answer(refusal), before, before)
    }

    /// Works on a thread of its own, and hands over what was committed.
    async fn work_apart(&self, mut registry: Locked, owned: Owned) -> Option<(Reply, Revision)> {
        let documents = self.documents().clone();
        let worked = tokio::task::spawn_blocking(move || {
            let reply = owned.decide(&mut registry, &documents);
            (registry, reply)
        });
        match worked.await {
            Ok((mut registry, reply)) => {
                self.hand_over(&mut registry).await;
                Some((reply, registry.revision()))
            }
            Err(error) => {
                tracing::error!(%error, "a request ended abnormally");
                None
            }
        }
    }
}

fn too_slow(time: Duration) -> Failure {
    let message = format!(
        "Timeout: the server has worked on this request for {time:?}, which is too long; it may still take \
         effect; ask for less at once"
    );
    let mut failure = Failure::new(504, "Timeout", message);
    failure.0.details = Some(flyball_api::StatusDetails::default());
    failure
}

/// A request that another thread can take.
struct Owned {
    method: http::Method,
    headers: HeaderMap,
    target: Target,
    user: User,
    wanted: Option<User>,
    body: Bytes,
}

impl Owned {
    fn of(asked: &Asked<'_>, body: &Bytes) -> Self {
        Self {
            method: asked.method.clone(),
            headers: asked.headers.clone(),
            target: asked.target.clone(),
            user: asked.user.clone(),
            wanted: asked.wanted.cloned(),
            body: body.clone(),
        }
    }

    fn decide(&self, registry: &mut Registry, documents: &Documents) -> Reply {
        let asked = Asked {
            method: &self.method,
            headers: &self.headers,
            target: &self.target,
            user: &self.user,
            wanted: self.wanted.as_ref(),
        };
        decide(registry, documents, asked.request(&self.body), asked.wanted)
    }
}

/// Lets the registry decide, for the user that the sender wants to be.
fn decide(
    registry: &mut Registry,
    documents: &Documents,
    request: Request<'_>,
    wanted: Option<&User>,
) -> Reply {
    let chance = &mut Chance(&mut random);
    let Some(wanted) = wanted else {
        return documents.reply(registry, request, chance);
    };
    match registry.impersonate(&request, wanted) {
        Ok(user) => {
            let user = &user;
            documents.reply(registry, Request { user, ..request }, chance)
        }
        Err(failure) => Reply::Answer(Answer::refusal(failure, request.accept)),
    }
}
