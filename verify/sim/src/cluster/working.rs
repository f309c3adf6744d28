//! Carries out the syncs that a process hands out, one action at a time.

use std::time::Duration;

use flyball_api::{ApiError, Kind, ObjectName};
use flyball_plan::{
    Action, Answer, Finished, Next, Outcome, Progress, Question as Asked, Subresource, SyncId,
    Work, Written, answer_of, request_of,
};
use flyball_process::{Question, Reading};
use serde_json::Value;

use super::flights::Purpose;
use super::{Cluster, Decided};
use crate::bugs::Bug;
use crate::coverage::{said_by_plan, said_by_report};
use crate::invariants::Happened;
use crate::replica::Syncing;
use crate::server::Got;
use crate::step::{Deed, Life, Step};

impl Cluster {
    /// Lets a controller look for work soon.
    pub(super) fn wake(&mut self, life: Life, at: usize) {
        let delay = self.delay(life.replica, 4);
        self.plan_work(life, at, self.now + delay);
    }

    fn plan_work(&mut self, life: Life, at: usize, time: Duration) {
        let Some(running) = self.running(life) else {
            return;
        };
        let each = &mut running.loops[at];
        if each.work_at.is_none_or(|planned| time < planned) {
            each.work_at = Some(time);
            self.agenda.add(time, Step::Work(life, at));
        }
    }

    pub(super) fn work(&mut self, life: Life, at: usize) {
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        match running.loops[at].work_at {
            Some(planned) if planned <= now => running.loops[at].work_at = None,
            _ => return,
        }
        let started = running.started;
        let Some(next) = self.decide(life, |core, moment| core.next(at, moment)) else {
            return;
        };
        match next {
            Next::Work(work) => {
                self.wake(life, at);
                let seen = self.running(life).map(|one| one.core.snapshot().clone());
                self.begin(life, at, work, seen.unwrap_or_default());
            }
            Next::Finished(finished) => {
                self.wake(life, at);
                self.finished(life, at, &finished);
            }
            Next::Idle(Some(due)) => self.plan_work(life, at, (started + due).max(now)),
            Next::Idle(None) => {}
        }
    }

    /// Begins a stage of a sync.
    fn begin(&mut self, life: Life, at: usize, work: Work, seen: flyball_informer::Snapshot) {
        let bug = self.bug;
        let now = self.now;
        let Some(running) = self.running(life) else {
            return;
        };
        let round = running.core.round();
        let descriptor = running.loops[at].descriptor;
        let (controller, watches) = (descriptor.name, descriptor.watches);
        let Work { id, key, actions } = work;
        let mut actions = actions;
        Bug::spoil_plan(bug, controller, &seen, &mut actions);
        let progress = Progress::new(&actions);
        let batch = progress.batch();
        let syncing = Syncing {
            key: key.clone(),
            actions: actions.clone(),
            progress,
            round,
            over: false,
            seen: seen.clone(),
        };
        let runs = running.loops[at].syncs.values().any(|one| one.key == key);
        running.loops[at].syncs.insert(id, syncing);
        if runs {
            let what = format!("{controller} {key} is worked on twice at a time");
            return self.violate("a key is worked on by one sync at a time", what);
        }
        self.tally.stage(controller, actions.stage);
        let reached = &mut self.tally.reached;
        reached.hear(controller, || said_by_plan(&actions));
        let name = &self.replicas[life.replica].name;
        self.trace.tell(now, || {
            let deeds: Vec<String> = actions.items.iter().map(deed_told).collect();
            let deeds = deeds.join(", ");
            format!("{name} {controller} {key}: {} → {deeds}", actions.id())
        });
        let holder = self.identity(life);
        self.check(&Happened::Decided(&Decided {
            life,
            controller,
            watches,
            holder,
            key: &key,
            seen: &seen,
            actions: &actions,
        }));
        match batch {
            Some(batch) => self.plan_sends(life, at, id, batch),
            None => self.go_on(life, at, id),
        }
    }

    fn plan_sends(&mut self, life: Life, at: usize, sync: SyncId, batch: std::ops::Range<usize>) {
        for action in batch {
            let delay = self.delay(life.replica, 2);
            let deed = Deed {
                life,
                controller: at,
                sync,
                action,
            };
            self.agenda.add(self.now + delay, Step::Send(deed));
        }
    }

    /// One action leaves.
    pub(super) fn send_action(&mut self, deed: Deed) {
        let Deed {
            life,
            controller,
            sync,
            action,
        } = deed;
        let (clocks, bug, now) = (self.clocks(life), self.bug, self.now);
        let Some(running) = self.running(life) else {
            return;
        };
        let each = &mut running.loops[controller];
        let Some(syncing) = each.syncs.get_mut(&sync) else {
            return;
        };
        let mut planned = syncing.actions.items[action].clone();
        if let Action::Record(record) = &planned {
            each.teller.record(record, clocks);
            let (name, reason) = (each.descriptor.name, record.reason);
            self.tally.reason(name, reason);
            self.plan_telling(life, controller, now);
            let done = Answer::Done(Written::default());
            return self.note(life, controller, sync, action, done);
        }
        match running.core.read(controller, &planned, clocks.monotonic) {
            Some(Reading::Known(answer)) => return self.hear_answer(deed, answer),
            Some(Reading::Wait(question)) => return running.waiting.push((question, deed)),
            Some(Reading::Ask(Question::Discovery)) => return self.discover_for(deed),
            Some(Reading::Ask(Question::List(_))) | None => {}
        }
        let (round, judged, is_write) = (syncing.round, judged(&planned), planned.is_write());
        Bug::spoil_action(bug, each.descriptor.name, &mut planned);
        let (user, agent) = (each.user.clone(), each.descriptor.client);
        let watches = each.descriptor.watches;
        let (seen, key) = (syncing.seen.clone(), syncing.key.clone());
        let shown = running.shown.clone();
        // A deliberate bug: the permission is asked for before the connection is opened.
        let asks_early = bug == Some(Bug::PermitBeforeConnecting);
        if asks_early && is_write && !running.core.may_send(round, clocks.monotonic) {
            return self.refuse(deed);
        }
        let Some(request) = request_of(&planned) else {
            return;
        };
        let purpose = Purpose::Action {
            controller,
            sync,
            action,
            judged,
            round,
        };
        let number = self.send(life, purpose, request.into(), user, agent);
        if let Some(flight) = self.flights.get_mut(&number) {
            flight.seen = Some(seen);
            flight.watches = watches;
            flight.shown = shown;
            flight.key = key;
        }
    }

    /// A write was not sent, because it may not be any more.
    pub(super) fn refuse(&mut self, deed: Deed) {
        let error = ApiError::terminal("not sent: this process may no longer write");
        self.action_answered(deed, Got::Failed(error));
    }

    /// The server's answer to an action has come, or none will.
    pub(super) fn action_answered(&mut self, deed: Deed, got: Got) {
        let Deed {
            life,
            controller,
            sync,
            action,
        } = deed;
        let monotonic = self.clocks(life).monotonic;
        let Some(running) = self.running(life) else {
            return;
        };
        let Some(syncing) = running.loops[controller].syncs.get_mut(&sync) else {
            return;
        };
        let planned = &syncing.actions.items[action];
        let may_send = running.core.may_send(syncing.round, monotonic);
        let answer = match got {
            Got::Body(body) => answer_of(planned, &body),
            Got::Failed(error) if planned.is_write() && error.code() == 0 && !may_send => {
                syncing.over = true;
                Answer::Skipped
            }
            Got::Failed(error) => Answer::Failed(error),
            Got::Watch(_) => return,
        };
        let heard = match Question::of(planned) {
            // Others who ask at about the same time get the same answer.
            Some(question) => self.read_answered(life, controller, answer, question),
            None => Some(answer),
        };
        if let Some(heard) = heard {
            self.hear_answer(deed, heard);
        }
    }

    /// A controller hears what became of an action.
    pub(super) fn hear_answer(&mut self, deed: Deed, answer: Answer) {
        let Deed {
            life,
            controller,
            sync,
            action,
        } = deed;
        let bug = self.bug;
        let Some(running) = self.running(life) else {
            return;
        };
        let each = &mut running.loops[controller];
        let Some(syncing) = each.syncs.get_mut(&sync) else {
            return;
        };
        let planned = &syncing.actions.items[action];
        let name = each.descriptor.name;
        let (key, planned) = (syncing.key.clone(), planned.clone());
        let seen = syncing.seen.clone();
        if let Some(error) = answer.error() {
            let replica = &self.replicas[life.replica].name;
            let tells = || format!("{replica} {name} {key}: {} failed: {error}", planned.verb());
            self.trace.tell(self.now, tells);
        }
        self.check(&Happened::Answered {
            life,
            controller: name,
            key: &key,
            seen: &seen,
            action: &planned,
            answer: &answer,
        });
        let answer = Bug::spoil_answer(bug, name, &seen, &planned, answer);
        self.note(life, controller, sync, action, answer);
    }

    /// Notes what became of an action; the last one of a batch moves the sync on.
    fn note(&mut self, life: Life, at: usize, sync: SyncId, action: usize, answer: Answer) {
        let Some(running) = self.running(life) else {
            return;
        };
        let Some(syncing) = running.loops[at].syncs.get_mut(&sync) else {
            return;
        };
        let before = syncing.progress.batch();
        syncing.progress.answered(action, answer);
        let batch = syncing.progress.batch();
        let is_over = syncing.over;
        if batch == before && batch.is_some() {
            // Others of the batch are still under way.
            return;
        }
        match batch {
            Some(batch) if !is_over => self.plan_sends(life, at, sync, batch),
            _ => self.go_on(life, at, sync),
        }
    }

    /// The stage is over: the engine says what comes next.
    fn go_on(&mut self, life: Life, at: usize, sync: SyncId) {
        let clocks = self.clocks(life);
        let Some(running) = self.running(life) else {
            return;
        };
        let each = &mut running.loops[at];
        let Some(syncing) = each.syncs.remove(&sync) else {
            return;
        };
        let answers = syncing.progress.into_answers();
        if syncing.over {
            let (name, key) = (each.descriptor.name, syncing.key);
            self.decide(life, |core, _| core.abandon(at, sync, &answers, clocks));
            let replica = &self.replicas[life.replica].name;
            let tells = || format!("{replica} {name} {key}: abandoned, it may not be written");
            self.trace.tell(self.now, tells);
            return self.wake(life, at);
        }
        let actions = &syncing.actions;
        let next = self.decide(life, |core, moment| {
            core.answered(at, sync, actions, answers, moment)
        });
        match next.flatten() {
            Some(Next::Work(work)) => self.begin(life, at, work, syncing.seen),
            Some(Next::Finished(finished)) => self.finished(life, at, &finished),
            Some(Next::Idle(_)) | None => {}
        }
        self.wake(life, at);
    }

    fn finished(&mut self, life: Life, at: usize, finished: &Finished) {
        let Some(running) = self.running(life) else {
            return;
        };
        let controller = running.loops[at].descriptor.name;
        let Finished {
            key,
            outcome,
            report,
            ..
        } = finished;
        self.tally.rule(controller, report.rule.text);
        let reached = &mut self.tally.reached;
        reached.hear(controller, || said_by_report(report));
        let replica = &self.replicas[life.replica].name;
        self.trace.tell(self.now, || match outcome {
            Outcome::Gated(waiting) => {
                format!("{replica} {controller} {key}: waits for the cache to show {waiting}")
            }
            Outcome::Absent => format!("{replica} {controller} {key}: nothing to do any more"),
            Outcome::Retries { error, after } => {
                format!("{replica} {controller} {key}: again in {after:?}: {error}")
            }
            Outcome::Conflicts { error, after } => {
                format!("{replica} {controller} {key}: looks again in {after:?}: {error}")
            }
            Outcome::Permanent { error } => {
                format!("{replica} {controller} {key}: refused for good: {error}")
            }
            Outcome::GaveUp { error, failures } => {
                format!("{replica} {controller} {key}: given up after {failures}: {error}")
            }
            Outcome::Rested | Outcome::Waits(_) => {
                format!("{replica} {controller} {key}: rests: {report}")
            }
        });
        if let Outcome::GaveUp { .. } = outcome {
            self.tally.given_up += 1;
        }
    }

    /// Under which name a life takes part in its election; `None` if it needs none.
    pub(super) fn identity(&mut self, life: Life) -> Option<String> {
        self.running(life)?.identity.clone()
    }
}

/// The incarnation that an action is meant for.
fn judged(action: &Action) -> Option<flyball_api::Uid> {
    let write = action.write()?;
    write.precondition.uid.clone()
}

fn deed_told(action: &Action) -> String {
    let verb = action.verb();
    let place = |kind: Kind, name: &ObjectName| match (&*name.namespace, &*name.name) {
        ("", "") => format!("{verb} {kind} everywhere"),
        (namespace, "") => format!("{verb} {kind} in {namespace}"),
        _ => format!("{verb} {kind} {name}"),
    };
    match action {
        Action::Write(write) if write.subresource == Subresource::BINDING => {
            let body: Value = serde_json::from_str(write.body.json()).unwrap_or_default();
            let node = body["target"]["name"].as_str().unwrap_or_default();
            format!("bind {} to {node}", write.target.name)
        }
        Action::Write(write) => place(write.target.kind, &write.target.name),
        Action::Read(read) => match &read.question {
            Asked::Get { target, .. } | Asked::Exists { target, .. } => {
                place(target.kind, &target.name)
            }
            Asked::List {
                kind, namespace, ..
            } => place(*kind, &ObjectName::new(namespace, "")),
            Asked::Path { path, .. } => format!("{verb} {path}"),
            Asked::Discovery => verb.to_owned(),
        },
        Action::Record(record) => format!("record {}", record.reason),
    }
}
