//! What is to be done about a Job: left alone, looked at again later, or deleted.

use flyball_api::views::Job;
use flyball_api::{Object, Timestamp};
use flyball_plan::{Action, Actions, Answer, Answers, Precondition, Propagation, Step, Target};

use super::expiry::{Expiry, expiry};
use super::observe::Observation;
use super::status;

pub(super) fn step(seen: &Observation, answers: &Answers, now: Timestamp) -> Step {
    if let Err(rest) = is_over(&seen.job, now) {
        return rest;
    }
    let target = Target::of(Job::KIND, &seen.job.metadata);
    // The time may have been changed meanwhile, so the server has the last word.
    let Some(round) = answers.stage("ask") else {
        return Step::Do(Actions::in_order("ask", vec![Action::Ask { target }]));
    };
    let job = match round.answers.first() {
        Some(Answer::Read(found)) => match Job::decode(found.json().as_bytes()) {
            Ok(job) => job,
            Err(error) => return Step::retry(error, status::unreadable()),
        },
        Some(Answer::Failed(error)) if error.is_not_found() => return Step::rest(status::gone()),
        Some(Answer::Failed(error)) => return Step::retry(error, status::unreadable()),
        _ => return Step::retry("no answer", status::unreadable()),
    };
    let over = match is_over(&job, now) {
        Ok(over) => over,
        Err(rest) => return rest,
    };
    let report = status::over(&job);
    let Some(round) = answers.stage("delete") else {
        let delete = Action::Delete {
            target,
            precondition: Precondition::incarnation(&job.metadata),
            propagation: Some(Propagation::Foreground),
            grace_seconds: None,
        };
        return Step::Do(Actions::in_order("delete", vec![delete]));
    };
    match round.first_error() {
        None => Step::rest(report.tallies([status::tally(now.saturating_since(over))])),
        Some(error) if error.is_not_found() => Step::rest(status::gone()),
        Some(error) => Step::retry(error, report),
    }
}

/// The moment when the Job's time was over; else how to rest.
fn is_over(job: &Job, now: Timestamp) -> Result<Timestamp, Step> {
    match expiry(job, now) {
        Expiry::Since(over) => Ok(over),
        Expiry::Never => Err(Step::rest(status::stays())),
        Expiry::In(left) => Err(Step::rest_for(left, status::not_yet(job))),
        Expiry::Unknown => {
            let name = job.metadata.object_name();
            let why = format!("unable to find the time when the Job {name} finished");
            Err(Step::retry(why, status::timeless()))
        }
    }
}
