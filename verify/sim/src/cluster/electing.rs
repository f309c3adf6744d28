//! Elections: carries out what a process asks of its Lease, and watches it.

use std::time::Duration;

use flyball_api::ApiError;
use flyball_process::Elect;

use super::Cluster;
use super::flights::Purpose;
use crate::server::{Asked, Got};
use crate::step::{Life, Step};

impl Cluster {
    /// Looks at the term, and does what the election wants now.
    pub(super) fn elect(&mut self, life: Life) {
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        // It was looked at meanwhile: what was planned then counts.
        if running.elect_at.is_none_or(|planned| planned > now) {
            return;
        }
        running.elect_at = None;
        let started = running.started;
        if !running.core.is_election_asked() {
            // One under way is not waited for any more.
            running.election = None;
        }
        if let Some((_, until)) = running.election
            && now >= until
        {
            running.election = None;
            let error = ApiError::timeout("no answer in time");
            self.decide(life, |core, moment| {
                core.election_answered(Err(&error), moment);
            });
        }
        let Some(elect) = self.decide(life, |core, moment| core.elect(moment)) else {
            return;
        };
        match elect {
            Elect::Wait(at) => {
                let at = started.saturating_add(at).max(now);
                self.plan_election(life, at);
            }
            Elect::Send(request, until) => {
                let until = started + until;
                let user = self.replicas[life.replica].user.clone();
                let purpose = Purpose::Election;
                let number = self.send(life, purpose, request.into(), user, "leader-election");
                if let Some(running) = self.running(life) {
                    running.election = Some((number, until));
                }
                self.plan_election(life, until);
            }
        }
        let ends = self
            .running(life)
            .and_then(|running| running.core.leads_until());
        if let Some(ends) = ends.map(|ends| started + ends).filter(|ends| *ends > now) {
            self.plan_election(life, ends);
        }
    }

    pub(super) fn plan_election(&mut self, life: Life, at: Duration) {
        let Some(running) = self.running(life) else {
            return;
        };
        if running.elect_at.is_none_or(|planned| at < planned) {
            running.elect_at = Some(at);
            self.agenda.add(at, Step::Elect(life));
        }
    }

    pub(super) fn election_answered(&mut self, life: Life, number: u64, got: &Got) {
        let Some(running) = self.running(life) else {
            return;
        };
        // It was given up meanwhile.
        if running.election.is_none_or(|(asked, _)| asked != number) {
            return;
        }
        running.election = None;
        let answer = match got {
            Got::Body(body) => Ok(&body[..]),
            Got::Failed(error) => Err(error),
            Got::Watch(_) => return,
        };
        self.decide(life, |core, moment| core.election_answered(answer, moment));
    }

    /// Watches the Lease, so that a standby need not wait for its next try.
    pub(super) fn watch_lease(&mut self, life: Life) {
        let Some(path) = self.running(life).and_then(|one| one.core.lease_path()) else {
            return;
        };
        let (collection, name) = path.rsplit_once('/').unwrap_or((path.as_str(), ""));
        let selector = format!("metadata.name={name}");
        let query = vec![("watch", "true".to_owned()), ("fieldSelector", selector)];
        let asked = Asked::get(collection.to_owned(), query);
        let user = self.replicas[life.replica].user.clone();
        self.send(life, Purpose::Lease, asked, user, "leader-election");
    }

    pub(super) fn told_of_lease(&mut self, life: Life, line: &[u8]) {
        self.decide(life, |core, moment| core.lease_told(line, moment));
    }
}
