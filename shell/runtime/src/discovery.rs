//! Follows which resources the server has, and watches what is to be watched of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::Kind;
use flyball_api::discovery::Discovery;
use flyball_plan::Sight;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use crate::clock::lock;
use crate::feed::Feed;

/// How often the server is asked, as upstream's garbage collector does.
const PERIOD: Duration = Duration::from_secs(30);

/// How long after a sign of change: a server needs a moment to serve what it was told of, and
/// signs come in flocks.
const SETTLING: Duration = Duration::from_secs(1);

/// Resources whose objects bring and take resources.
const ANNOUNCERS: &[(&str, &str)] = &[
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
];

/// Resources that nobody who watches everything watches: there are many, they own nothing, nobody
/// owns them, and they go by themselves.
const IGNORED: &[(&str, &str)] = &[("", "events"), ("events.k8s.io", "events")];

/// Whether a change of an object of this kind may bring or take resources.
pub(crate) fn announces_resources(kind: Kind) -> bool {
    ANNOUNCERS.contains(&(kind.group, kind.plural))
}

/// How discovery fares.
#[derive(Debug, Default)]
pub(crate) struct Discovered {
    /// Whether anybody wants to know.
    pub(crate) needed: bool,
    /// What went wrong the last time, if anything did.
    pub(crate) trouble: Option<String>,
    /// The versions of groups that the server could not tell about.
    pub(crate) failures: Vec<(String, String)>,
    /// How often it went wrong, wholly or in part.
    pub(crate) errors: u64,
    /// How often the server was asked.
    pub(crate) asked: u64,
}

/// Follows discovery.
pub(crate) struct Discoverer {
    feed: Arc<Feed>,
    sight: Sight,
    fares: Arc<Mutex<Discovered>>,
    known: Arc<Discovery>,
    /// What is watched because it was discovered.
    watched: BTreeMap<Kind, AbortHandle>,
    feeds: JoinSet<()>,
}

impl Discoverer {
    pub(crate) fn new(feed: Arc<Feed>, sight: Sight, fares: Arc<Mutex<Discovered>>) -> Self {
        lock(&fares).needed = true;
        Self {
            feed,
            sight,
            fares,
            known: Arc::default(),
            watched: BTreeMap::new(),
            feeds: JoinSet::new(),
        }
    }

    /// Asks now and then, and whenever something hints at a change, for ever.
    pub(crate) async fn run(mut self) {
        loop {
            self.look().await;
            let pause = match self.known.is_empty() {
                // Somebody waits for the first answer.
                true => SETTLING,
                false => PERIOD,
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = self.feed.resources_moved.notified() => sleep(SETTLING).await,
            }
            // Ended tasks are those of kinds that went.
            while self.feeds.try_join_next().is_some() {}
        }
    }

    /// Asks once and follows the answer.
    async fn look(&mut self) {
        let found = self.feed.client.discover().await;
        let found = match found {
            Ok(found) if found.is_empty() => Err("the server tells of no resources".to_owned()),
            Ok(found) => Ok(found),
            Err(error) => Err(error.to_string()),
        };
        let mut fares = lock(&self.fares);
        fares.asked += 1;
        let found = match found {
            Ok(found) => found,
            Err(trouble) => {
                tracing::warn!(err = trouble, "discovery failed, keeping what was known");
                fares.errors += 1;
                fares.trouble = Some(trouble);
                return;
            }
        };
        fares.trouble = None;
        let failures = found.failures().iter();
        let failures: Vec<_> = failures
            .map(|failure| (failure.group_version(), failure.reason.clone()))
            .collect();
        if !failures.is_empty() {
            fares.errors += 1;
            if fares.failures != failures {
                tracing::warn!(groups = ?failures, "discovery of some groups failed");
            }
        }
        fares.failures = failures;
        drop(fares);
        let found = found.or_known(&self.known);
        if found != *self.known {
            self.known = Arc::new(found);
            self.feed.caches.discovered(self.known.clone());
            self.follow();
        }
    }

    /// Watches what came and leaves what went.
    fn follow(&mut self) {
        let wanted: Vec<Kind> = self.wanted();
        let gone: Vec<Kind> = self.watched.keys().copied().collect();
        for kind in gone.into_iter().filter(|kind| !wanted.contains(kind)) {
            if let Some(feed) = self.watched.remove(&kind) {
                feed.abort();
            }
            self.feed.caches.remove(kind);
            tracing::info!(resource = %kind, "no longer watched: the server does not have it any more");
        }
        for kind in wanted {
            if let Some(slot) = self.feed.caches.add(kind) {
                let feed = self.feeds.spawn(self.feed.clone().run(slot));
                self.watched.insert(kind, feed);
                tracing::debug!(resource = %kind, "watched from now on");
            }
        }
    }

    fn wanted(&self) -> Vec<Kind> {
        let all = self.known.watchable().map(|resource| resource.kind);
        all.filter(|kind| match self.sight {
            Sight::Everything => !IGNORED.contains(&(kind.group, kind.plural)),
            Sight::Discovery | Sight::Named => announces_resources(*kind),
        })
        .collect()
    }
}
