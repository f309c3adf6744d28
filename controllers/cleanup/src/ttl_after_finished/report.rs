//! What a sync reports and counts.

use std::time::Duration;

use flyball_api::views::Job;
use flyball_plan::{Amount, Metric, Report, Rule, Tally, Timer, Wait};

flyball_plan::rules! {
    NOT_EXPIRING = "JobNotExpiring", "the Job is not finished, is terminating or has no TTL";
    NOT_YET = "TTLNotExpired", "the Job has finished and its TTL has not expired";
    EXPIRED = "TTLExpired", "the TTL of the Job has expired";
    GONE = "JobGone", "the Job is gone";
    NO_FINISH_TIME = "NoFinishTime", "the Job has no time at which it finished";
    UNREADABLE = "JobUnreadable", "the Job could not be read";
}

/// Upstream's metric: `pkg/controller/ttlafterfinished/metrics/metrics.go`.
const DELAY: &Metric = &Metric {
    name: "ttl_after_finished_controller_job_deletion_duration_seconds",
    help: "The time it took to delete the job since it became eligible for deletion",
    labels: &[],
    buckets_ms: &[
        100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 102_400, 204_800, 409_600,
        819_200,
    ],
};

pub(super) fn tally(delay: Duration) -> Tally {
    Tally {
        metric: DELAY,
        labels: Vec::new(),
        amount: Amount::Took(delay),
    }
}

pub(super) fn stays() -> Report {
    Report::new(NOT_EXPIRING)
}

pub(super) fn not_yet(job: &Job, left: Duration) -> Report {
    report(NOT_YET, job).waits_for(Wait::Time(Timer::TimeToLive(left)))
}

pub(super) fn over(job: &Job) -> Report {
    report(EXPIRED, job)
}

pub(super) fn gone() -> Report {
    Report::new(GONE)
}

pub(super) fn timeless() -> Report {
    Report::new(NO_FINISH_TIME)
}

pub(super) fn unreadable() -> Report {
    Report::new(UNREADABLE)
}

fn report(rule: Rule, job: &Job) -> Report {
    let ttl = job.spec.ttl_seconds_after_finished.unwrap_or_default();
    Report::new(rule).saw("ttlSecondsAfterFinished", ttl)
}
