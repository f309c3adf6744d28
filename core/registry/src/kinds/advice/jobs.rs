//! Jobs of which more is asked than can be tracked, and schedules with a time zone in them.
//!
//! Upstream: `pkg/api/job/warnings.go`, `pkg/registry/batch/cronjob/strategy.go`.

use crate::object::{Object, at};

/// So many completions can be tracked whatever happens.
const COMPLETIONS_MAX: i64 = 100_000;
/// Or so many pods at a time.
const PARALLELISM_MAX: i64 = 10_000;

/// What is told of the completions of a job whose spec is at `place`.
pub(super) fn completions(job: &Object, place: &str) -> Option<String> {
    let spec = at(job, place);
    let above = |field: &str, most: i64| spec[field].as_i64().is_some_and(|number| number > most);
    let is_too_much = spec["completionMode"] == "Indexed"
        && above("completions", COMPLETIONS_MAX)
        && above("parallelism", PARALLELISM_MAX);
    is_too_much.then(|| {
        format!(
            "{place}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than \
             10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    })
}

/// What is told of a schedule that names its own time zone. Upstream names its place so.
pub(super) fn zone(job: &Object) -> Option<String> {
    let schedule = at(job, "spec.schedule").as_str();
    let names_zone = schedule.is_some_and(|text| text.contains("TZ"));
    names_zone.then(|| {
        "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
         https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
            .to_owned()
    })
}

/// Where a kind has the spec of its jobs.
pub(super) fn spec_of(kind: (&str, &str)) -> Option<&'static str> {
    match kind {
        ("batch", "jobs") => Some("spec"),
        ("batch", "cronjobs") => Some("spec.jobTemplate.spec"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn job(completions: i64, parallelism: i64) -> Object {
        let job = json!({"spec": {
            "completionMode": "Indexed", "completions": completions, "parallelism": parallelism,
        }});
        job.as_object().cloned().unwrap()
    }

    #[test]
    fn more_indexes_than_can_be_tracked_are_told() {
        assert!(completions(&job(100_001, 10_001), "spec").is_some());
        assert!(completions(&job(100_000, 10_001), "spec").is_none());
        assert!(completions(&job(100_001, 10_000), "spec").is_none());
    }

    #[test]
    fn a_zone_in_a_schedule_is_told() {
        let job = |schedule: &str| {
            let job: Value = json!({"spec": {"schedule": schedule}});
            job.as_object().cloned().unwrap()
        };
        assert!(zone(&job("TZ=UTC 0 * * * *")).is_some());
        assert!(zone(&job("0 * * * *")).is_none());
    }
}
