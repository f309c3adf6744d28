//! Jobs, as far as they are finished: how they run is nobody's business here yet.

use serde::{Deserialize, Serialize};

use super::{null_default, object};
use crate::{ConditionStatus, Kind, LeanMeta, Text, Timestamp};

/// Conditions by which a Job has finished.
const FINAL: &[&str] = &["Complete", "Failed"];

/// A Job.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Job {
    /// Metadata, without annotations.
    pub metadata: LeanMeta,
    /// Desired state.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: JobSpec,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: JobStatus,
}

/// Desired state of a Job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSpec {
    /// How long it stays once it has finished; for ever if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds_after_finished: Option<i32>,
}

/// Observed state of a Job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobStatus {
    /// What is said about it.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub conditions: Box<[JobCondition]>,
}

/// One condition of a Job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobCondition {
    /// What is said, such as `Complete`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}

impl Job {
    /// The condition by which the Job has finished, well or badly; `None` while it has not.
    pub fn finished(&self) -> Option<&JobCondition> {
        let mut conditions = self.status.conditions.iter();
        conditions.find(|it| FINAL.contains(&&*it.kind) && it.status == ConditionStatus::True)
    }
}

object!(Job, Kind::namespaced("batch", "v1", "Job", "jobs"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn a_job_has_finished_when_a_final_condition_holds() {
        let finished = |kind: &str, status: &str| {
            let json = format!(
                r#"{{"metadata":{{"name":"j"}},"status":{{"conditions":[
                    {{"type":"Suspended","status":"True"}},{{"type":"{kind}","status":"{status}"}}]}}}}"#
            );
            Job::decode(json.as_bytes()).unwrap().finished().is_some()
        };
        assert!(finished("Complete", "True") && finished("Failed", "True"));
        assert!(!finished("Complete", "False") && !finished("FailureTarget", "True"));
    }
}
