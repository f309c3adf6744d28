//! What is to be done about a Job: left alone, looked at again later, or deleted.

use flyball_api::Timestamp;
use flyball_api::views::Job;
use flyball_plan::{Flow, Pace, Propagation, Read, Step, Sync, Target, Write};

use super::expiry::{Expiry, expiry};
use super::observe::Observation;
use super::report;

pub(super) fn plan(sync: &Sync<'_, Observation>) -> Flow<Step> {
    is_over(&sync.seen.job, sync.now)?;
    // The time may have been changed meanwhile, so the server has the last word.
    let target = || Read::get(Target::of(Job::KIND, &sync.seen.job.metadata));
    let Some(job) = sync.read::<Job>("ask", target, report::unreadable)? else {
        return Ok(Step::rest(report::gone()));
    };
    let over = is_over(&job, sync.now)?;
    let round = sync.run("delete", Pace::InOrder, || {
        let delete = Write::delete(Job::KIND, &job.metadata);
        vec![delete.propagating(Propagation::Foreground).into()]
    })?;
    let report = report::over(&job);
    Ok(match round.first_error() {
        None => Step::rest(report.tallies([report::tally(sync.now.saturating_since(over))])),
        Some(error) if error.is_not_found() => Step::rest(report::gone()),
        Some(error) => Step::retry(error, report),
    })
}

/// The moment when the Job's time was over; else how to rest.
fn is_over(job: &Job, now: Timestamp) -> Result<Timestamp, Step> {
    match expiry(job, now) {
        Expiry::Since(over) => Ok(over),
        Expiry::Never => Err(Step::rest(report::stays())),
        Expiry::In(left) => Err(Step::rest_for(left, report::not_yet(job, left))),
        Expiry::Unknown => {
            let name = job.metadata.object_name();
            let why = format!("unable to find the time when the Job {name} finished");
            Err(Step::retry(why, report::timeless()))
        }
    }
}
