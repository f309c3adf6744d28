//! The controllers of a process: what they hear of, when they may plan, what is handed out to them.

use std::time::Duration;

use flyball_informer::{Change, Snapshot};
use flyball_plan::{Actions, Answer, Descriptor, Driver, EngineStats, Next, Now, Sight, SyncId};

use crate::begin::waited_for;
use crate::effect::Effect;
use crate::flaws::{Flaw, Flaws};
use crate::process::{Moment, Process};
use crate::reads::Reads;

/// When a controller that may not plan yet is asked again.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// How often it is asked whether a queue was too full to take a key.
const OVERFLOW_CHECK: Duration = Duration::from_secs(10);

/// Names one controller of a process, by its place.
pub type ControllerId = usize;

/// A controller as it runs.
pub(crate) struct Slot {
    pub(crate) driver: Box<dyn Driver>,
    pub(crate) descriptor: Descriptor,
    sight: Sight,
    /// The round in which it was found to have all it needs.
    begun: Option<u64>,
    pub(crate) reads: Reads,
}

impl Slot {
    pub(crate) fn new(driver: Box<dyn Driver>) -> Self {
        Self {
            descriptor: driver.descriptor(),
            sight: driver.sight(),
            driver,
            begun: None,
            reads: Reads::default(),
        }
    }
}

impl<F: Flaws> Process<F> {
    /// The descriptors of all controllers, in the order of their ids.
    pub fn descriptors(&self) -> impl Iterator<Item = Descriptor> {
        self.controllers.iter().map(|slot| slot.descriptor)
    }

    /// What a controller sees besides the kinds it declares.
    pub fn sight(&self, at: ControllerId) -> Sight {
        self.controllers
            .get(at)
            .map_or(Sight::Named, |slot| slot.sight)
    }

    /// How each controller is doing.
    pub fn stats(&self, now: Now) -> Vec<(Descriptor, EngineStats)> {
        let all = self.controllers.iter();
        all.map(|slot| (slot.descriptor, slot.driver.stats(now)))
            .collect()
    }

    /// Whether a controller has all it needs in the present round.
    pub fn has_begun(&self, at: ControllerId) -> bool {
        let slot = self.controllers.get(at);
        slot.is_some_and(|slot| slot.begun == Some(self.caches.round))
    }

    /// Routes changes to every controller that watches their kind.
    pub(crate) fn changed(&mut self, changes: &[Change], store: &Snapshot, now: Now) {
        for (at, slot) in self.controllers.iter_mut().enumerate() {
            let watches = slot.descriptor.watches;
            let heard = |change: &&Change| slot.sight.hears_of(watches, change.kind);
            let mut wakes = false;
            for change in changes.iter().filter(heard) {
                slot.driver.changed(change, store, now);
                wakes = true;
            }
            if wakes {
                self.effects.push(Effect::Wake(at));
            }
        }
    }

    /// Wakes the controllers that wait for a list. An empty list brings no change that would.
    pub(crate) fn wake_waiting(&mut self) {
        for at in 0..self.controllers.len() {
            if !self.has_begun(at) {
                self.effects.push(Effect::Wake(at));
            }
        }
    }

    pub(crate) fn wake_all(&mut self) {
        let all = 0..self.controllers.len();
        self.effects.extend(all.map(Effect::Wake));
    }

    /// Hands out the next piece of work of a controller, if it may plan and a key is due.
    pub fn next(&mut self, at: ControllerId, moment: &mut Moment<'_>) -> Next {
        let now = moment.now;
        if self.stopping.is_some() || !self.may_write(now.monotonic) {
            // It is woken when that changes.
            return Next::Idle(None);
        }
        if !self.may_plan(at, moment) {
            return Next::Idle(Some(now.monotonic + SECOND_LOOK));
        }
        let undiscovered = self.undiscovered(now.monotonic);
        self.caches.note_incomplete(undiscovered, now.monotonic);
        let Some(slot) = self.controllers.get_mut(at) else {
            return Next::Idle(None);
        };
        let next = slot.driver.next(&self.caches.snapshot, now);
        if let Next::Work(work) = &next {
            self.note_planned(at, work);
        }
        next
    }

    /// Whether all that a controller needs is published in the present round. Each controller
    /// waits only for its own kinds: one that is broken stalls only what needs it.
    fn may_plan(&mut self, at: ControllerId, moment: &mut Moment<'_>) -> bool {
        let now = moment.now.monotonic;
        let round = self.caches.round;
        let Some(slot) = self.controllers.get(at) else {
            return false;
        };
        let hasty = self.flaws.has(Flaw::ReadyBeforePublished);
        let mut kinds = slot.descriptor.watches.iter().map(|watch| watch.kind());
        let has_kinds = kinds.all(|kind| match hasty {
            true => self.caches.is_listed(kind),
            false => self.caches.is_current(kind),
        });
        if !has_kinds || slot.begun == Some(round) {
            return has_kinds;
        }
        let knows = slot.sight == Sight::Named || self.has_discovered(now);
        let sees =
            slot.sight != Sight::Everything || waited_for(&self.caches.listed(now)).is_empty();
        let begins = knows && sees;
        if begins && let Some(slot) = self.controllers.get_mut(at) {
            slot.begun = Some(round);
            slot.driver.begin(moment.now);
            // A change was routed by whatever was shown of other kinds at that moment.
            if self.resync_at_begin {
                self.resync(moment);
            }
        }
        begins
    }

    /// Takes the answers to the actions of a sync and goes on with it. What the answers say of the
    /// server's history is noted first; a sync of a lost history comes to no further stage.
    pub fn answered(
        &mut self,
        at: ControllerId,
        id: SyncId,
        actions: &Actions,
        answers: Vec<Answer>,
        moment: &mut Moment<'_>,
    ) -> Option<Next> {
        self.learn((at, id), actions, &answers, moment);
        let slot = self.controllers.get_mut(at)?;
        let next = slot.driver.answered(id, answers, moment.now);
        if let Some(Next::Work(work)) = &next {
            self.note_planned(at, work);
        }
        next
    }

    /// Ends a sync whose writes may no longer be sent, with the answers to those that were.
    pub fn abandon(&mut self, at: ControllerId, id: SyncId, answers: &[Answer], now: Now) {
        self.forget_planned(at, id);
        if let Some(slot) = self.controllers.get_mut(at) {
            slot.driver.abandon(id, answers, now);
        }
    }

    /// How many syncs run.
    pub fn syncs_running(&self, now: Now) -> usize {
        let all = self.controllers.iter();
        all.map(|slot| slot.driver.stats(now).syncs_running).sum()
    }

    /// Routes every cached object once more.
    pub(crate) fn resync(&mut self, moment: &mut Moment<'_>) {
        (self.needs_resync, self.resync_at_begin) = (false, false);
        if self.flaws.has(Flaw::ResyncLost) {
            return;
        }
        for id in self.caches.ids() {
            if let Some(cache) = self.caches.get_mut(id) {
                cache.informer.resync();
            }
            self.publish(id, moment);
        }
    }

    /// Plans the next periodic resync: between one and two periods away, as upstream spreads them.
    pub(crate) fn plan_resync(&mut self, moment: &mut Moment<'_>) {
        let spread = 1.0 + moment.jitter().clamp(0.0, 1.0);
        let now = moment.now.monotonic;
        let pause = self.settings.resync_period.mul_f64(spread);
        self.resync_at = now.saturating_add(pause);
    }

    /// When [`Process::resync_if_due`] is to be called next.
    pub fn resync_due(&self, now: Duration) -> Duration {
        self.resync_at.min(now + OVERFLOW_CHECK)
    }

    /// Routes everything once more if the period has passed, or if a queue was too full for a key.
    pub fn resync_if_due(&mut self, moment: &mut Moment<'_>) {
        let mut overflows = false;
        for slot in &mut self.controllers {
            overflows |= slot.driver.take_overflow();
        }
        let is_due = moment.now.monotonic >= self.resync_at;
        if is_due {
            self.plan_resync(moment);
        }
        if (is_due || overflows) && self.leads(moment.now.monotonic) {
            self.resync(moment);
        }
    }
}
