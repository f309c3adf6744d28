//! Carries out what a decision asks for beyond its own answer.

use std::sync::Arc;

use flyball_informer::Command;
use flyball_process::{CacheId, Effect, Moment};

use crate::feed::Feed;
use crate::shared::{Shared, State};

impl Shared {
    /// Carries out all effects, also those that carrying out leads to. Called under the lock.
    pub(crate) fn carry_out(self: &Arc<Self>, state: &mut State, moment: &mut Moment<'_>) {
        while state.process.has_effects() {
            for effect in state.process.take_effects() {
                self.carry_out_one(state, effect, moment);
            }
        }
    }

    fn carry_out_one(self: &Arc<Self>, state: &mut State, effect: Effect, moment: &mut Moment<'_>) {
        match effect {
            Effect::Carry(id, command) => self.post(state, id, command),
            Effect::Drop(id) => state.feeds.end(id),
            Effect::Wake(controller) => {
                if let Some(wakeup) = self.wakeups.controllers.get(controller) {
                    wakeup.notify_one();
                }
            }
            Effect::Term => {
                let now = moment.now.monotonic;
                self.permissions.update(&state.process, now);
            }
            Effect::Elect => self.wakeups.election.notify_one(),
            Effect::Discover => self.wakeups.discovery.notify_one(),
            Effect::Tell(news) => self.news.tell(&news, moment.now),
        }
    }

    /// Hands a command to the task that feeds a cache; a new cache gets its task.
    fn post(self: &Arc<Self>, state: &mut State, id: CacheId, command: Command) {
        let State { process, feeds } = state;
        let Some((kind, is_partial)) = process.cache_kind(id) else {
            return;
        };
        feeds.post(id, command, |mailbox| {
            let feed = Feed {
                shared: self.clone(),
                id,
                kind,
                is_partial,
                mailbox,
            };
            tokio::spawn(feed.run()).abort_handle()
        });
    }
}
