//! A sync written down as if it ran from top to bottom.
//!
//! `step` is asked again after every stage, with all answers so far. Rather than keeping a
//! program counter, the plan is read from its first line each time: a stage that was answered
//! yields its answers, the first one that was not ends the reading with its actions. The
//! observation does not change in between, so every line decides as it did before.

use flyball_api::views::Deployment;
use flyball_api::{ApiError, Class, Timestamp};
use flyball_plan::{Action, Actions, Answers, Pace, Report, Round, Step};

use super::DeploymentSettings;
use super::observe::Observation;

/// What a part of the plan yields, or the step with which the plan ends here for now.
pub(super) type Flow<T> = Result<T, Step>;

/// One sync: the settings, what was seen, what was answered so far, and the time.
#[derive(Clone, Copy)]
pub(super) struct Sync<'a> {
    pub(super) settings: DeploymentSettings,
    pub(super) seen: &'a Observation,
    pub(super) answers: &'a Answers,
    pub(super) now: Timestamp,
}

impl<'a> Sync<'a> {
    /// The Deployment being synced.
    pub(super) fn deployment(&self) -> &'a Deployment {
        &self.seen.deployment
    }

    /// What became of a stage; if it has not run yet, the plan ends here with its actions.
    pub(super) fn run(
        &self,
        stage: &'static str,
        pace: Pace,
        items: impl FnOnce() -> Vec<Action>,
    ) -> Flow<&'a Round> {
        self.answers.stage(stage).ok_or_else(|| {
            Step::Do(Actions {
                stage,
                items: items(),
                pace,
            })
        })
    }

    /// What became of a stage that must succeed: its first failure fails the sync.
    pub(super) fn must(
        &self,
        stage: &'static str,
        items: impl FnOnce() -> Vec<Action>,
    ) -> Flow<&'a Round> {
        let round = self.run(stage, Pace::InOrder, items)?;
        match round.first_error() {
            Some(error) => Err(failed(stage, error)),
            None => Ok(round),
        }
    }
}

/// The end of a sync whose stage failed.
///
/// A namespace on its way out takes everything in it along: there is nothing left to try.
pub(super) fn failed(stage: &'static str, error: &ApiError) -> Step {
    let report = Report::new("a write failed")
        .saw("stage", stage)
        .saw("error", error);
    match error.class() {
        Class::NamespaceTerminating => {
            Step::rest(report.waits_for("the namespace to be gone, with all that is in it"))
        }
        _ => Step::retry(error, report.waits_for("the next try")),
    }
}

/// The end of a sync that cannot go on for a reason other than a failed request.
pub(super) fn stuck(rule: &'static str, error: impl std::fmt::Display) -> Step {
    let report = Report::new(rule)
        .saw("error", &error)
        .waits_for("the next try");
    Step::retry(error, report)
}
