//! Rounds: everything is listed anew before anything is planned.

use flyball_informer::Input;

use crate::effect::Effect;
use crate::flaws::{Flaw, Flaws};
use crate::process::{Moment, Process};

impl<F: Flaws> Process<F> {
    /// The present round. What was handed out in an earlier one may not be written any more.
    pub fn round(&self) -> u64 {
        self.caches.round
    }

    /// Begins a round. What was cached keeps serving those who look, but no controller plans until
    /// the kinds it needs were listed by requests sent after this moment. What was remembered of own
    /// writes goes: the lists show them, or they are of a lost history.
    pub(crate) fn begin_round(&mut self, moment: &mut Moment<'_>) {
        let now = moment.now.monotonic;
        self.caches.round += 1;
        let round = self.caches.round;
        let mut ids = self.caches.ids();
        if self.flaws.has(Flaw::KindNotRelisted)
            && let Some(spared) = ids.pop()
            && let Some(cache) = self.caches.get_mut(spared)
        {
            cache.asked = round;
            cache.listed = cache.listed.map(|_| round);
            cache.listed_in = cache.listed_in.map(|_| round);
            cache.published = cache.published.map(|_| round);
        }
        for id in ids {
            let jitter = moment.jitter();
            let Some(cache) = self.caches.get_mut(id) else {
                continue;
            };
            let command = cache.ask(round, Input::Relist, now, jitter);
            self.carry(id, command);
        }
        for slot in &mut self.controllers {
            slot.driver.renew();
            slot.reads.forget();
        }
        self.discover_at(now);
        self.effects.push(Effect::Term);
    }

    /// Starts all caches in the present round.
    pub(crate) fn start_caches(&mut self, moment: &mut Moment<'_>) {
        if std::mem::replace(&mut self.caches_started, true) {
            return;
        }
        let (now, round) = (moment.now.monotonic, self.caches.round);
        for id in self.caches.ids() {
            let jitter = moment.jitter();
            let Some(cache) = self.caches.get_mut(id) else {
                continue;
            };
            let command = cache.ask(round, Input::Start, now, jitter);
            self.carry(id, command);
        }
        self.discover_at(now);
    }
}
