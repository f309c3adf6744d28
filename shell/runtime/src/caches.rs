//! One informer per kind for everybody, and the snapshot that everybody reads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use flyball_api::Kind;
use flyball_api::discovery::Discovery;
use flyball_informer::{
    AnyInformer, Change, Command, Input, Notice, Readiness, Snapshot, Watch, metadata_informer,
};

use crate::clock::{jitter, lock};

/// How many changes are taken from a queue at once; the lock is free between batches.
const CHANGES_AT_ONCE: usize = 512;

/// All informers of the process.
pub(crate) struct Caches {
    slots: RwLock<Vec<Arc<Slot>>>,
    snapshot: RwLock<Snapshot>,
    /// Whether somebody asks who belongs to whom.
    families: bool,
}

/// The informer of one kind.
pub(crate) struct Slot {
    pub(crate) kind: Kind,
    /// Whether no more than the metadata of objects is wanted, which is so of kinds that are
    /// watched because they were discovered.
    pub(crate) partial: bool,
    informer: Mutex<Box<dyn AnyInformer>>,
    /// Whether the kind is no longer there; what is still on its way must not bring it back.
    removed: AtomicBool,
}

/// What a step of an informer leads to.
pub(crate) struct Stepped {
    pub(crate) command: Option<Command>,
    pub(crate) notice: Option<Notice>,
}

impl Slot {
    fn new(mut informer: Box<dyn AnyInformer>, families: bool) -> Arc<Self> {
        if families {
            informer.track_family();
        }
        Arc::new(Self {
            kind: informer.kind(),
            partial: informer.is_partial(),
            informer: Mutex::new(informer),
            removed: AtomicBool::new(false),
        })
    }

    /// Feeds the informer.
    pub(crate) fn step(&self, input: Input<'_>, now: Duration) -> Stepped {
        let (command, notice) = lock(&self.informer).step(input, now, jitter());
        Stepped { command, notice }
    }

    /// When the informer wants to hear [`Input::Elapsed`].
    pub(crate) fn deadline(&self) -> Option<Duration> {
        lock(&self.informer).deadline()
    }

    /// Delivers every cached object once more.
    pub(crate) fn resync(&self) {
        lock(&self.informer).resync();
    }

    /// How the informer fares.
    pub(crate) fn readiness(&self, now: Duration) -> Readiness {
        lock(&self.informer).readiness(now)
    }
}

impl Caches {
    /// One informer for each kind among `watches`, however often it is named; with `families`,
    /// they also know who belongs to whom.
    pub(crate) fn new<'a>(watches: impl IntoIterator<Item = &'a Watch>, families: bool) -> Self {
        let mut slots: Vec<Arc<Slot>> = Vec::new();
        for watch in watches {
            if slots.iter().all(|slot| slot.kind != watch.kind()) {
                slots.push(Slot::new(watch.informer(), families));
            }
        }
        let snapshot = Snapshot::new(slots.iter().map(|slot| lock(&slot.informer).view()));
        Self {
            slots: RwLock::new(slots),
            snapshot: RwLock::new(snapshot),
            families,
        }
    }

    /// The informers there are now.
    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.clone()
    }

    /// Adds an informer of no more than the metadata of a kind, which is not fed yet; `None` if
    /// the resource is cached already, in whatever version.
    pub(crate) fn add(&self, kind: Kind) -> Option<Arc<Slot>> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        if slots.iter().any(|slot| slot.kind.is_same_resource(&kind)) {
            return None;
        }
        let slot = Slot::new(metadata_informer(kind), self.families);
        slots.push(slot.clone());
        let view = lock(&slot.informer).view();
        let mut snapshot = self.write();
        *snapshot = snapshot.with(view);
        Some(slot)
    }

    /// Takes a kind out, with all its objects. Nobody is told that they were deleted, because
    /// they were not.
    pub(crate) fn remove(&self, kind: Kind) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        slots.retain(|slot| {
            if slot.kind == kind {
                slot.removed.store(true, Ordering::Release);
            }
            slot.kind != kind
        });
        let mut snapshot = self.write();
        *snapshot = snapshot.without(kind);
    }

    /// Lets everybody see what the server was found to have.
    pub(crate) fn discovered(&self, discovery: Arc<Discovery>) {
        let mut snapshot = self.write();
        *snapshot = snapshot.discovered(discovery);
    }

    /// The caches as they are now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        match self.snapshot.read() {
            Ok(snapshot) => snapshot.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Takes the next changes of one kind and publishes the cache that shows them; whoever routes
    /// a change therefore finds at least that change in the snapshot.
    pub(crate) fn publish(&self, slot: &Slot, changes: &mut Vec<Change>) -> Snapshot {
        // Held to the end: of two who publish the same kind at once, the one with the older view
        // must not come last.
        let mut informer = lock(&slot.informer);
        let mut snapshot = self.write();
        if slot.removed.load(Ordering::Acquire) {
            return snapshot.clone();
        }
        informer.changes(changes, CHANGES_AT_ONCE);
        *snapshot = snapshot.with(informer.view());
        snapshot.clone()
    }

    /// How each kind fares.
    pub(crate) fn readiness(&self, now: Duration) -> Vec<(Kind, Readiness)> {
        let of = |slot: &Arc<Slot>| (slot.kind, slot.readiness(now));
        self.slots().iter().map(of).collect()
    }

    /// How many objects of each kind are cached.
    pub(crate) fn sizes(&self) -> Vec<(Kind, usize)> {
        let of = |slot: &Arc<Slot>| (slot.kind, lock(&slot.informer).len());
        self.slots().iter().map(of).collect()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Snapshot> {
        self.snapshot
            .write()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::views::Pod;

    use super::*;

    const THING: Kind = Kind::namespaced("example.com", "v1", "Thing", "things");

    #[test]
    fn a_kind_that_went_leaves_nothing_behind_and_is_not_told_as_deleted() {
        let caches = Caches::new(&[Watch::of::<Pod>()], true);
        let slot = caches.add(THING).unwrap();
        let page = br#"{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}}]}"#;
        slot.step(Input::Start, Duration::ZERO);
        let refused = flyball_api::ApiError::from_response(400, None, b"");
        slot.step(Input::Failed(&refused), Duration::ZERO);
        slot.step(Input::Page(page), Duration::ZERO);
        let mut changes = Vec::new();
        let shown = caches.publish(&slot, &mut changes);
        assert_eq!(shown.view_of(THING).unwrap().len(), 1);
        assert_eq!((changes.len(), changes[0].kind), (1, THING));
        changes.clear();
        caches.remove(THING);
        slot.resync();
        let shown = caches.publish(&slot, &mut changes);
        assert!(shown.view_of(THING).is_none() && changes.is_empty());
        assert_eq!(caches.slots().len(), 1);
    }

    #[test]
    fn what_a_controller_watches_by_name_is_not_watched_twice() {
        let caches = Caches::new(&[Watch::of::<Pod>()], true);
        assert!(caches.add(Pod::KIND).is_none());
        let other = Kind {
            version: "v2",
            ..Pod::KIND
        };
        assert!(caches.add(other).is_none());
    }
}
