//! A seam around every controller: what passes is checked, and deliberate bugs are made here.

use std::sync::{Arc, Mutex, PoisonError};

use flyball_api::Kind;
use flyball_informer::{Change, Snapshot};
use flyball_plan::{Answer, Descriptor, Driver, EngineStats, Next, Now, Rule, Sight, SyncId};

use crate::bugs::Bug;

/// Of so many syncs and stages one begins without memory.
const FORGETS_ONE_IN: u32 = 4;

/// What was noted of the controllers of one process.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// What must never be: the invariant, and what was wrong.
    pub(crate) findings: Vec<(&'static str, String)>,
}

/// A controller behind a seam.
pub(crate) struct Seam {
    inner: Box<dyn Driver>,
    bug: Option<Bug>,
    notes: Arc<Mutex<Notes>>,
    /// Whether it was shown anything yet.
    was_shown: bool,
    /// Whether everything it knew is void and it was not shown everything once more.
    needs_look: bool,
    /// Draws when the controller loses its memory.
    chance: fastrand::Rng,
}

impl Seam {
    pub(crate) fn new(inner: Box<dyn Driver>, bug: Option<Bug>, notes: Arc<Mutex<Notes>>) -> Self {
        Self {
            inner,
            bug,
            notes,
            was_shown: false,
            needs_look: false,
            chance: fastrand::Rng::with_seed(0),
        }
    }

    /// Takes the controller's memory away now and then: it may be lost at any time.
    fn forget_at_random(&mut self) {
        if self.chance.u32(..FORGETS_ONE_IN) == 0 {
            self.inner.forget_memory();
        }
    }

    fn note(&self, note: impl FnOnce(&mut Notes)) {
        note(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn name(&self) -> &'static str {
        self.inner.descriptor().name
    }
}

/// Whether the snapshot that comes with a change shows at least that change.
fn is_shown(change: &Change, store: &Snapshot) -> bool {
    let name = &change.name;
    let shown = store.meta_of(change.kind, &name.namespace, &name.name);
    let version = |text: &str| text.parse::<u64>().unwrap_or(0);
    match (change.before(), change.after(), shown) {
        (_, Some(after), Some(shown)) => {
            version(shown.resource_version) >= version(after.resource_version)
        }
        // It may have gone since.
        (_, Some(_), None) => true,
        (Some(before), None, Some(shown)) => shown.uid != before.uid,
        (_, None, _) => true,
    }
}

impl Driver for Seam {
    fn descriptor(&self) -> Descriptor {
        self.inner.descriptor()
    }
    fn rules(&self) -> &'static [Rule] {
        self.inner.rules()
    }
    fn sight(&self) -> Sight {
        self.inner.sight()
    }
    fn changed(&mut self, change: &Change, store: &Snapshot, now: Now) {
        let name = self.name();
        self.was_shown = true;
        self.needs_look &= !change.resync;
        if !is_shown(change, store) {
            let what = format!("{name} hears of {} {}", change.kind, change.name);
            let rule = "a change is routed after its cache is published";
            self.note(|notes| notes.findings.push((rule, what)));
        }
        if Bug::lets_pass(self.bug, name, change) {
            self.inner.changed(change, store, now);
        }
    }
    fn begin(&mut self, now: Now) {
        self.inner.begin(now);
    }
    fn forget_memory(&mut self) {
        self.inner.forget_memory();
    }
    fn next(&mut self, store: &Snapshot, now: Now) -> Next {
        self.forget_at_random();
        let kinds = self.descriptor().watches.iter().map(|watch| watch.kind());
        let views = kinds.filter_map(|kind| store.view_of(kind));
        // Where there is next to nothing, there was nothing to be shown.
        self.needs_look &= views.map(|view| view.len()).sum::<usize>() > 1;
        let spoilt = Bug::spoil_sight(self.bug, self.name(), store);
        let next = self.inner.next(spoilt.as_ref().unwrap_or(store), now);
        if let (true, Next::Work(work)) = (self.needs_look, &next) {
            let what = format!("{} works on {}", self.name(), work.key);
            let rule = "a round begins with a look at everything";
            self.note(|notes| notes.findings.push((rule, what)));
        }
        if let (Some(Bug::HandsOutTwice), Next::Work(work)) = (self.bug, &next) {
            self.inner.abandon(work.id, &[], now);
        }
        next
    }
    fn answered(&mut self, id: SyncId, answers: Vec<Answer>, now: Now) -> Option<Next> {
        self.forget_at_random();
        self.inner.answered(id, answers, now)
    }
    fn abandon(&mut self, id: SyncId, answers: &[Answer], now: Now) {
        self.inner.abandon(id, answers, now);
    }
    fn renew(&mut self) {
        self.needs_look = self.was_shown;
        if self.bug != Some(Bug::KeepsGates) {
            self.inner.renew();
        }
    }
    fn void_syncs(&mut self) {
        self.inner.void_syncs();
    }
    fn forget_kind(&mut self, kind: Kind) {
        if self.bug != Some(Bug::KeepsGates) {
            self.inner.forget_kind(kind);
        }
    }
    fn take_overflow(&mut self) -> bool {
        self.inner.take_overflow()
    }
    fn shut_down(&mut self) {
        self.inner.shut_down();
    }
    fn is_drained(&self) -> bool {
        self.inner.is_drained()
    }
    fn stats(&self, now: Now) -> EngineStats {
        self.inner.stats(now)
    }
}
