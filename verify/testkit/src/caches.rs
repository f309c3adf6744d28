//! What a controller sees of a world: one cache per kind, each as far behind as a test wants it.

use std::sync::Arc;

use flyball_api::discovery::Discovery;
use flyball_api::views::Partial;
use flyball_api::{Kind, Object};
use flyball_informer::{AnyView, Change, Snapshot, Store};
use flyball_plan::{Controller, Sight};

use crate::world::decode;
use crate::{World, Written};

/// How the objects of one kind are cached.
#[derive(Clone, Copy)]
pub(crate) struct Cacher {
    pub(crate) kind: Kind,
    empty: fn(Kind) -> Box<dyn Cache>,
}

impl Cacher {
    pub(crate) fn of<T: Object>() -> Self {
        Self {
            kind: T::kind(),
            empty: |kind| Box::new(Store::<T>::of(kind)),
        }
    }

    /// Of a kind that is known by its metadata only.
    pub(crate) fn partial(kind: Kind) -> Self {
        Self {
            kind,
            empty: |kind| Box::new(Store::<Partial>::of(kind)),
        }
    }
}

/// A cache, whatever the type of its objects.
trait Cache {
    fn apply(&mut self, written: &Written) -> Option<Change>;
    fn advance(&mut self, revision: u64);
    fn view(&self) -> AnyView;
    fn track_family(&mut self);
}

impl<T: Object> Cache for Store<T> {
    fn apply(&mut self, written: &Written) -> Option<Change> {
        let (kind, name) = &written.id;
        let Some(state) = &written.state else {
            return self
                .remove(&name.namespace, &name.name)
                .map(|gone| Change::deleted(gone).of_kind(*kind));
        };
        let new: Arc<T> = Arc::new(decode(state));
        let change = match Store::apply(self, new.clone()) {
            Some(old) => Change::updated(old, new),
            None => Change::added(new),
        };
        Some(change.of_kind(*kind))
    }

    fn track_family(&mut self) {
        Store::track_family(self);
    }

    fn advance(&mut self, revision: u64) {
        Store::advance(self, &revision.to_string());
    }

    fn view(&self) -> AnyView {
        Store::view(self).clone().into()
    }
}

/// The caches of a controller.
pub struct Caches {
    kinds: Vec<Cached>,
    discovery: Option<Arc<Discovery>>,
}

struct Cached {
    kind: Kind,
    seen: u64,
    cache: Box<dyn Cache>,
}

impl Caches {
    /// Empty caches of all kinds that the world knows.
    pub fn of(world: &World) -> Self {
        let cachers = world.cachers().iter();
        let kinds = cachers.map(|it| Cached {
            kind: it.kind,
            seen: 0,
            cache: (it.empty)(it.kind),
        });
        Self {
            kinds: kinds.collect(),
            discovery: None,
        }
    }

    /// Empty caches of the kinds that a controller watches: of others it sees nothing.
    pub fn watched_by<C: Controller>(world: &World) -> Self {
        let mut caches = Self::of(world);
        if C::SIGHT != Sight::Named {
            caches.discovery = Some(Arc::new(world.discovery()));
        }
        if C::SIGHT == Sight::Everything {
            let all = caches.kinds.iter_mut();
            all.for_each(|cached| cached.cache.track_family());
            return caches;
        }
        let watches = C::DESCRIPTOR.watches.iter();
        let watched: Vec<Kind> = watches.map(|watch| watch.kind()).collect();
        for kind in &watched {
            assert!(
                world.kinds().any(|known| known == *kind),
                "see World::knowing for {kind}"
            );
        }
        caches.kinds.retain(|cached| watched.contains(&cached.kind));
        caches
    }

    /// Fills empty caches from a list of what there is now, object by object in the order of
    /// `rank`; returns the changes by which a controller learns of it, in the same order.
    pub fn list(&mut self, world: &World, rank: impl Fn(usize) -> u64) -> Vec<Change> {
        let mut objects: Vec<_> = world.objects().enumerate().collect();
        objects.sort_by_key(|(at, _)| rank(*at));
        let changes = objects.into_iter().filter_map(|(_, (id, state))| {
            let (id, state) = (id.clone(), Some(state.clone()));
            let cached = self.kinds.iter_mut().find(|cached| cached.kind == id.0)?;
            cached.cache.apply(&Written {
                revision: world.revision(),
                id,
                state,
            })
        });
        let changes = changes.collect();
        for cached in &mut self.kinds {
            cached.seen = world.revision();
            cached.cache.advance(cached.seen);
        }
        changes
    }

    /// Lets all caches see everything.
    pub fn catch_up(&mut self, world: &World) -> Vec<Change> {
        self.catch_up_to(world, world.revision())
    }

    /// Lets all caches see everything up to a version; none forgets what it has seen.
    pub fn catch_up_to(&mut self, world: &World, revision: u64) -> Vec<Change> {
        self.kinds()
            .into_iter()
            .flat_map(|kind| self.catch_up_kind(world, kind, revision))
            .collect()
    }

    /// Lets the cache of one kind see everything up to a version.
    pub fn catch_up_kind(&mut self, world: &World, kind: Kind, revision: u64) -> Vec<Change> {
        let Some(cached) = self.kinds.iter_mut().find(|cached| cached.kind == kind) else {
            return Vec::new();
        };
        if revision <= cached.seen {
            return Vec::new();
        }
        let history = world.history();
        let upto = |version| history.partition_point(|written| written.revision <= version);
        let unseen = &history[upto(cached.seen)..upto(revision)];
        let unseen = unseen.iter().filter(|written| written.id.0 == kind);
        let changes = unseen
            .filter_map(|written| cached.cache.apply(written))
            .collect();
        cached.seen = revision;
        cached.cache.advance(revision);
        changes
    }

    /// The kinds that are cached.
    pub fn kinds(&self) -> Vec<Kind> {
        self.kinds.iter().map(|cached| cached.kind).collect()
    }

    /// Takes a kind out, as if the server did not have it any more.
    pub fn forget(&mut self, kind: Kind, world: &World) {
        self.kinds.retain(|cached| cached.kind != kind);
        let rest = world.discovery();
        let rest = rest.resources().iter().filter(|it| it.kind != kind);
        self.discovery = Some(Arc::new(Discovery::of(rest.copied(), [])));
    }

    /// Up to which version the cache of a kind has seen everything.
    pub fn seen(&self, kind: Kind) -> u64 {
        let cached = self.kinds.iter().find(|cached| cached.kind == kind);
        cached.map_or(0, |cached| cached.seen)
    }

    /// What the caches show now.
    pub fn snapshot(&self) -> Snapshot {
        let snapshot = Snapshot::new(self.kinds.iter().map(|cached| cached.cache.view()));
        match &self.discovery {
            Some(discovery) => snapshot.discovered(discovery.clone()),
            None => snapshot,
        }
    }
}
