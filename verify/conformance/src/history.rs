//! Everything that a watcher sees of what becomes of objects, from the first moment to the last.
//!
//! States are taken when all is quiet, and two managers may come to the same state by different ways: a dependent that
//! goes before its owner instead of after it, a finalizer that is there for a moment, an owner that is forgotten too
//! early. The history of a namespace holds every version of every object in the one order that the server gave them.

mod lives;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::cluster::Cluster;
use crate::following::{Followed as _, Following, Told};
use crate::objects::path;
use crate::poll::until;
use crate::scenario::{Everything, KINDS};

pub(crate) use lives::lives;

/// A watch tells within milliseconds what a list shows; this is for a machine under load.
const CAUGHT_UP_LIMIT: Duration = Duration::from_secs(20);

/// An object as one event of a watch tells of it.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) version: u64,
    pub(crate) kind: &'static str,
    pub(crate) object: Value,
    pub(crate) is_gone: bool,
}

impl Moment {
    pub(crate) fn metadata(&self, field: &str) -> &str {
        self.object["metadata"][field].as_str().unwrap_or_default()
    }
}

#[derive(Default)]
struct Book {
    /// By namespace.
    moments: BTreeMap<String, Vec<Moment>>,
    failure: Option<String>,
}

impl Book {
    fn enter(&mut self, kind: &'static str, object: Value, is_gone: bool) {
        let Ok(version) = object.version().parse() else {
            let strange = format!("{kind} with version {:?}", object.version());
            self.failure = Some(strange);
            return;
        };
        let moment = Moment {
            version,
            kind,
            object,
            is_gone,
        };
        let namespace = match kind {
            "Namespace" => moment.metadata("name"),
            _ => moment.metadata("namespace"),
        };
        let same = self.moments.entry(namespace.to_owned()).or_default();
        same.push(moment);
    }

    /// What a follower of the namespace holds now: identity and version of every object.
    fn there(&self, namespace: &str) -> BTreeSet<(String, String)> {
        let mut last: BTreeMap<&str, &Moment> = BTreeMap::new();
        for moment in self.moments.get(namespace).into_iter().flatten() {
            last.insert(moment.metadata("uid"), moment);
        }
        let there = last.into_values().filter(|moment| !moment.is_gone);
        there.map(|moment| identity(&moment.object)).collect()
    }
}

fn identity(object: &Value) -> (String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    (text("uid").to_owned(), text("resourceVersion").to_owned())
}

/// Watches of every kind that scenarios are made of, in all namespaces. Dropping it ends them.
pub(crate) struct History {
    book: Arc<Mutex<Book>>,
    _followings: Vec<Following>,
}

impl History {
    pub(crate) async fn start(cluster: &Cluster) -> Result<Self> {
        let book = Arc::new(Mutex::new(Book::default()));
        let mut followings = Vec::new();
        let kinds = KINDS.iter().copied().filter(|kind| *kind != "Event");
        for kind in kinds.chain(["Namespace"]) {
            let writer = Arc::clone(&book);
            let tell = move |told: Told<Value>| {
                let mut book = lock(&writer);
                match told {
                    Told::Is(object) => book.enter(kind, object, false),
                    Told::Gone(object) => book.enter(kind, object, true),
                    Told::Lost(why) => book.failure = Some(format!("{kind}: {why}")),
                }
            };
            let all = path(kind, None, None)?;
            followings.push(Following::start(cluster, &all, tell).await?);
        }
        Ok(Self {
            book,
            _followings: followings,
        })
    }

    /// All that has happened in a namespace which is quiet, in order. `all` is what there is in it: the watches are
    /// waited for until they have told of everything.
    pub(crate) async fn of(&self, namespace: &str, all: &Everything) -> Result<Vec<Moment>> {
        let listed = all.iter().filter(|(kind, _)| *kind != "Event");
        let listed = listed.flat_map(|(_, objects)| objects.iter().map(identity));
        let listed: BTreeSet<_> = listed.collect();
        let caught_up = until("all watches", CAUGHT_UP_LIMIT, async || {
            let book = lock(&self.book);
            if let Some(why) = &book.failure {
                bail!("a watch of the history failed: {why}");
            }
            Ok((book.there(namespace) == listed).then_some(()))
        });
        caught_up
            .await
            .context("watches do not tell what is listed")?;
        let book = lock(&self.book);
        let mut moments = book.moments.get(namespace).cloned().unwrap_or_default();
        moments.sort_by_key(|moment| moment.version);
        Ok(moments)
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}
