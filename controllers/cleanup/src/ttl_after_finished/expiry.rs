//! When a Job's time is over.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::views::Job;

/// What there is to do about a Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// Nothing: it is not finished, wants to stay, or is on its way out.
    Never,
    /// Nothing before this time is over.
    In(Duration),
    /// Its time was over at this moment.
    Since(Timestamp),
    /// Nobody has written down when it finished.
    Unknown,
}

/// Whether a Job has finished, is still there, and says how long it wants to stay.
pub(super) fn is_to_go(job: &Job) -> bool {
    let meta = &job.metadata;
    !meta.is_deleting() && job.spec.ttl_seconds_after_finished.is_some() && job.finished().is_some()
}

pub(super) fn expiry(job: &Job, now: Timestamp) -> Expiry {
    let (Some(ttl), Some(finished)) = (job.spec.ttl_seconds_after_finished, job.finished()) else {
        return Expiry::Never;
    };
    if job.metadata.is_deleting() {
        return Expiry::Never;
    }
    let Some(at) = finished.last_transition_time else {
        return Expiry::Unknown;
    };
    // The server takes no negative one.
    let ttl = Duration::from_secs(u64::try_from(ttl).unwrap_or(0));
    let over = at.saturating_add(ttl);
    match over.saturating_since(now) {
        Duration::ZERO => Expiry::Since(over),
        left => Expiry::In(left),
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    #[test]
    fn a_job_goes_when_its_time_after_the_end_is_over() {
        let now = Timestamp::from_unix_seconds(1_000_000);
        let at = |seconds: i64| Timestamp::from_unix_seconds(seconds);
        let cases = [
            // Condition, its status, finished so many seconds ago, seconds to stay, verdict.
            ("Complete", "True", 100, Some(0), Expiry::Since(at(999_900))),
            ("Failed", "True", 100, Some(99), Expiry::Since(at(999_999))),
            (
                "Failed",
                "True",
                100,
                Some(100),
                Expiry::Since(at(1_000_000)),
            ),
            (
                "Complete",
                "True",
                100,
                Some(101),
                Expiry::In(Duration::from_secs(1)),
            ),
            // A clock that is ahead: the Job finished in the future.
            (
                "Complete",
                "True",
                -50,
                Some(10),
                Expiry::In(Duration::from_secs(60)),
            ),
            ("Complete", "True", 100, None, Expiry::Never),
            ("Complete", "False", 100, Some(0), Expiry::Never),
            ("Suspended", "True", 100, Some(0), Expiry::Never),
        ];
        for (kind, status, ago, ttl, verdict) in cases {
            let ttl = ttl.map_or("null".to_owned(), |ttl| ttl.to_string());
            let finished = serde_json::json!(at(1_000_000 - ago));
            let json = format!(
                r#"{{"metadata":{{"name":"j"}},"spec":{{"ttlSecondsAfterFinished":{ttl}}},
                     "status":{{"conditions":[{{"type":"{kind}","status":"{status}",
                     "lastTransitionTime":{finished}}}]}}}}"#
            );
            let job = Job::decode(json.as_bytes()).unwrap();
            assert_eq!(expiry(&job, now), verdict, "{json}");
        }
    }
}
