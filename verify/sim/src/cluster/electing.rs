//! Elections: each candidate keeps its Lease, or waits for it.
//!
//! The counterpart of `shell/runtime/src/election.rs`, one step at a time.

use flyball_election::{Candidate, Command, Heard, Role, told};

use super::Cluster;
use super::flights::Purpose;
use crate::replica::RENEW_DEADLINE;
use crate::server::{Asked, Got};
use crate::step::{Life, Step};

impl Cluster {
    /// Looks at the term, and does what the election wants now.
    pub(super) fn elect(&mut self, life: Life) {
        let (now, clocks) = (self.now, self.clocks(life));
        let Some(process) = self.process(life) else {
            return;
        };
        let started = process.started;
        let Some(standing) = process.candidate.as_mut() else {
            return;
        };
        // It was looked at meanwhile: what was planned then counts.
        if standing.elect_at.is_none_or(|planned| planned > now) {
            return;
        }
        standing.elect_at = None;
        // Each request may take half the renew deadline, as upstream's.
        let patience = RENEW_DEADLINE / 2;
        if let Some((_, _, sent_at)) = &standing.asked {
            let given_up_at = *sent_at + patience;
            if clocks.monotonic < given_up_at {
                self.announce(life);
                return self.plan_election(life, started + given_up_at);
            }
            standing.asked = None;
            self.hear_of_election(life, Heard::Failed);
            return;
        }
        let command = standing.candidate.next(clocks.monotonic, clocks.wall);
        if let Command::WaitUntil(at) = command {
            // The term may end before anything else happens; it is noticed when it does.
            let at = standing.candidate.look_again_at(at, clocks.monotonic);
            self.announce(life);
            return self.plan_election(life, (started + at).max(now));
        }
        let request = standing.candidate.request(&command);
        let user = self.replicas[life.replica].user.clone();
        let number = self.send(
            life,
            Purpose::Election,
            request.into(),
            user,
            "leader-election",
        );
        if let Some(process) = self.process(life)
            && let Some(standing) = process.candidate.as_mut()
        {
            standing.asked = Some((number, command, clocks.monotonic));
        }
        self.plan_election(life, now + patience);
    }

    pub(super) fn plan_election(&mut self, life: Life, at: std::time::Duration) {
        let Some(process) = self.process(life) else {
            return;
        };
        let Some(standing) = process.candidate.as_mut() else {
            return;
        };
        if standing.elect_at.is_none_or(|planned| at < planned) {
            standing.elect_at = Some(at);
            self.agenda.add(at, Step::Elect(life));
        }
    }

    pub(super) fn election_answered(&mut self, life: Life, number: u64, got: Got) {
        let Some(process) = self.process(life) else {
            return;
        };
        let Some(standing) = process.candidate.as_mut() else {
            return;
        };
        // It was given up meanwhile.
        if standing
            .asked
            .as_ref()
            .is_none_or(|(asked, ..)| *asked != number)
        {
            return;
        }
        let Some((_, command, sent_at)) = standing.asked.take() else {
            return;
        };
        let heard = match &got {
            Got::Body(body) => Candidate::heard_of(&command, sent_at, Ok(body)),
            Got::Failed(error) => Candidate::heard_of(&command, sent_at, Err(error)),
            Got::Watch(_) => Heard::Failed,
        };
        self.hear_of_election(life, heard);
    }

    fn hear_of_election(&mut self, life: Life, heard: Heard) {
        let clocks = self.clocks(life);
        let jitter = self.jitter(life.replica);
        let Some(process) = self.process(life) else {
            return;
        };
        if let Some(standing) = process.candidate.as_mut() {
            standing.candidate.hear(heard, clocks.monotonic, jitter);
        }
        self.announce(life);
        self.plan_election(life, self.now);
    }

    /// Begins or ends the term as the election has it.
    fn announce(&mut self, life: Life) {
        let clocks = self.clocks(life);
        let Some(process) = self.process(life) else {
            return;
        };
        let Some(standing) = process.candidate.as_mut() else {
            return;
        };
        let leads = standing.candidate.election().role(clocks.monotonic) == Role::Leader;
        if leads == standing.leads {
            return;
        }
        standing.leads = leads;
        let loops = process.loops.len();
        let name = &self.replicas[life.replica].name;
        let what = if leads {
            "became leader"
        } else {
            "lost the lease"
        };
        self.trace.tell(self.now, || format!("{name} {what}"));
        if leads {
            self.tally.terms += 1;
            // Another leader may have left things half-done.
            self.resync(life);
            for at in 0..loops {
                self.wake(life, at);
            }
        }
    }

    /// Watches the Lease, so that a standby need not wait for its next try.
    pub(super) fn watch_lease(&mut self, life: Life) {
        let Some(process) = self.process(life) else {
            return;
        };
        let Some(standing) = process.candidate.as_ref() else {
            return;
        };
        let path = standing.candidate.path();
        let (collection, name) = path.rsplit_once('/').unwrap_or((path.as_str(), ""));
        let selector = format!("metadata.name={name}");
        let query = vec![("watch", "true".to_owned()), ("fieldSelector", selector)];
        let asked = Asked::get(collection.to_owned(), query);
        let user = self.replicas[life.replica].user.clone();
        self.send(life, Purpose::Lease, asked, user, "leader-election");
    }

    pub(super) fn told_of_lease(&mut self, life: Life, line: &[u8]) {
        let Some(process) = self.process(life) else {
            return;
        };
        // While a request is under way, only its answer is listened to.
        let is_waiting = process
            .candidate
            .as_ref()
            .is_some_and(|standing| standing.asked.is_none());
        if let (true, Some(lease)) = (is_waiting, told(line)) {
            self.hear_of_election(life, Heard::Told(lease));
        }
    }
}
