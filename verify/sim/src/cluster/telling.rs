//! Tells events: one after the other, in the background, as `shell/runtime/src/events.rs` does.

use std::time::Duration;

use flyball_api::request::{Method, Request};
use flyball_api::views::Event;

use super::Cluster;
use super::flights::Purpose;
use crate::server::Got;
use crate::step::{Life, Step};

/// How often a write is tried when no answer comes, and how long between tries.
const TRIES_MAX: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

impl Cluster {
    pub(super) fn tell_soon(&mut self, life: Life, at: usize) {
        let Some(process) = self.process(life) else {
            return;
        };
        let teller = &mut process.loops[at].teller;
        if !teller.is_busy && !teller.waiting.is_empty() {
            teller.is_busy = true;
            self.agenda.add(self.now, Step::Tell(life, at));
        }
    }

    pub(super) fn tell_next(&mut self, life: Life, at: usize) {
        let may_write = self.may_write_at(life, self.now);
        let Some(process) = self.process(life) else {
            return;
        };
        let each = &mut process.loops[at];
        if !may_write {
            // Whoever leads next has something to tell of its own.
            each.teller.waiting.clear();
        }
        let Some(write) = each.teller.waiting.front() else {
            each.teller.is_busy = false;
            return;
        };
        let request = match &write.patch {
            Some((name, body)) if !each.teller.is_gone => Request::with(
                Method::StrategicPatch,
                Event::KIND.object_path(&write.namespace, name),
                body.json().to_owned(),
            ),
            _ => Request::with(
                Method::Post,
                Event::KIND.collection_path(&write.namespace),
                write.create.json().to_owned(),
            ),
        };
        let (user, agent) = (each.user.clone(), each.descriptor.client);
        let purpose = Purpose::Event { controller: at };
        self.send(life, purpose, request.metadata_only().into(), user, agent);
    }

    pub(super) fn event_answered(&mut self, life: Life, at: usize, got: Got) {
        let jitter = self.jitter(life.replica);
        let now = self.now;
        let Some(process) = self.process(life) else {
            return;
        };
        let teller = &mut process.loops[at].teller;
        let was_patch = teller
            .waiting
            .front()
            .is_some_and(|write| write.patch.is_some() && !teller.is_gone);
        match &got {
            // The one to count up is gone: another is made.
            Got::Failed(error) if error.is_not_found() && was_patch => {
                teller.is_gone = true;
                return self.tell_next(life, at);
            }
            // Silence is no answer: the same again, after a pause of which the first is random.
            Got::Failed(error) if error.code() == 0 && teller.tries < TRIES_MAX => {
                let pause = match teller.tries {
                    0 => PAUSE.mul_f64(jitter),
                    _ => PAUSE,
                };
                teller.tries += 1;
                self.agenda.add(now + pause, Step::Tell(life, at));
                return;
            }
            _ => {}
        }
        teller.tries = 0;
        teller.is_gone = false;
        drop(teller.waiting.pop_front());
        self.agenda.add(now, Step::Tell(life, at));
    }
}
