//! One cache and its life: added, started, listed, published, replaced or removed.

use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{AnyInformer, Command, Input, Readiness};

/// Names one cache. It is never used again, also not for the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheId(pub(crate) u32);

/// The cache of one kind in one version.
pub(crate) struct Cache {
    pub(crate) kind: Kind,
    pub(crate) informer: Box<dyn AnyInformer>,
    /// Whether it exists because the kind was discovered, not because a controller declares it.
    pub(crate) is_discovered: bool,
    /// The cache of another version of the resource, which serves until this one is complete.
    pub(crate) replaces: Option<CacheId>,
    /// Whether the last discovery did not name the kind.
    pub(crate) is_omitted: bool,
    /// Whether its connection was lost since the history was last shown to be the same.
    pub(crate) is_unproven: bool,
    /// Whether the end of a doubt has judged it since its connection was lost.
    pub(crate) is_judged: bool,
    /// Since when the list of the present round is waited for.
    pub(crate) waited_since: Duration,
    /// The round in which its last list was asked for.
    pub(crate) asked: u64,
    /// The round of the last complete list.
    pub(crate) listed: Option<u64>,
    /// The round in which a list was last complete, whatever was asked for since.
    pub(crate) listed_in: Option<u64>,
    /// The round of the last complete list that is published.
    pub(crate) published: Option<u64>,
    /// Whether a complete list was ever published.
    pub(crate) was_published: bool,
}

/// What is known of a cache, for health checks and metrics.
#[derive(Clone, Debug)]
pub struct CacheState {
    /// Which one.
    pub id: CacheId,
    /// What it caches.
    pub kind: Kind,
    /// Whether only metadata is cached, because the kind was discovered.
    pub is_partial: bool,
    /// Whether controllers may plan from it.
    pub is_current: bool,
    /// For how long the list has been waited for that would make it so.
    pub waited: Duration,
    /// How many objects it holds.
    pub len: usize,
    /// How its informer is.
    pub readiness: Readiness,
}

impl Cache {
    pub(crate) fn new(
        mut informer: Box<dyn AnyInformer>,
        is_discovered: bool,
        families: bool,
        now: Duration,
    ) -> Self {
        if families {
            informer.track_family();
        }
        Self {
            kind: informer.kind(),
            informer,
            is_discovered,
            replaces: None,
            is_omitted: false,
            is_unproven: false,
            is_judged: false,
            waited_since: now,
            asked: 0,
            listed: None,
            listed_in: None,
            published: None,
            was_published: false,
        }
    }

    /// Asks for a list in a round: the first one, or one that replaces whatever was cached.
    pub(crate) fn ask(
        &mut self,
        round: u64,
        input: Input<'_>,
        now: Duration,
        jitter: f64,
    ) -> Option<Command> {
        self.asked = round;
        self.waited_since = now;
        self.is_unproven = false;
        // Only a list that is asked for from now on counts.
        self.listed = self.listed.filter(|listed| *listed != round);
        self.informer.step(input, now, jitter).command
    }

    /// Notes that its connection was lost.
    pub(crate) fn lose(&mut self) {
        self.is_judged &= self.is_unproven;
        self.is_unproven = true;
    }

    pub(crate) fn is_current(&self, round: u64) -> bool {
        self.published >= Some(round)
    }
}
