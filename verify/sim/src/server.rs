//! The API server of a simulated cluster: `core/registry`, asked one request at a time.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use flyball_api::request::{Method, Request};
use flyball_api::{ApiError, Timestamp};
use flyball_rbac::{AUTHENTICATED, MASTERS, User};
use flyball_registry::{Chance, Registry, Reply, Stored, Watch};
use flyball_storage::{Committed, Item, Limits, Revision, Store};

use crate::chance::Seed;

/// When every simulation begins.
const EPOCH: Timestamp = Timestamp::from_unix_seconds(1_800_000_000);

/// The time of day at a virtual moment.
pub(crate) fn wall(at: Duration) -> Timestamp {
    EPOCH.saturating_add(at)
}

/// What a request led to.
pub(crate) enum Got {
    /// The body of a success.
    Body(Bytes),
    /// A stream of changes.
    Watch(Box<Watch>),
    /// A refusal.
    Failed(ApiError),
}

/// A request with its path taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Bytes,
    pub(crate) content_type: &'static str,
    pub(crate) accept: &'static str,
}

impl Asked {
    /// A read with a query.
    pub(crate) fn get(path: String, query: Vec<(&'static str, String)>) -> Self {
        Self::from(Request::get(path)).with_query(query)
    }

    /// The same with a query.
    pub(crate) fn with_query(self, query: Vec<(&'static str, String)>) -> Self {
        let query = query.into_iter();
        let query = query.map(|(key, value)| (key.to_owned(), value));
        Self {
            query: query.collect(),
            ..self
        }
    }

    /// Whether it changes anything.
    pub(crate) fn is_write(&self) -> bool {
        self.method != Method::Get
    }
}

impl From<Request> for Asked {
    fn from(request: Request) -> Self {
        let (path, query) = match request.path.split_once('?') {
            // What plans ask for needs no escaping.
            Some((path, query)) => (path.to_owned(), query.split('&')),
            None => (request.path.clone(), "".split('&')),
        };
        let query = query.filter_map(|part| part.split_once('='));
        let query = query.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Self {
            method: request.method,
            content_type: request.method.content_type(),
            accept: request.accept(),
            path,
            query: query.collect(),
            body: request.body,
        }
    }
}

/// The server and its chance.
pub(crate) struct Server {
    registry: Registry,
    ids: Rng,
    /// What it says of its resources, by path: asked for often, and the same until a definition
    /// changes.
    documents: Vec<(String, Bytes)>,
}

/// Where what brings and takes resources is kept.
const DEFINITIONS: &[&str] = &[
    "/registry/customresourcedefinitions.apiextensions.k8s.io/",
    "/registry/apiservices.apiregistration.k8s.io/",
];

impl Server {
    /// A server of a fresh cluster, which keeps so many events for watches.
    pub(crate) fn new(seed: Seed, events_max: usize) -> Self {
        Self {
            registry: registry_of(fresh(), events_max),
            ids: seed.child("ids"),
            documents: Vec::new(),
        }
    }

    /// A copy of what is stored.
    pub(crate) fn back_up(&self) -> Backup {
        let store = self.registry.store();
        (store.revision(), store.iter().cloned().collect())
    }

    /// Puts a copy in the place of what is stored.
    pub(crate) fn restore(&mut self, backup: Backup, events_max: usize) {
        self.registry = registry_of(&backup, events_max);
        self.documents.clear();
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn registry_mut(&mut self) -> &mut Registry {
        &mut self.registry
    }

    /// Does what a request asks for.
    pub(crate) fn handle(&mut self, asked: &Asked, user: &User, agent: &str, at: Duration) -> Got {
        let is_document = matches!(asked.path.as_str(), "/api" | "/apis");
        let mut known = self.documents.iter().filter(|_| is_document);
        if let Some((_, body)) = known.find(|(path, _)| *path == asked.path) {
            return Got::Body(body.clone());
        }
        let ids = &mut self.ids;
        let mut draw = || ids.u64(..);
        let request = flyball_registry::Request {
            method: match asked.method {
                Method::Get => flyball_registry::Method::Get,
                Method::Post => flyball_registry::Method::Post,
                Method::Put => flyball_registry::Method::Put,
                Method::StrategicPatch | Method::MergePatch | Method::ApplyPatch => {
                    flyball_registry::Method::Patch
                }
                Method::Delete => flyball_registry::Method::Delete,
            },
            path: &asked.path,
            query: &asked.query,
            body: &asked.body,
            content_type: asked.content_type,
            accept: asked.accept,
            user,
            agent,
            now: wall(at),
        };
        let answer = match self.registry.handle(request, &mut Chance(&mut draw)) {
            Reply::Answer(answer) => answer,
            Reply::List(list) => list.render(),
            Reply::Watch(watch) => return Got::Watch(watch),
            Reply::Page => return Got::Failed(ApiError::from_response(404, None, b"")),
        };
        if (200..300).contains(&answer.code) {
            if is_document {
                let document = (asked.path.clone(), answer.body.clone());
                self.documents.push(document);
            }
            return Got::Body(answer.body);
        }
        let seconds = answer.retry_after_seconds.to_string();
        let retry_after = (answer.retry_after_seconds > 0).then_some(seconds.as_str());
        Got::Failed(ApiError::from_response(
            answer.code,
            retry_after,
            &answer.body,
        ))
    }

    /// What was committed since this was last asked, oldest first.
    pub(crate) fn committed(&mut self) -> Option<Committed<Arc<Stored>>> {
        let committed = self.registry.take_committed()?;
        let is_definition = |key: &str| DEFINITIONS.iter().any(|prefix| key.starts_with(prefix));
        if committed
            .events
            .iter()
            .any(|event| is_definition(event.key()))
        {
            self.documents.clear();
        }
        Some(committed)
    }
}

/// Somebody who may do anything.
pub(crate) fn admin() -> User {
    User::of_groups("admin", &[MASTERS, AUTHENTICATED])
}

/// What is stored at a revision.
pub(crate) type Backup = (Revision, Vec<Item<Arc<Stored>>>);

/// A server with what a copy holds, which keeps so many events for watches.
fn registry_of((revision, items): &Backup, events_max: usize) -> Registry {
    let limits = Limits {
        events_max,
        ..Registry::limits()
    };
    let store = Store::restore(*revision, items.iter().cloned(), limits);
    let mut registry = store.map_or_else(|_| Registry::empty(), Registry::new);
    registry.require_accounts();
    registry.forget_field_owners();
    registry
}

/// What every cluster has from its start, but for roles. It is the same for all seeds, and made
/// once.
fn fresh() -> &'static Backup {
    static FRESH: OnceLock<Backup> = OnceLock::new();
    FRESH.get_or_init(|| {
        let mut registry = Registry::empty();
        let mut ids = Seed(0).child("fresh");
        let mut draw = || ids.u64(..);
        registry.bootstrap(EPOCH, &mut Chance(&mut draw));
        let store = registry.into_store();
        let is_role = |item: &&Item<Arc<Stored>>| item.key.contains(".rbac.authorization.k8s.io/");
        let items = store.iter().filter(|item| !is_role(item));
        (store.revision(), items.cloned().collect())
    })
}
