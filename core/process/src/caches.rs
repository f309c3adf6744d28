//! The caches of a process, and the snapshot that is published of them.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{Change, Command, Input, Notice, Snapshot, Watch, metadata_informer};
use flyball_plan::Following;

use crate::begin::{Listed, waited_for};
use crate::cache::{Cache, CacheId, CacheState};
use crate::effect::{Effect, News};
use crate::flaws::{Flaw, Flaws};
use crate::process::{Moment, Process};

/// How many changes are routed together.
const CHANGES_AT_ONCE: usize = 512;

/// All caches of a process.
pub(crate) struct Caches {
    all: BTreeMap<CacheId, Cache>,
    made: u32,
    pub(crate) snapshot: Snapshot,
    /// Whether a controller asks for the dependents of owners.
    families: bool,
    /// The present round; see the crate's documentation.
    pub(crate) round: u64,
}

/// What feeding an informer leads to.
#[derive(Debug, Default)]
pub struct Fed {
    /// What to do next for this cache; the request under way is dropped.
    pub command: Option<Command>,
    /// What went wrong, for people.
    pub notice: Option<Notice>,
}

impl Caches {
    /// One cache for each kind among `watches`, however often it is named.
    pub(crate) fn new<'a>(watches: impl IntoIterator<Item = &'a Watch>, families: bool) -> Self {
        let mut caches = Self {
            all: BTreeMap::new(),
            made: 0,
            snapshot: Snapshot::default(),
            families,
            round: 0,
        };
        for watch in watches {
            if caches.all.values().all(|one| one.kind != watch.kind()) {
                caches.insert(Cache::new(
                    watch.informer(),
                    false,
                    families,
                    Duration::ZERO,
                ));
            }
        }
        let views = caches.all.values().map(|cache| cache.informer.view());
        caches.snapshot = Snapshot::new(views);
        caches
    }

    fn insert(&mut self, cache: Cache) -> CacheId {
        self.made += 1;
        let id = CacheId(self.made);
        self.all.insert(id, cache);
        id
    }

    pub(crate) fn get(&self, id: CacheId) -> Option<&Cache> {
        self.all.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: CacheId) -> Option<&mut Cache> {
        self.all.get_mut(&id)
    }

    pub(crate) fn ids(&self) -> Vec<CacheId> {
        self.all.keys().copied().collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (CacheId, &Cache)> {
        self.all.iter().map(|(id, cache)| (*id, cache))
    }

    /// The cache that serves a resource, in whatever version.
    pub(crate) fn serving(&self, kind: Kind) -> Option<CacheId> {
        let mut all = self.iter().filter(|(_, one)| one.replaces.is_none());
        all.find(|(_, one)| one.kind.is_same_resource(&kind))
            .map(|(id, _)| id)
    }

    /// The cache that is to take the place of another.
    pub(crate) fn successor(&self, id: CacheId) -> Option<(CacheId, &Cache)> {
        self.iter().find(|(_, one)| one.replaces == Some(id))
    }

    /// Whether a list of the present round is published of a kind.
    pub(crate) fn is_current(&self, kind: Kind) -> bool {
        let mut all = self.all.values().filter(|one| one.replaces.is_none());
        all.any(|one| one.kind == kind && one.is_current(self.round))
    }

    /// Whether informers are complete, published or not; only a flawed process asks.
    pub(crate) fn is_listed(&self, kind: Kind) -> bool {
        let mut all = self.all.values();
        all.any(|one| one.kind == kind && one.listed >= Some(self.round))
    }

    /// What is known of the list of each resource. A version that is to be replaced counts as
    /// current only while its watch works: then it misses nothing.
    pub(crate) fn listed(&self, now: Duration) -> Vec<Listed> {
        let serving = self.iter().filter(|(_, one)| one.replaces.is_none());
        let listed = serving.map(|(id, one)| {
            let ready = one.informer.readiness(now);
            let is_left = self.successor(id).is_some() && ready.out_of_touch.is_some();
            Listed {
                kind: one.kind,
                is_current: one.is_current(self.round) && !is_left,
                waited: now.saturating_sub(one.waited_since),
                is_failing: ready.last_error.is_some(),
            }
        });
        listed.collect()
    }

    /// Notes in the snapshot which kinds are waited for, so that what is absent from them is not
    /// taken for gone.
    pub(crate) fn note_incomplete(&mut self, undiscovered: Vec<Kind>, now: Duration) {
        let mut serving = self.all.values().filter(|one| one.replaces.is_none());
        let has_successors = self.all.values().any(|one| one.replaces.is_some());
        let waits = has_successors || serving.any(|one| !one.is_current(self.round));
        let waits = waits || !undiscovered.is_empty();
        if !waits && self.snapshot.incomplete().is_empty() {
            return;
        }
        let mut kinds = waited_for(&self.listed(now));
        kinds.extend(undiscovered);
        kinds.sort_unstable();
        if kinds != self.snapshot.incomplete() {
            self.snapshot = self.snapshot.waiting_for(kinds);
        }
    }
}

impl<F: Flaws> Process<F> {
    /// The caches as they were last published.
    pub fn snapshot(&self) -> &Snapshot {
        &self.caches.snapshot
    }

    /// What is known of each cache.
    pub fn caches(&self, now: Duration) -> Vec<CacheState> {
        let all = self.caches.iter();
        let states = all.map(|(id, one)| CacheState {
            id,
            kind: one.kind,
            is_partial: one.informer.is_partial(),
            is_current: one.is_current(self.caches.round),
            waited: match one.is_current(self.caches.round) {
                true => Duration::ZERO,
                false => now.saturating_sub(one.waited_since),
            },
            len: one.informer.len(),
            readiness: one.informer.readiness(now),
        });
        states.collect()
    }

    /// The kind of a cache, and whether only metadata is asked for; `None` if it is gone.
    pub fn cache_kind(&self, id: CacheId) -> Option<(Kind, bool)> {
        let cache = self.caches.get(id)?;
        Some((cache.kind, cache.informer.is_partial()))
    }

    /// When [`Input::Elapsed`] is due for a cache.
    pub fn deadline(&self, id: CacheId) -> Option<Duration> {
        self.caches.get(id)?.informer.deadline()
    }

    /// Gives an informer one input. What it learns is not shown before [`Process::publish`].
    pub fn feed(&mut self, id: CacheId, input: Input<'_>, moment: &mut Moment<'_>) -> Fed {
        let now = moment.now.monotonic;
        let is_lost = matches!(&input, Input::Failed(error) if error.code() == 0);
        let is_gone = matches!(&input, Input::Failed(error) if error.is_not_found());
        let is_overdue = matches!(input, Input::Elapsed);
        let is_back = matches!(input, Input::WatchStarted);
        let Some(cache) = self.caches.get_mut(id) else {
            return Fed::default();
        };
        let was_out =
            (is_lost || is_overdue) && cache.informer.readiness(now).out_of_touch.is_some();
        let listed_before = cache.listed_in;
        let stepped = cache.informer.step(input, now, moment.jitter());
        if stepped.listed {
            cache.listed_in = Some(cache.asked);
            // The first list since it was asked for is a consistent one.
            cache.is_unproven &= cache.listed == Some(cache.asked);
            cache.listed = Some(cache.asked);
        }
        if is_gone && cache.is_omitted {
            self.remove(id);
            self.discover_soon(now);
            self.resync(moment);
            return Fed::default();
        }
        if let Some(sign) = stepped.sign.as_ref() {
            self.notice_sign(id, sign, listed_before, moment);
        } else {
            self.note_version(id);
        }
        let is_lost = is_lost || (is_overdue && stepped.notice.is_some());
        let mut doubts = false;
        if let Some(cache) = self.caches.get_mut(id) {
            // A request that fails again says nothing new; one that succeeds at last does.
            doubts = (is_lost && !was_out) || (is_back && cache.is_unproven);
            if is_lost {
                cache.lose();
            }
        }
        if doubts {
            self.lost_connection(Some(id), moment);
        }
        let later = self.take_carry(id);
        Fed {
            command: later.or(stepped.command),
            notice: stepped.notice,
        }
    }

    /// Publishes what a cache holds together with whether it is complete, and routes what changed.
    pub fn publish(&mut self, id: CacheId, moment: &mut Moment<'_>) {
        let mut changes = Vec::new();
        loop {
            let round = self.caches.round;
            let Some(cache) = self.caches.get_mut(id) else {
                return;
            };
            // The version before it serves until this one is complete.
            if cache.replaces.is_some() && !cache.is_current(round) && cache.listed < Some(round) {
                return;
            }
            changes.clear();
            cache.informer.changes(&mut changes, CHANGES_AT_ONCE);
            let view = cache.informer.view();
            let (kind, old) = (cache.kind, cache.replaces.take());
            let has_news = cache.published != cache.listed;
            let was_listed = cache.was_published;
            cache.was_published |= cache.listed.is_some();
            cache.published = cache.listed;
            let before = self.caches.snapshot.clone();
            let snapshot = match old.and_then(|old| self.caches.get(old)) {
                Some(old) => before.replacing(old.kind, view),
                None => before.with(view),
            };
            self.caches.snapshot = snapshot;
            match self.flaws.has(Flaw::RoutedBeforePublished) {
                true => self.route(kind, &changes, &before, moment),
                false => self.route(kind, &changes, &self.caches.snapshot.clone(), moment),
            }
            if has_news {
                // What belongs together was listed apart: it is looked at once more together.
                self.resync_at_begin |= was_listed;
                self.wake_waiting();
            }
            if let Some(old) = old {
                self.retire(old, kind, moment);
            }
            if changes.len() < CHANGES_AT_ONCE {
                return;
            }
        }
    }

    /// The connections of all watches are suspect: each is opened again where it was, and counts as
    /// lost.
    pub fn reopen(&mut self, moment: &mut Moment<'_>) {
        for id in self.caches.ids() {
            self.reopen_one(id, moment);
        }
    }

    /// Takes every connection for lost that was not found to be: those that were are opened again
    /// anyway.
    pub(crate) fn distrust(&mut self, moment: &mut Moment<'_>) {
        for id in self.caches.ids() {
            if self.caches.get(id).is_some_and(|cache| !cache.is_unproven) {
                self.reopen_one(id, moment);
            }
        }
    }

    fn reopen_one(&mut self, id: CacheId, moment: &mut Moment<'_>) {
        let (now, jitter) = (moment.now.monotonic, moment.jitter());
        let Some(cache) = self.caches.get_mut(id) else {
            return;
        };
        cache.lose();
        let command = cache.informer.step(Input::Reopen, now, jitter).command;
        self.carry(id, command);
        self.lost_connection(Some(id), moment);
    }

    /// The server answers again: caches that wait only because it did not are fed at once.
    pub(crate) fn retry_waiting(&mut self, moment: &mut Moment<'_>) {
        for id in self.caches.ids() {
            let (now, jitter) = (moment.now.monotonic, moment.jitter());
            let Some(cache) = self.caches.get_mut(id) else {
                continue;
            };
            let command = cache.informer.step(Input::Retry, now, jitter).command;
            self.carry(id, command);
        }
    }

    /// Adds a cache of the metadata of a kind, and starts it. A resource that is cached in another
    /// version keeps that until the new one is complete.
    pub(crate) fn add(&mut self, kind: Kind, moment: &mut Moment<'_>) {
        let now = moment.now.monotonic;
        let old = self.caches.serving(kind);
        let is_declared = |id: CacheId| self.caches.get(id).is_some_and(|one| !one.is_discovered);
        let is_there = |id: CacheId| self.caches.get(id).is_some_and(|one| one.kind == kind);
        if old.is_some_and(|old| is_declared(old) || is_there(old)) {
            return;
        }
        if let Some(successor) = old
            .and_then(|old| self.caches.successor(old))
            .map(|(id, _)| id)
        {
            if is_there(successor) {
                return;
            }
            self.remove(successor);
        }
        let families = self.caches.families;
        let mut cache = Cache::new(metadata_informer(kind), true, families, now);
        cache.replaces = old;
        if old.is_none() {
            let view = cache.informer.view();
            self.caches.snapshot = self.caches.snapshot.with(view);
        }
        let command = cache.ask(self.caches.round, Input::Start, now, moment.jitter());
        let id = self.caches.insert(cache);
        self.effects.push(Effect::Tell(News::KindAdded(kind)));
        self.carry(id, command);
        if let Some(old) = old.filter(|_| self.flaws.has(Flaw::OldVersionDropped)) {
            self.remove(old);
            if let Some(cache) = self.caches.get_mut(id) {
                cache.replaces = None;
                let view = cache.informer.view();
                self.caches.snapshot = self.caches.snapshot.with(view);
            }
            self.resync(moment);
        }
    }

    /// Takes a cache out, with all its objects. They count as unknown, not as deleted.
    pub(crate) fn remove(&mut self, id: CacheId) {
        let successor = self.caches.successor(id).map(|(id, _)| id);
        let Some(cache) = self.caches.all.remove(&id) else {
            return;
        };
        if cache.replaces.is_none() && successor.is_none() {
            self.caches.snapshot = self.caches.snapshot.without(cache.kind);
            self.effects
                .push(Effect::Tell(News::KindRemoved(cache.kind)));
            self.needs_resync = true;
        }
        self.effects.push(Effect::Drop(id));
    }

    /// A version of a resource has been replaced by another.
    fn retire(&mut self, old: CacheId, new: Kind, moment: &mut Moment<'_>) {
        let Some(cache) = self.caches.all.remove(&old) else {
            return;
        };
        self.effects.push(Effect::Drop(old));
        let old = cache.kind;
        self.effects
            .push(Effect::Tell(News::KindReplaced { old, new }));
        // Objects may have gone while the old version was not watched any more.
        self.resync(moment);
    }

    /// Hands changes to every controller that watches the kind.
    fn route(&mut self, kind: Kind, changes: &[Change], store: &Snapshot, moment: &mut Moment<'_>) {
        if Following::is_announced_by(kind) && changes.iter().any(|change| !change.resync) {
            self.discover_soon(moment.now.monotonic);
        }
        self.changed(changes, store, moment.now);
    }

    pub(crate) fn carry(&mut self, id: CacheId, command: Option<Command>) {
        let command = command.map(|command| Effect::Carry(id, command));
        self.effects.extend(command);
    }

    /// The command that a decision had for a cache beyond the answer to its own step. Of several
    /// the last counts.
    fn take_carry(&mut self, id: CacheId) -> Option<Command> {
        let mut last = None;
        self.effects.retain(|effect| match effect {
            Effect::Carry(of, command) if *of == id => {
                last = Some(command.clone());
                false
            }
            _ => true,
        });
        last
    }
}
