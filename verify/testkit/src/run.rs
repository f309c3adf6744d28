//! Drives one controller over a world, step by step.
//!
//! A [`Runner`] is one life of a controller: its engine and its caches. Dropping it and starting
//! another is a restart. Caches follow the world after each sync, unless a test lets them lag.

use std::fmt::{self, Write};
use std::time::Duration;

use flyball_api::Timestamp;
use flyball_informer::Change;
use flyball_plan::{
    Action, Actions, Answer, Controller, Engine, Finished, Next, Now, Outcome, Pace, Question,
};

use crate::perform::perform;
use crate::text::{Line, lines};
use crate::{Caches, World};

/// More syncs than any test needs before its controller rests.
const SYNCS_MAX: usize = 2_000;

/// More rounds of controller and kubelets than any test needs.
const ROUNDS_MAX: usize = 300;

/// How often a key may be looked at again without anything changing before that counts as rest.
const VAIN_WAKES_MAX: usize = 12;

/// Something that is about to happen or has happened while a controller runs.
pub enum Moment<'a> {
    /// A sync wants a stage done; `stages_before` were done in the same sync.
    Stage {
        /// What is synced.
        key: &'a str,
        /// How many stages the sync has behind it.
        stages_before: usize,
        /// What it wants.
        actions: &'a Actions,
    },
    /// An action is about to be tried in this world.
    Before {
        /// What is synced.
        key: &'a str,
        /// What is tried.
        action: &'a Action,
        /// The world as it is.
        world: &'a World,
    },
    /// An action was tried (or skipped).
    After {
        /// What is synced.
        key: &'a str,
        /// What was tried.
        action: &'a Action,
        /// What became of it.
        answer: &'a Answer,
        /// The world as it is now.
        world: &'a World,
    },
}

/// Is told of every moment; an error stops the run at once, as a crash would.
pub type Witness<'a> = &'a mut dyn FnMut(Moment<'_>) -> Result<(), String>;

/// One stage of a sync, as it went.
pub struct Stage {
    /// What was asked for.
    pub actions: Actions,
    /// What became of it.
    pub answers: Vec<Answer>,
    text: String,
}

impl Stage {
    /// Carries out the actions of a stage.
    pub(crate) fn run(
        world: &mut World,
        actions: Actions,
        key: &str,
        witness: Witness<'_>,
    ) -> Result<Self, String> {
        let mut told = Vec::new();
        let mut before = None;
        let answers = perform(world, &actions, &mut |world, action, answer| match answer {
            None => {
                before = target(action)
                    .and_then(|target| world.target(target))
                    .cloned();
                witness(Moment::Before { key, action, world })
            }
            Some(answer) => {
                told.push(Line::of(action, before.as_ref(), answer));
                witness(Moment::After {
                    key,
                    action,
                    answer,
                    world,
                })
            }
        })?;
        let text = lines(&told);
        Ok(Self {
            actions,
            answers,
            text,
        })
    }
}

fn target(action: &Action) -> Option<&flyball_plan::Target> {
    match action {
        Action::Write(write) if !write.is_create() && !write.is_of_collection() => {
            Some(&write.target)
        }
        Action::Read(read) => match &read.question {
            Question::Get { target, .. } | Question::Exists { target, .. } => Some(target),
            _ => None,
        },
        _ => None,
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pace = match self.actions.pace {
            Pace::InOrder => "",
            Pace::Together => " (together)",
            Pace::SlowStart => " (slow start)",
        };
        write!(f, "stage {}{pace}\n{}", self.actions.id(), self.text)
    }
}

/// One sync, from its first stage to its end.
pub struct Sync {
    /// Its stages.
    pub stages: Vec<Stage>,
    /// How it ended and why.
    pub finished: Finished,
}

impl Sync {
    /// Every action of the sync.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.stages.iter().flat_map(|stage| &stage.actions.items)
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finished {
            key,
            outcome,
            report,
            ..
        } = &self.finished;
        writeln!(f, "sync {key}")?;
        self.stages
            .iter()
            .try_for_each(|stage| write!(f, "{stage}"))?;
        match outcome {
            Outcome::Rested => writeln!(f, "rests: {report}"),
            Outcome::Waits(time) => writeln!(f, "looks again in {time:?}: {report}"),
            Outcome::Retries { error, after } => {
                writeln!(f, "retries in {after:?} ({error}): {report}")
            }
            Outcome::Conflicts { error, after } => {
                writeln!(f, "looks again in {after:?} ({error}): {report}")
            }
            Outcome::Permanent { error } => writeln!(f, "refused for good ({error}): {report}"),
            Outcome::GaveUp { error, failures } => {
                writeln!(f, "gave up after {failures} failures ({error}): {report}")
            }
            Outcome::Absent => writeln!(f, "absent"),
            Outcome::Gated(waiting) => writeln!(f, "waits for the cache: {}", waiting),
        }
    }
}

/// What several syncs did, as text.
pub fn transcript(syncs: &[Sync]) -> String {
    let mut out = String::new();
    for sync in syncs {
        let _ = write!(out, "{sync}");
    }
    out
}

/// One life of a controller.
pub struct Runner<C: Controller> {
    engine: Engine<C>,
    caches: Caches,
    born: Timestamp,
    /// Whether memory is lost before every sync and after every stage.
    is_forgetful: bool,
}

impl<C: Controller> Runner<C> {
    /// Starts a controller with caches fresh from a list.
    pub fn new(controller: C, world: &World) -> Self {
        Self::listing(controller, world, |at| at as u64)
    }

    /// As [`Runner::new`]; the list arrives in the order of `rank`.
    pub fn listing(controller: C, world: &World, rank: impl Fn(usize) -> u64) -> Self {
        let caches = Caches::watched_by::<C>(world);
        let mut runner = Self {
            engine: Engine::new(controller),
            caches,
            born: world.now(),
            is_forgetful: false,
        };
        let changes = runner.caches.list(world, rank);
        runner.feed(&changes, world);
        runner.engine.begin(runner.now(world));
        runner
    }

    /// Loses the controller's memory before every sync and after every stage from now on.
    pub fn forgetful(mut self) -> Self {
        self.is_forgetful = true;
        self
    }

    fn forget(&mut self) {
        if self.is_forgetful {
            self.engine.forget_memory();
        }
    }

    /// Starts a controller whose caches have seen the world up to a version only.
    pub fn behind(controller: C, world: &World, revision: u64) -> Self {
        let caches = Caches::watched_by::<C>(world);
        let mut runner = Self {
            engine: Engine::new(controller),
            caches,
            born: world.now(),
            is_forgetful: false,
        };
        let changes = runner.caches.catch_up_to(world, revision);
        runner.feed(&changes, world);
        runner.engine.begin(runner.now(world));
        runner
    }

    /// The caches, to read from.
    pub fn caches(&self) -> &Caches {
        &self.caches
    }

    /// Lets the caches do something, and tells the controller of the changes.
    pub fn see(&mut self, world: &World, look: impl FnOnce(&mut Caches) -> Vec<Change>) {
        let changes = look(&mut self.caches);
        self.feed(&changes, world);
    }

    fn feed(&mut self, changes: &[Change], world: &World) {
        let (snapshot, now) = (self.caches.snapshot(), self.now(world));
        for change in changes {
            self.engine.changed(change, &snapshot, now);
        }
    }

    fn now(&self, world: &World) -> Now {
        let wall = world.now();
        Now {
            monotonic: wall.saturating_since(self.born),
            wall,
        }
    }

    /// Runs one sync if one is due, and whatever it wants done. Says when the next is due if none
    /// is due now.
    pub fn sync(
        &mut self,
        world: &mut World,
        witness: Witness<'_>,
    ) -> Result<Result<Sync, Option<Duration>>, String> {
        let mut stages: Vec<Stage> = Vec::new();
        self.forget();
        let mut next = self.engine.next(&self.caches.snapshot(), self.now(world));
        loop {
            let work = match next {
                Next::Idle(at) => return Ok(Err(at)),
                Next::Finished(finished) => {
                    let finished = *finished;
                    return Ok(Ok(Sync { stages, finished }));
                }
                Next::Work(work) => work,
            };
            let (key, actions) = (&work.key, &work.actions);
            witness(Moment::Stage {
                key,
                stages_before: stages.len(),
                actions,
            })?;
            let stage = Stage::run(world, work.actions.clone(), key, witness)?;
            let answers = stage.answers.clone();
            stages.push(stage);
            self.forget();
            let Some(then) = self.engine.answered(work.id, answers, self.now(world)) else {
                return Err(format!("the engine does not know its own sync of {key}"));
            };
            next = then;
        }
    }

    /// Runs everything that is due, caches following after each sync. Returns what was done and
    /// when something is due next.
    pub fn run(
        &mut self,
        world: &mut World,
        witness: Witness<'_>,
    ) -> Result<(Vec<Sync>, Option<Duration>), String> {
        let mut syncs = Vec::new();
        while syncs.len() < SYNCS_MAX {
            self.see(world, |caches| caches.catch_up(world));
            match self.sync(world, witness)? {
                Ok(sync) => syncs.push(sync),
                Err(at) => return Ok((syncs, at)),
            }
        }
        let last = syncs.last().map(ToString::to_string).unwrap_or_default();
        Err(format!(
            "does not rest after {SYNCS_MAX} syncs; the last:\n{last}"
        ))
    }

    /// Runs until nothing changes any more: everything due, then `others` (kubelets and the like),
    /// then whatever comes due later, and so on. Fails if that never ends or ends in failures.
    pub fn converge(
        &mut self,
        world: &mut World,
        others: fn(&mut World),
        witness: Witness<'_>,
    ) -> Result<Vec<Sync>, String> {
        let mut all = Vec::new();
        let mut vain = 0;
        for _ in 0..ROUNDS_MAX {
            let before = world.revision();
            let (syncs, wake) = self.run(world, witness)?;
            let failed = syncs
                .iter()
                .rev()
                .find(|sync| has_failed(sync))
                .map(ToString::to_string);
            all.extend(syncs);
            others(world);
            if world.revision() != before {
                vain = 0;
                continue;
            }
            match wake {
                Some(at) if vain < VAIN_WAKES_MAX => {
                    vain += 1;
                    world.advance(at.saturating_sub(self.now(world).monotonic));
                }
                _ => return failed.map_or(Ok(all), |sync| Err(format!("keeps failing:\n{sync}"))),
            }
        }
        let last = all.last().map(ToString::to_string).unwrap_or_default();
        Err(format!(
            "does not come to rest after {ROUNDS_MAX} rounds; the last sync:\n{last}"
        ))
    }
}

fn has_failed(sync: &Sync) -> bool {
    matches!(
        sync.finished.outcome,
        Outcome::Retries { .. }
            | Outcome::GaveUp { .. }
            | Outcome::Conflicts { .. }
            | Outcome::Permanent { .. }
    )
}

/// Runs a controller over a world until nothing changes any more, kubelets doing their part, and
/// tells what it did. Panics if it does not come to rest.
pub fn settle<C: Controller>(controller: C, world: &mut World) -> String {
    let mut runner = Runner::new(controller, world);
    match runner.converge(world, crate::kubelet::step, &mut |_| Ok(())) {
        Ok(syncs) => transcript(&syncs),
        Err(why) => panic!("{why}"),
    }
}
