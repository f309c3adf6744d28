//! Events: sends what the tellers of a process want sent.

use std::time::Duration;

use flyball_process::Told;

use super::Cluster;
use super::flights::Purpose;
use crate::server::Got;
use crate::step::{Life, Step};

/// When events that may not be sent yet are looked at again.
const SECOND_LOOK: Duration = Duration::from_secs(1);

impl Cluster {
    pub(super) fn plan_telling(&mut self, life: Life, at: usize, time: Duration) {
        let Some(running) = self.running(life) else {
            return;
        };
        let each = &mut running.loops[at];
        if each.tell_at.is_none_or(|planned| time < planned) {
            each.tell_at = Some(time);
            self.agenda.add(time, Step::Tell(life, at));
        }
    }

    pub(super) fn tell_next(&mut self, life: Life, at: usize) {
        let (now, monotonic) = (self.now, self.clocks(life).monotonic);
        let Some(running) = self.running(life) else {
            return;
        };
        let (started, leads) = (running.started, running.core.leads(monotonic));
        let waits = leads && !running.core.may_write(monotonic);
        let each = &mut running.loops[at];
        if each.tell_at.is_none_or(|planned| planned > now) {
            return;
        }
        each.tell_at = None;
        if waits {
            return self.plan_telling(life, at, now + SECOND_LOOK);
        }
        match each.teller.next(leads, monotonic) {
            Told::Idle => {}
            Told::Wait(until) => self.plan_telling(life, at, started + until),
            Told::Send(request) => {
                let (user, agent) = (each.user.clone(), each.descriptor.client);
                let purpose = Purpose::Event { controller: at };
                self.send(life, purpose, request.into(), user, agent);
            }
        }
    }

    pub(super) fn event_answered(&mut self, life: Life, at: usize, got: &Got) {
        let (now, monotonic) = (self.now, self.clocks(life).monotonic);
        let jitter = self.jitter(life.replica);
        let Some(running) = self.running(life) else {
            return;
        };
        let answer = match got {
            Got::Failed(error) => Err(error),
            Got::Body(_) | Got::Watch(_) => Ok(()),
        };
        running.loops[at].teller.answered(answer, monotonic, jitter);
        self.plan_telling(life, at, now);
    }
}
