//! Works on keys: asks engines for the next sync and carries its actions out.
//!
//! The counterpart of `shell/runtime/src/loops.rs` and `executor.rs`, one step at a time.

use std::time::Duration;

use flyball_plan::{
    Action, Answer, Finished, Next, Outcome, Progress, SyncId, Work, Written, answer_of, request_of,
};

use super::flights::Purpose;
use super::{Cluster, Decided};
use crate::bugs::Bug;
use crate::coverage::{said_by_plan, said_by_report};
use crate::invariants::Happened;
use crate::replica::Syncing;
use crate::server::Got;
use crate::step::{Deed, Life, Step};

/// When a loop that can do nothing looks again, as `shell/runtime` does.
const SECOND_LOOK: Duration = Duration::from_secs(1);

impl Cluster {
    /// Lets a controller look for work soon.
    pub(super) fn wake(&mut self, life: Life, at: usize) {
        let delay = self.delay(life.replica, 4);
        self.plan_work(life, at, self.now + delay);
    }

    fn plan_work(&mut self, life: Life, at: usize, time: Duration) {
        let Some(process) = self.process(life) else {
            return;
        };
        let each = &mut process.loops[at];
        if each.work_at.is_none_or(|planned| time < planned) {
            each.work_at = Some(time);
            self.agenda.add(time, Step::Work(life, at));
        }
    }

    pub(super) fn work(&mut self, life: Life, at: usize) {
        let (now, clocks, bug) = (self.now, self.clocks(life), self.bug);
        let may_write = self.may_write_at(life, now) || self.overstays(life);
        let Some(process) = self.process(life) else {
            return;
        };
        match process.loops[at].work_at {
            Some(planned) if planned <= now => process.loops[at].work_at = None,
            _ => return,
        }
        if !may_write || !process.is_synced(at, clocks.monotonic) {
            // A second look now and then, while it leads; a standby is woken when its term begins.
            let standing = process.candidate.as_ref();
            if standing.is_none_or(|standing| standing.leads) {
                self.plan_work(life, at, now + SECOND_LOOK);
            }
            return;
        }
        let started = process.started;
        let snapshot = process.snapshot.clone();
        let each = &mut process.loops[at];
        let spoilt = Bug::spoil_sight(bug, each.descriptor.name, &snapshot);
        let shown = spoilt.as_ref().unwrap_or(&snapshot);
        match each.driver.next(shown, clocks) {
            Next::Work(work) => {
                self.wake(life, at);
                self.begin(life, at, work, snapshot);
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
        let Some(process) = self.process(life) else {
            return;
        };
        let controller = process.loops[at].descriptor.name;
        let Work { id, key, actions } = work;
        let mut actions = actions;
        Bug::spoil_plan(bug, controller, &seen, &mut actions);
        let progress = Progress::new(&actions);
        let batch = progress.batch();
        let syncing = Syncing {
            key: key.clone(),
            actions: actions.clone(),
            progress,
            over: false,
            seen: seen.clone(),
        };
        process.loops[at].syncs.insert(id, syncing);
        self.tally.stage(controller, actions.stage);
        let reached = &mut self.tally.reached;
        reached.hear(controller, || said_by_plan(&actions));
        let name = &self.replicas[life.replica].name;
        self.trace.tell(now, || {
            let deeds: Vec<String> = actions.items.iter().map(deed_told).collect();
            let deeds = deeds.join(", ");
            format!("{name} {controller} {key}: {} → {deeds}", actions.stage)
        });
        self.check(&Happened::Decided(&Decided {
            life,
            controller,
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

    /// One action leaves, if the term still allows it.
    pub(super) fn send_action(&mut self, deed: Deed) {
        let Deed {
            life,
            controller,
            sync,
            action,
        } = deed;
        let (clocks, bug) = (self.clocks(life), self.bug);
        let may_write = self.may_write_at(life, self.now) || self.overstays(life);
        let Some(process) = self.process(life) else {
            return;
        };
        let each = &mut process.loops[controller];
        let Some(syncing) = each.syncs.get_mut(&sync) else {
            return;
        };
        let mut planned = syncing.actions.items[action].clone();
        if let Action::Record(record) = &planned {
            let write = each.teller.recorder.record(record, clocks);
            each.teller.waiting.extend(write);
            let (name, reason) = (each.descriptor.name, record.reason);
            self.tally.reason(name, reason);
            self.tell_soon(life, controller);
            return self.note(
                life,
                controller,
                sync,
                action,
                Answer::Done(Written::default()),
            );
        }
        if let Action::Discover { age_max } = &planned {
            let age_max = *age_max;
            return self.discover_for(deed, age_max);
        }
        if let Action::Survey { kind, age_max, .. } = &planned
            && let Some((at, listing)) = each.recent_lists.get(kind)
            && clocks.monotonic.saturating_sub(*at) <= *age_max
        {
            let answer = Answer::Listed(listing.clone());
            return self.hear_answer(deed, answer);
        }
        if planned.is_write() && !may_write {
            syncing.over = true;
            return self.note(life, controller, sync, action, Answer::Skipped);
        }
        let judged = judged(&planned);
        let is_write = planned.is_write();
        Bug::spoil_action(bug, each.descriptor.name, &mut planned);
        let (user, agent) = (each.user.clone(), each.descriptor.client);
        let (name, seen) = (each.descriptor.name, syncing.seen.clone());
        let key = syncing.key.clone();
        let Some(request) = request_of(&planned) else {
            return;
        };
        if is_write {
            self.check(&Happened::Sent {
                controller: name,
                holder: self.identity(life),
                part: &self.replicas[life.replica].part.name.clone(),
            });
        }
        let purpose = Purpose::Action {
            controller,
            sync,
            action,
            judged,
            sent_at: clocks.monotonic,
        };
        let number = self.send(life, purpose, request.into(), user, agent);
        if let Some(flight) = self.flights.get_mut(&number) {
            flight.seen = Some(seen);
            flight.key = key;
        }
    }

    /// The server's answer to an action has come, or none will.
    pub(super) fn action_answered(&mut self, deed: Deed, sent_at: Duration, got: Got) {
        let Deed {
            life,
            controller,
            sync,
            action,
        } = deed;
        let may_write = self.may_write_at(life, self.now);
        let Some(process) = self.process(life) else {
            return;
        };
        let each = &mut process.loops[controller];
        let Some(syncing) = each.syncs.get_mut(&sync) else {
            return;
        };
        let planned = &syncing.actions.items[action];
        let answer = match got {
            Got::Body(body) => answer_of(planned, &body),
            Got::Failed(error) if planned.is_write() && error.code() == 0 && !may_write => {
                syncing.over = true;
                Answer::Skipped
            }
            Got::Failed(error) => Answer::Failed(error),
            Got::Watch(_) => return,
        };
        if let (Action::Survey { kind, .. }, Answer::Listed(listing)) = (planned, &answer) {
            // Others who ask at about the same time are told the same.
            let recent = (sent_at, listing.clone());
            each.recent_lists.insert(*kind, recent);
        }
        self.hear_answer(deed, answer);
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
        let Some(process) = self.process(life) else {
            return;
        };
        let each = &mut process.loops[controller];
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
        let Some(process) = self.process(life) else {
            return;
        };
        let Some(syncing) = process.loops[at].syncs.get_mut(&sync) else {
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
        let Some(process) = self.process(life) else {
            return;
        };
        let each = &mut process.loops[at];
        let Some(syncing) = each.syncs.remove(&sync) else {
            return;
        };
        let answers = syncing.progress.into_answers();
        if syncing.over {
            each.driver.abandon(sync, &answers, clocks);
            let (name, key) = (each.descriptor.name, syncing.key);
            let replica = &self.replicas[life.replica].name;
            let tells = || format!("{replica} {name} {key}: abandoned, the lease is lost");
            self.trace.tell(self.now, tells);
            return self.wake(life, at);
        }
        match each.driver.answered(sync, answers, clocks) {
            Some(Next::Work(work)) => self.begin(life, at, work, syncing.seen),
            Some(Next::Finished(finished)) => self.finished(life, at, &finished),
            Some(Next::Idle(_)) | None => {}
        }
        self.wake(life, at);
    }

    fn finished(&mut self, life: Life, at: usize, finished: &Finished) {
        let Some(process) = self.process(life) else {
            return;
        };
        let controller = process.loops[at].descriptor.name;
        let Finished {
            key,
            outcome,
            report,
        } = finished;
        self.tally.rule(controller, report.rule);
        let reached = &mut self.tally.reached;
        reached.hear(controller, || said_by_report(report));
        let replica = &self.replicas[life.replica].name;
        self.trace.tell(self.now, || match outcome {
            Outcome::Gated(waiting) => {
                format!(
                    "{replica} {controller} {key}: waits to see {}",
                    waiting.what
                )
            }
            Outcome::Absent => format!("{replica} {controller} {key}: nothing to do any more"),
            Outcome::Retries { error, after } => {
                format!("{replica} {controller} {key}: again in {after:?}: {error}")
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

    /// Whether a life may write at a moment.
    pub(super) fn may_write_at(&self, life: Life, at: Duration) -> bool {
        let replica = &self.replicas[life.replica];
        let process = replica.process.as_ref();
        let process = process.filter(|process| process.number == life.number);
        process.is_some_and(|process| process.may_write(at.saturating_sub(process.started)))
    }

    /// A deliberate bug: whoever led goes on until it is told that it does not lead any more,
    /// whatever the clock says.
    fn overstays(&self, life: Life) -> bool {
        let process = self.replicas[life.replica].process.as_ref();
        let standing = process.and_then(|process| process.candidate.as_ref());
        self.bug == Some(Bug::WritesAfterItsTerm) && standing.is_some_and(|one| one.leads)
    }

    /// Under which name a life takes part in its election; `None` if it needs none.
    pub(super) fn identity(&self, life: Life) -> Option<String> {
        let process = self.replicas[life.replica].process.as_ref()?;
        let standing = process.candidate.as_ref()?;
        Some(standing.identity.clone())
    }
}

/// The incarnation that an action is meant for.
fn judged(action: &Action) -> Option<flyball_api::Uid> {
    match action {
        Action::Patch { precondition, .. }
        | Action::Merge { precondition, .. }
        | Action::Update { precondition, .. }
        | Action::Delete { precondition, .. }
        | Action::Bind { precondition, .. } => precondition.uid.clone(),
        _ => None,
    }
}

fn deed_told(action: &Action) -> String {
    match action {
        Action::Create {
            kind, namespace, ..
        }
        | Action::DeleteCollection {
            kind, namespace, ..
        }
        | Action::List {
            kind, namespace, ..
        } => format!("{} {kind} in {namespace}", action.verb()),
        Action::Survey { kind, .. } => format!("{} {kind} everywhere", action.verb()),
        Action::Discover { .. } => action.verb().to_owned(),
        Action::Patch { target, .. }
        | Action::Merge { target, .. }
        | Action::Confirm { target, .. }
        | Action::Update { target, .. }
        | Action::Delete { target, .. }
        | Action::Ask { target } => format!("{} {} {}", action.verb(), target.kind, target.name),
        Action::Bind { target, node, .. } => format!("bind {} to {node}", target.name),
        Action::Record(record) => format!("record {}", record.reason),
    }
}
