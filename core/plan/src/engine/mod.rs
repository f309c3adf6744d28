//! The engine drives one controller: changes in, actions out, answers in, until each key rests.
//!
//! It is a plain value. On a cluster the shell calls it behind a lock and runs the actions over
//! HTTP; in the simulator the same code is called step by step. All of the pacing of a controller
//! (queue, back-off, gate, number of syncs at once) is decided here.

mod driver;
mod gone;
mod next;
mod stats;

use std::collections::HashMap;
use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{Change, Snapshot};
use flyball_workqueue::{Options, Priority, Retry, WorkQueue};

use crate::{
    Action, Actions, Answer, Answers, Controller, Gate, Key, Now, Report, Rest, Revisit, Sight,
    Step, Target,
};
use gone::Gone;

pub use driver::Driver;
pub use next::{Finished, Next, Outcome, SyncId, Work};
pub use stats::EngineStats;

/// How often a key looks again while its gate is closed. The write it waits for normally arrives
/// as a change and wakes it; this only covers writes whose object was gone before any watch saw it.
const GATE_RECHECK: Duration = Duration::from_secs(1);

/// More stages than any correct controller takes in one sync: beyond it the sync is failed, so
/// that a mistake cannot become a hot loop.
const STAGES_MAX: usize = 32;

struct Sync<C: Controller> {
    key: C::Key,
    seen: C::Observation,
    answers: Answers,
    asked: Actions,
    /// For each action the answer that was known without asking.
    known: Vec<Option<Answer>>,
}

impl<C: Controller> Sync<C> {
    /// The actions that were really asked for.
    fn sent(&self) -> impl Iterator<Item = &Action> {
        let all = self.asked.items.iter().zip(&self.known);
        all.filter(|(_, known)| known.is_none())
            .map(|(action, _)| action)
    }
}

/// Drives one controller.
pub struct Engine<C: Controller> {
    controller: C,
    workers: usize,
    queue: WorkQueue<C::Key>,
    gate: Gate<C::Key>,
    gone: Gone,
    syncs: HashMap<SyncId, Sync<C>>,
    syncs_started: u64,
    stale_skips: Vec<(Kind, u64)>,
}

impl<C: Controller> Engine<C> {
    /// An engine with the pacing of the controller's descriptor.
    pub fn new(controller: C) -> Self {
        let options = Options {
            max_retries: C::DESCRIPTOR.retries_max,
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
            gone: Gone::default(),
            syncs: HashMap::new(),
            syncs_started: 0,
            stale_skips: Vec::new(),
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
        if C::SIGHT == Sight::Everything && !keys.is_empty() {
            self.note_gone(change);
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

    /// Whoever asks whether an incarnation still exists that was seen to go is told without a
    /// question to the server. That it was missing from a list is not enough.
    fn note_gone(&mut self, change: &Change) {
        let stays = |uid| change.after().is_some_and(|new| new.uid == uid);
        if let Some(old) = change.before().filter(|old| !stays(old.uid))
            && !change.tombstone
        {
            let (kind, name) = (change.kind, change.name.clone());
            self.gone.note(Target { kind, name }, old.uid.clone());
        }
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
            self.count_skip(waiting.kind);
            // Before it is done, so that the queue does not forget how often it has failed.
            self.queue
                .add_after(key.clone(), key.namespace(), GATE_RECHECK, now.monotonic);
            self.queue.done(&key, now.monotonic);
            return finished(&key, Outcome::Gated(waiting), Report::default());
        }
        let Some(seen) = self.controller.observe(&key, store) else {
            self.gate.forget(&key);
            self.queue.forget(&key);
            self.queue.done(&key, now.monotonic);
            return finished(&key, Outcome::Absent, Report::default());
        };
        self.syncs_started += 1;
        let id = SyncId(self.syncs_started);
        self.go_on(id, key, seen, Answers::none(), now)
    }

    /// Takes the answers to a sync's actions, one for each in the same order, and goes on.
    pub fn answered(&mut self, id: SyncId, answers: Vec<Answer>, now: Now) -> Option<Next> {
        let sync = self.syncs.remove(&id)?;
        for (action, answer) in sync.sent().zip(&answers) {
            self.gate.note(&sync.key, action, answer);
            self.gone.learn(action, answer);
        }
        let Sync {
            key,
            seen,
            answers: mut all,
            asked,
            known,
        } = sync;
        let mut told = answers.into_iter();
        let each = known.into_iter();
        let whole = each.map(|known| known.or_else(|| told.next()).unwrap_or(Answer::Skipped));
        all.push(asked, whole.collect());
        Some(self.go_on(id, key, seen, all, now))
    }

    /// Ends a sync whose writes may no longer be made, with the answers to those that were: the
    /// key is planned afresh when it may be.
    pub fn abandon(&mut self, id: SyncId, answers: &[Answer], now: Now) {
        let Some(sync) = self.syncs.remove(&id) else {
            return;
        };
        for (action, answer) in sync.sent().zip(answers) {
            self.gate.note(&sync.key, action, answer);
        }
        let key = sync.key;
        self.queue.add(
            key.clone(),
            key.namespace(),
            Priority::Normal,
            now.monotonic,
        );
        self.queue.done(&key, now.monotonic);
    }

    fn go_on(
        &mut self,
        id: SyncId,
        key: C::Key,
        seen: C::Observation,
        mut answers: Answers,
        now: Now,
    ) -> Next {
        loop {
            let actions = match self.controller.step(&seen, &answers, now.wall) {
                Step::Do(actions) => actions,
                Step::Rest(rest) => {
                    for other in self.controller.follow(&seen, &answers) {
                        let namespace = other.namespace().to_owned();
                        let priority = Priority::Normal;
                        self.queue.add(other, &namespace, priority, now.monotonic);
                    }
                    return self.rest(key, rest, now);
                }
            };
            if answers.len() >= STAGES_MAX {
                return self.too_many_stages(key, actions.stage, now);
            }
            let items = actions.items.iter();
            let known: Vec<Option<Answer>> = items.map(|item| self.gone.answer(item)).collect();
            if !known.is_empty() && known.iter().all(Option::is_some) {
                answers.push(actions, known.into_iter().flatten().collect());
                continue;
            }
            let sync: Sync<C> = Sync {
                key,
                seen,
                answers,
                asked: actions,
                known,
            };
            let work = Work {
                id,
                key: sync.key.to_string(),
                actions: Actions {
                    stage: sync.asked.stage,
                    items: sync.sent().cloned().collect(),
                    pace: sync.asked.pace,
                },
            };
            self.syncs.insert(id, sync);
            return Next::Work(work);
        }
    }

    fn too_many_stages(&mut self, key: C::Key, stage: &'static str, now: Now) -> Next {
        let error = format!("sync did not rest after {STAGES_MAX} stages");
        let rest = Rest {
            revisit: Revisit::BackOff(error),
            report: Report::new("too many stages").saw("stage", stage),
        };
        self.rest(key, rest, now)
    }

    fn rest(&mut self, key: C::Key, rest: Rest, now: Now) -> Next {
        let outcome = match rest.revisit {
            Revisit::OnChange => {
                self.queue.forget(&key);
                Outcome::Rested
            }
            Revisit::After(delay) => {
                self.queue.forget(&key);
                self.queue
                    .add_after(key.clone(), key.namespace(), delay, now.monotonic);
                Outcome::Waits(delay)
            }
            Revisit::BackOff(error) => match self.queue.retry(&key, now.monotonic) {
                Retry::After(after) => Outcome::Retries { error, after },
                Retry::Exhausted { failures } => Outcome::GaveUp { error, failures },
                // Shutting down: whoever starts next looks at everything again.
                Retry::Refused => Outcome::GaveUp {
                    error,
                    failures: self.queue.failures(&key),
                },
            },
        };
        self.queue.done(&key, now.monotonic);
        finished(&key, outcome, rest.report)
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
        }
    }
}

fn finished(key: &impl Key, outcome: Outcome, report: Report) -> Next {
    Next::Finished(Finished {
        key: key.to_string(),
        outcome,
        report,
    })
}

#[cfg(test)]
mod tests;
