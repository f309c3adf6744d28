//! A sync written down as if it ran from top to bottom.
//!
//! A controller is asked again after every stage, with all answers so far. It keeps no program
//! counter. Instead the plan is read from its first line each time: a stage that was answered
//! yields its answers, and the first one that was not ends the reading with its actions. What was
//! seen does not change in between, so every line decides as it did before.
//!
//! ```
//! use flyball_plan::{Flow, Pace, Read, Report, Rule, Step, Sync, Target, Write};
//! # use flyball_api::{ObjectName, views::Pod};
//!
//! const GONE: Rule = Rule::new("PodGone", "the pod is gone");
//! const DELETED: Rule = Rule::new("PodDeleted", "the pod is deleted");
//!
//! fn plan(sync: &Sync<'_, Pod>) -> Flow<Step> {
//!     let target = Target::of(Pod::KIND, &sync.seen.metadata);
//!     // The first call of `plan` ends here, with the read as what it wants done. The second call
//!     // finds the answer, and goes on to the next line.
//!     let read = sync.run("read", Pace::InOrder, || vec![Read::get(target).into()])?;
//!     if read.first_error().is_some_and(|error| error.is_not_found()) {
//!         return Ok(Step::rest(Report::new(GONE)));
//!     }
//!     sync.must("delete", || vec![Write::delete(Pod::KIND, &sync.seen.metadata).into()])?;
//!     Ok(Step::rest(Report::new(DELETED)))
//! }
//! ```

use std::fmt;
use std::ops::Deref;

use flyball_api::{ApiError, Class, Object, Opaque, Timestamp};

use crate::{
    Action, Actions, Answer, Answers, Failure, Now, Pace, Read, Report, Round, Rule, StageId, Step,
    WRITE_FAILED, Wait,
};

/// What a part of the plan yields, or the step with which the sync ends here for now.
pub type Flow<T> = Result<T, Step>;

/// One sync: what was seen, what was answered so far, and the time.
#[derive(Debug)]
pub struct Sync<'a, S> {
    /// What was seen.
    pub seen: &'a S,
    /// The time of day.
    pub now: Timestamp,
    /// Both clocks: for what was seen by this process's own clock.
    pub clocks: Now,
    answers: &'a Answers,
}

impl<S> Clone for Sync<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Sync<'_, S> {}

impl<'a, S> Sync<'a, S> {
    /// A sync with these answers so far.
    pub fn new(seen: &'a S, answers: &'a Answers, clocks: Now) -> Self {
        Self {
            seen,
            now: clocks.wall,
            clocks,
            answers,
        }
    }

    /// The step that a plan comes to with these answers. An early end and the last step are both
    /// steps; `?` leads to the former.
    pub fn plan(self, plan: impl FnOnce(&Self) -> Flow<Step>) -> Step {
        plan(&self).unwrap_or_else(|step| step)
    }

    /// What became of a stage; if it has not run yet, the sync ends here with its actions.
    pub fn run(
        &self,
        stage: impl Into<StageId>,
        pace: Pace,
        items: impl FnOnce() -> Vec<Action>,
    ) -> Flow<&'a Round> {
        let stage = stage.into();
        self.has_run(stage)
            .ok_or_else(|| Step::Do(Actions::of(stage, pace, items())))
    }

    /// As [`Sync::run`], if there is anything to do; `None` if not.
    pub fn run_some(
        &self,
        stage: impl Into<StageId>,
        pace: Pace,
        items: impl FnOnce() -> Vec<Action>,
    ) -> Flow<Option<&'a Round>> {
        let stage = stage.into();
        if let Some(round) = self.has_run(stage) {
            return Ok(Some(round));
        }
        match items() {
            none if none.is_empty() => Ok(None),
            items => Err(Step::Do(Actions::of(stage, pace, items))),
        }
    }

    /// What became of a stage, in order, that must succeed: its first failure fails the sync.
    pub fn must(
        &self,
        stage: impl Into<StageId>,
        items: impl FnOnce() -> Vec<Action>,
    ) -> Flow<&'a Round> {
        let stage = stage.into();
        let round = self.run(stage, Pace::InOrder, items)?;
        match round.first_error() {
            Some(error) => Err(failed(stage, round.failed_namespace(), error)),
            None => Ok(round),
        }
    }

    /// The answer to one question.
    pub fn ask(&self, stage: impl Into<StageId>, read: impl FnOnce() -> Read) -> Flow<&'a Answer> {
        let round = self.run(stage, Pace::InOrder, || vec![read().into()])?;
        Ok(round.answers.first().unwrap_or(&Answer::Skipped))
    }

    /// An object as the server has it; `None` if it does not exist. The sync fails with this report
    /// if the server does not say.
    pub fn read<T: Object>(
        &self,
        stage: impl Into<StageId>,
        read: impl FnOnce() -> Read,
        unread: impl FnOnce() -> Report,
    ) -> Flow<Option<T>> {
        match self.found(stage, read) {
            Ok(Found::Object(json)) => match T::decode(json.json().as_bytes()) {
                Ok(object) => Ok(Some(object)),
                Err(error) => Err(Step::retry(error, unread())),
            },
            Ok(Found::Nothing) => Ok(None),
            Ok(Found::Unknown(failure)) => Err(Step::retry(failure, unread())),
            Err(step) => Err(step),
        }
    }

    /// What the server says of an object.
    pub fn found(&self, stage: impl Into<StageId>, read: impl FnOnce() -> Read) -> Flow<Found<'a>> {
        Ok(match self.ask(stage, read)? {
            Answer::Read(json) => Found::Object(json),
            Answer::Failed(error) if error.is_not_found() => Found::Nothing,
            Answer::Failed(error) => Found::Unknown(error.into()),
            _ => Found::Unknown("the question was not answered".into()),
        })
    }

    /// What became of a stage that has run; `None` if it did not in this sync.
    pub fn has_run(&self, stage: impl Into<StageId>) -> Option<&'a Round> {
        let StageId { name, index } = stage.into();
        self.answers.stage_at(name, index)
    }

    /// All answers so far.
    pub fn answers(&self) -> &'a Answers {
        self.answers
    }
}

impl<S> Deref for Sync<'_, S> {
    type Target = S;
    fn deref(&self) -> &S {
        self.seen
    }
}

/// What the server says of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// This is it.
    Object(&'a Opaque),
    /// There is none.
    Nothing,
    /// It does not say, for this reason.
    Unknown(Failure),
}

/// The end of a sync whose stage failed.
///
/// A terminating namespace takes everything in it along: there is nothing left to try.
pub fn failed(stage: impl Into<StageId>, namespace: &str, error: &ApiError) -> Step {
    let report = Report::new(WRITE_FAILED)
        .saw("stage", stage.into())
        .saw("error", error)
        .waits_for(Wait::answer(error, namespace));
    match error.class() {
        Class::NamespaceTerminating => Step::rest(report),
        _ => Step::retry(error, report),
    }
}

/// The end of a sync that cannot go on for a reason other than a failed request.
pub fn stuck(rule: Rule, error: impl fmt::Display) -> Step {
    let report = Report::new(rule)
        .saw("error", &error)
        .waits_for(Wait::RETRY);
    Step::retry(error.to_string(), report)
}
