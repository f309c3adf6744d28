//! The engine drives one controller: changes in, actions out, answers in, until each key rests.
//!
//! It is a plain value. On a cluster the shell calls it behind a lock and runs the actions over
//! HTTP; in the simulator the same code is called step by step. All of the pacing of a controller
//! (queue, back-off, gate, number of syncs at once) is decided here.

mod driver;
mod next;
mod stats;

use std::collections::HashMap;
use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{Change, Snapshot};
use flyball_workqueue::{Options, Priority, Retry, WorkQueue};

use crate::{
    Actions, Again, Answer, Answers, Controller, Gate, Key, Learnt, Now, OWN_WRITE_UNSEEN, Report,
    Rest, Revisit, Step, TOO_MANY_STAGES, Wait,
};

pub use driver::Driver;
pub use next::{Finished, Next, Outcome, SyncId, Work};
pub use stats::{Endings, EngineStats};

/// How often a key looks again while its gate is closed. The write it waits for normally arrives
/// as a change and wakes it; this only covers writes whose object was gone before any watch saw it.
const GATE_RECHECK: Duration = Duration::from_secs(1);

/// How soon a key is looked at again after a conflict; each further one in a row doubles it.
const CONFLICT_DELAY: Duration = Duration::from_millis(10);

/// So many conflicts in a row are a failure like any other.
const CONFLICTS_MAX: u32 = 8;

/// When a key is looked at again whose objects validation refuses: the longest delay of a failure.
const PERMANENT_DELAY: Duration = Duration::from_secs(1000);

/// More stages than any correct controller takes in one sync: beyond it the sync is failed, so
/// that a mistake cannot become a hot loop.
const STAGES_MAX: usize = 1_024;

struct Sync<C: Controller> {
    /// The epoch and the history in which it was observed.
    epoch: u64,
    history: u64,
    key: C::Key,
    seen: C::Observation,
    answers: Answers,
    asked: Actions,
}

/// Drives one controller.
pub struct Engine<C: Controller> {
    controller: C,
    workers: usize,
    queue: WorkQueue<C::Key>,
    gate: Gate<C::Key>,
    memory: C::Memory,
    syncs: HashMap<SyncId, Sync<C>>,
    syncs_started: u64,
    /// Grows when what syncs have observed becomes void; those of an earlier epoch go no further.
    epoch: u64,
    /// Grows when own writes become void too.
    history: u64,
    stale_skips: Vec<(Kind, u64)>,
    /// The keys that met conflicts, and how many in a row.
    conflicts: HashMap<C::Key, u32>,
    endings: Endings,
}

impl<C: Controller> Engine<C> {
    /// An engine with the pacing of the controller's descriptor.
    pub fn new(controller: C) -> Self {
        let options = Options {
            max_retries: C::DESCRIPTOR.retries_max,
            max_delay: C::DESCRIPTOR.delay_max,
            ..Options::default()
        };
        Self::with(controller, C::DESCRIPTOR.workers, options)
    }

    /// An engine with configured pacing.
    pub fn with(controller: C, workers: usize, options: Options) -> Self {
        Self {
            controller,
            workers: workers.max(1),
            queue: WorkQueue::new(options),
            gate: Gate::default(),
            memory: C::Memory::default(),
            syncs: HashMap::new(),
            syncs_started: 0,
            epoch: 0,
            history: 0,
            stale_skips: Vec::new(),
            conflicts: HashMap::new(),
            endings: Endings::default(),
        }
    }

    /// Routes a change to the keys it concerns.
    pub fn changed(&mut self, change: &Change, store: &Snapshot, now: Now) {
        // A change by hand or by another controller is worth more than a periodic second look.
        let priority = if change.resync {
            Priority::Low
        } else {
            Priority::Normal
        };
        let keys = self.controller.route(change, store);
        if !keys.is_empty() {
            let learnt = Learnt::Changed(change);
            self.controller.remember(&mut self.memory, &learnt, now);
        }
        for key in keys {
            let namespace = key.namespace().to_owned();
            match self.controller.patience(&key) {
                Duration::ZERO => self.queue.add(key, &namespace, priority, now.monotonic),
                patience => self
                    .queue
                    .add_after(key, &namespace, patience, now.monotonic),
            };
        }
    }

    /// Enqueues the keys that exist without a change, at the beginning of a term.
    pub fn begin(&mut self, now: Now) {
        for key in self.controller.initial() {
            let namespace = key.namespace().to_owned();
            let priority = Priority::Normal;
            self.queue.add(key, &namespace, priority, now.monotonic);
        }
    }

    /// Drops all that the controller remembers, which it must be able to lose at any time.
    pub fn forget_memory(&mut self) {
        self.memory = C::Memory::default();
    }

    /// Starts the next sync, if a worker is free and a key is due.
    pub fn next(&mut self, store: &Snapshot, now: Now) -> Next {
        if self.syncs.len() >= self.workers {
            return Next::Idle(None);
        }
        let Some(key) = self.queue.next(now.monotonic) else {
            return Next::Idle(self.queue.wake_at());
        };
        if let Err(waiting) = self.gate.check(&key, store) {
            self.count_skip(waiting.kind());
            // Before it is done, so that the queue does not forget how often it has failed.
            self.queue
                .add_after(key.clone(), key.namespace(), GATE_RECHECK, now.monotonic);
            self.queue.done(&key, now.monotonic);
            let mut report = Report::new(OWN_WRITE_UNSEEN);
            report.waits_for = Some(Wait::OwnWrite((*waiting).clone()));
            report.again = Again::After(GATE_RECHECK);
            return self.finished(&key, Outcome::Gated(*waiting), report);
        }
        let Some(seen) = self.controller.observe(&key, store, &self.memory) else {
            self.gate.forget(&key);
            self.conflicts.remove(&key);
            self.queue.forget(&key);
            self.queue.done(&key, now.monotonic);
            return self.finished(&key, Outcome::Absent, Report::default());
        };
        self.syncs_started += 1;
        let id = SyncId(self.syncs_started);
        self.go_on(id, key, seen, Answers::none(), now)
    }

    /// Takes the answers to a sync's actions, one for each in the same order, and goes on.
    pub fn answered(&mut self, id: SyncId, answers: Vec<Answer>, now: Now) -> Option<Next> {
        let sync = self.syncs.remove(&id)?;
        if sync.history == self.history {
            for (action, answer) in sync.asked.items.iter().zip(&answers) {
                self.gate.note(&sync.key, action, answer);
            }
        }
        if sync.epoch != self.epoch {
            self.requeue(&sync.key, now);
            return None;
        }
        let Sync {
            epoch: _,
            history: _,
            key,
            seen,
            answers: mut all,
            asked,
        } = sync;
        let mut answers = answers;
        answers.resize(asked.items.len(), Answer::Skipped);
        all.push(asked, answers);
        Some(self.go_on(id, key, seen, all, now))
    }

    /// Ends a sync whose writes may no longer be made, with the answers to those that were: the
    /// key is planned afresh when it may be.
    pub fn abandon(&mut self, id: SyncId, answers: &[Answer], now: Now) {
        let Some(sync) = self.syncs.remove(&id) else {
            return;
        };
        let noted = sync.asked.items.iter().zip(answers);
        for (action, answer) in noted.filter(|_| sync.history == self.history) {
            self.gate.note(&sync.key, action, answer);
        }
        self.requeue(&sync.key, now);
    }

    /// Ends the work on a key, which is planned afresh.
    fn requeue(&mut self, key: &C::Key, now: Now) {
        let (namespace, priority) = (key.namespace(), Priority::Normal);
        self.queue
            .add(key.clone(), namespace, priority, now.monotonic);
        self.queue.done(key, now.monotonic);
    }

    /// Drops all that is known of own writes, the memory, and what syncs that run have observed: it
    /// is void, and their keys are planned afresh. For a caller that shows no
    /// snapshot before everything was listed anew.
    pub fn renew(&mut self) {
        self.void_syncs();
        self.history += 1;
        self.gate = Gate::default();
        self.conflicts.clear();
        self.forget_memory();
    }

    /// Voids what the syncs that run have observed: their keys are planned afresh.
    pub fn void_syncs(&mut self) {
        self.epoch += 1;
    }

    /// Drops all that is known of own writes to a kind.
    pub fn forget_kind(&mut self, kind: Kind) {
        self.gate.forget_kind(kind);
        self.forget_memory();
    }

    fn go_on(
        &mut self,
        id: SyncId,
        key: C::Key,
        seen: C::Observation,
        answers: Answers,
        now: Now,
    ) -> Next {
        let actions = match self.controller.step(&seen, &answers, now) {
            Step::Do(actions) => actions,
            Step::Rest(rest) => return self.rested(&key, &seen, &answers, *rest, now),
        };
        if answers.len() >= STAGES_MAX {
            return self.too_many_stages(key, actions.stage, now);
        }
        let work = Work {
            id,
            key: key.to_string(),
            actions: actions.clone(),
        };
        let sync = Sync {
            epoch: self.epoch,
            history: self.history,
            key,
            seen,
            answers,
            asked: actions,
        };
        self.syncs.insert(id, sync);
        Next::Work(work)
    }

    /// A sync has come to its rest: what it learnt is remembered, and enqueues other keys.
    fn rested(
        &mut self,
        key: &C::Key,
        seen: &C::Observation,
        answers: &Answers,
        rest: Rest,
        now: Now,
    ) -> Next {
        let learnt = Learnt::Rested { key, seen, answers };
        self.controller.remember(&mut self.memory, &learnt, now);
        for other in self.controller.follow(seen, answers) {
            let namespace = other.namespace().to_owned();
            let priority = Priority::Normal;
            self.queue.add(other, &namespace, priority, now.monotonic);
        }
        self.rest(key.clone(), rest, now)
    }

    fn too_many_stages(&mut self, key: C::Key, stage: &'static str, now: Now) -> Next {
        let error = format!("sync did not rest after {STAGES_MAX} stages");
        let rest = Rest {
            revisit: Revisit::BackOff(error),
            report: Report::new(TOO_MANY_STAGES)
                .saw("stage", stage)
                .waits_for(Wait::RETRY),
        };
        self.rest(key, rest, now)
    }

    fn rest(&mut self, key: C::Key, rest: Rest, now: Now) -> Next {
        let mut report = rest.report;
        let revisit = match rest.revisit {
            Revisit::Conflict(error) => self.conflicted(&key, error),
            revisit => {
                self.conflicts.remove(&key);
                revisit
            }
        };
        let outcome = match revisit {
            Revisit::OnChange => {
                self.queue.forget(&key);
                Outcome::Rested
            }
            Revisit::After(delay) => {
                self.queue.forget(&key);
                self.look_after(&key, delay, now);
                Outcome::Waits(delay)
            }
            Revisit::Conflict(error) => {
                let met = self.conflicts.get(&key).copied().unwrap_or(1);
                let after = CONFLICT_DELAY * 2_u32.saturating_pow(met - 1);
                self.look_after(&key, after, now);
                Outcome::Conflicts { error, after }
            }
            Revisit::Permanent(error) => {
                self.queue.forget(&key);
                self.endings.permanent += 1;
                self.look_after(&key, PERMANENT_DELAY, now);
                Outcome::Permanent { error }
            }
            Revisit::BackOff(error) => match self.queue.retry(&key, now.monotonic) {
                Retry::After(after) => Outcome::Retries { error, after },
                Retry::Exhausted { failures } => {
                    self.endings.given_up += 1;
                    report = report.saw("failures", failures);
                    Outcome::GaveUp { error, failures }
                }
                // Shutting down: the next process looks at everything again.
                Retry::Refused => Outcome::GaveUp {
                    error,
                    failures: self.queue.failures(&key),
                },
            },
        };
        self.queue.done(&key, now.monotonic);
        report.again = again(&outcome);
        self.finished(&key, outcome, report)
    }

    fn finished(&self, key: &C::Key, outcome: Outcome, report: Report) -> Next {
        Next::Finished(Box::new(Finished {
            key: key.to_string(),
            about: self.controller.about(key),
            outcome,
            report,
        }))
    }

    /// Counts a conflict; one too many in a row is a failure.
    fn conflicted(&mut self, key: &C::Key, error: String) -> Revisit {
        self.endings.conflict += 1;
        let met = self.conflicts.entry(key.clone()).or_default();
        *met += 1;
        if *met <= CONFLICTS_MAX {
            return Revisit::Conflict(error);
        }
        self.conflicts.remove(key);
        Revisit::BackOff(error)
    }

    fn look_after(&mut self, key: &C::Key, delay: Duration, now: Now) {
        self.queue
            .add_after(key.clone(), key.namespace(), delay, now.monotonic);
    }

    fn count_skip(&mut self, kind: Kind) {
        match self.stale_skips.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, count)) => *count += 1,
            None => self.stale_skips.push((kind, 1)),
        }
    }

    /// Whether a key did not fit into the queue since this was last asked. If so, every cached
    /// object is to be routed once more, so that none is forgotten.
    pub fn take_overflow(&mut self) -> bool {
        self.queue.take_overflow()
    }

    /// Ends intake: keys that wait are still worked off, new ones are not taken.
    pub fn shut_down(&mut self) {
        self.queue.shut_down();
    }

    /// Whether it was shut down and nothing runs or waits any more.
    pub fn is_drained(&self) -> bool {
        self.syncs.is_empty() && self.queue.is_drained()
    }

    /// How the engine fares.
    pub fn stats(&self, now: Now) -> EngineStats {
        EngineStats {
            queue: self.queue.metrics(now.monotonic),
            stale_skips: self.stale_skips.clone(),
            syncs_running: self.syncs.len(),
            keys_gated: self.gate.len(),
            endings: self.endings,
        }
    }
}

/// When a key is looked at again after a sync that ended like this.
fn again(outcome: &Outcome) -> Again {
    match outcome {
        Outcome::Waits(after)
        | Outcome::Retries { after, .. }
        | Outcome::Conflicts { after, .. } => Again::After(*after),
        Outcome::Permanent { .. } => Again::After(PERMANENT_DELAY),
        Outcome::Rested | Outcome::GaveUp { .. } | Outcome::Absent | Outcome::Gated(_) => {
            Again::OnChange
        }
    }
}

#[cfg(test)]
mod tests;
