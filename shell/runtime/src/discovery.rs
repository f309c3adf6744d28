//! Follows which resources the server has, and watches what is to be watched of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flyball_api::Kind;
use flyball_plan::{Following, Sight};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::sleep;

use crate::clock::lock;
use crate::feed::Feed;

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
    fares: Arc<Mutex<Discovered>>,
    following: Following,
    /// What is watched because it was discovered.
    watched: BTreeMap<Kind, AbortHandle>,
    feeds: JoinSet<()>,
}

impl Discoverer {
    pub(crate) fn new(feed: Arc<Feed>, sight: Sight, fares: Arc<Mutex<Discovered>>) -> Self {
        lock(&fares).needed = true;
        Self {
            feed,
            fares,
            following: Following::new(sight),
            watched: BTreeMap::new(),
            feeds: JoinSet::new(),
        }
    }

    /// Asks now and then, and whenever something hints at a change, for ever.
    pub(crate) async fn run(mut self) {
        loop {
            self.look().await;
            tokio::select! {
                () = sleep(self.following.pause()) => {}
                () = self.feed.resources_moved.notified() => sleep(Following::SETTLING).await,
            }
            // Ended tasks are those of kinds that went.
            while self.feeds.try_join_next().is_some() {}
        }
    }

    /// Asks once and follows the answer.
    async fn look(&mut self) {
        let found = self.feed.client.discover().await;
        let found = found.map_err(|error| error.to_string());
        let followed = found.and_then(|found| {
            let failures = found.failures().iter();
            let failures: Vec<_> = failures
                .map(|failure| (failure.group_version(), failure.reason.clone()))
                .collect();
            let has_moved = self.following.take((*found).clone());
            let has_moved = has_moved.map_err(str::to_owned)?;
            Ok((has_moved, failures))
        });
        let mut fares = lock(&self.fares);
        fares.asked += 1;
        let (has_moved, failures) = match followed {
            Ok(followed) => followed,
            Err(trouble) => {
                tracing::warn!(err = trouble, "discovery failed, keeping what was known");
                fares.errors += 1;
                fares.trouble = Some(trouble);
                return;
            }
        };
        fares.trouble = None;
        if !failures.is_empty() {
            fares.errors += 1;
            if fares.failures != failures {
                tracing::warn!(groups = ?failures, "discovery of some groups failed");
            }
        }
        fares.failures = failures;
        drop(fares);
        if has_moved {
            self.feed.caches.discovered(self.following.known().clone());
            self.follow();
        }
    }

    /// Watches what came and leaves what went.
    fn follow(&mut self) {
        let gone = self.following.gone(self.watched.keys().copied());
        let has_lost = !gone.is_empty();
        for kind in gone {
            if let Some(feed) = self.watched.remove(&kind) {
                feed.abort();
            }
            self.feed.caches.remove(kind);
            tracing::info!(resource = %kind, "no longer watched: the server does not have it any more");
        }
        for kind in self.following.wanted() {
            if let Some(slot) = self.feed.caches.add(kind) {
                let feed = self.feeds.spawn(self.feed.clone().run(slot));
                self.watched.insert(kind, feed);
                tracing::debug!(resource = %kind, "watched from now on");
            }
        }
        if has_lost {
            self.feed.resync();
        }
    }
}
