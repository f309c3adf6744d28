//! One informer per kind for everybody, and the snapshot that everybody reads.

use std::sync::{Mutex, RwLock};
use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{AnyInformer, Change, Command, Input, Notice, Readiness, Snapshot, Watch};

use crate::clock::{jitter, lock};

/// How many changes are taken from a queue at once; the lock is free between batches.
const CHANGES_AT_ONCE: usize = 512;

/// All informers of the process.
pub(crate) struct Caches {
    kinds: Vec<(Kind, Mutex<Box<dyn AnyInformer>>)>,
    snapshot: RwLock<Snapshot>,
}

/// What a step of an informer leads to.
pub(crate) struct Stepped {
    pub(crate) command: Option<Command>,
    pub(crate) notice: Option<Notice>,
}

impl Caches {
    /// One informer for each kind among `watches`, however often it is named.
    pub(crate) fn new<'a>(watches: impl IntoIterator<Item = &'a Watch>) -> Self {
        let mut kinds: Vec<(Kind, Mutex<Box<dyn AnyInformer>>)> = Vec::new();
        for watch in watches {
            if kinds.iter().all(|(kind, _)| *kind != watch.kind()) {
                kinds.push((watch.kind(), Mutex::new(watch.informer())));
            }
        }
        let snapshot = Snapshot::new(kinds.iter().map(|(_, informer)| lock(informer).view()));
        Self {
            kinds,
            snapshot: RwLock::new(snapshot),
        }
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = Kind> + '_ {
        self.kinds.iter().map(|(kind, _)| *kind)
    }

    /// The caches as they are now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        match self.snapshot.read() {
            Ok(snapshot) => snapshot.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Feeds the informer of one kind.
    pub(crate) fn step(&self, at: usize, input: Input<'_>, now: Duration) -> Stepped {
        let (command, notice) = lock(&self.kinds[at].1).step(input, now, jitter());
        Stepped { command, notice }
    }

    /// When the informer of one kind wants to hear [`Input::Elapsed`].
    pub(crate) fn deadline(&self, at: usize) -> Option<Duration> {
        lock(&self.kinds[at].1).deadline()
    }

    /// Takes the next changes of one kind and publishes the cache that shows them; whoever routes
    /// a change therefore finds at least that change in the snapshot.
    pub(crate) fn publish(&self, at: usize, changes: &mut Vec<Change>) -> Snapshot {
        // Held to the end: of two who publish the same kind at once, the one with the older view
        // must not come last.
        let mut informer = lock(&self.kinds[at].1);
        informer.changes(changes, CHANGES_AT_ONCE);
        let view = informer.view();
        let mut snapshot = match self.snapshot.write() {
            Ok(snapshot) => snapshot,
            Err(poisoned) => poisoned.into_inner(),
        };
        *snapshot = snapshot.with(view);
        snapshot.clone()
    }

    /// Delivers every cached object of one kind once more.
    pub(crate) fn resync(&self, at: usize) {
        lock(&self.kinds[at].1).resync();
    }

    /// How each kind fares.
    pub(crate) fn readiness(&self, now: Duration) -> Vec<(Kind, Readiness)> {
        self.kinds
            .iter()
            .map(|(kind, informer)| (*kind, lock(informer).readiness(now)))
            .collect()
    }

    /// How many objects of each kind are cached.
    pub(crate) fn sizes(&self) -> Vec<(Kind, usize)> {
        self.kinds
            .iter()
            .map(|(kind, informer)| (*kind, lock(informer).len()))
            .collect()
    }
}
