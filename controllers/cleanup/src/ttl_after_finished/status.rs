//! What a sync reports and counts.

use std::time::Duration;

use flyball_api::views::Job;
use flyball_plan::{Amount, Metric, Report, Tally};

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
    Report::new("the Job is not to go")
}

pub(super) fn not_yet(job: &Job) -> Report {
    report("the Job has finished and stays for a while", job).waits_for("its time to be over")
}

pub(super) fn over(job: &Job) -> Report {
    report("the time of the Job is over", job)
}

pub(super) fn gone() -> Report {
    Report::new("the Job is gone")
}

pub(super) fn timeless() -> Report {
    Report::new("nobody has written down when the Job finished")
}

pub(super) fn unreadable() -> Report {
    Report::new("the server does not say what the Job is like")
}

fn report(rule: &'static str, job: &Job) -> Report {
    let ttl = job.spec.ttl_seconds_after_finished.unwrap_or_default();
    Report::new(rule).saw("ttlSecondsAfterFinished", ttl)
}
