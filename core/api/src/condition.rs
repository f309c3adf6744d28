//! Conditions: what a controller says about an object's state.

use serde::{Deserialize, Serialize};

use crate::{Text, Timestamp};

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody knows; also what a status this crate has never heard of reads as.
    #[default]
    #[serde(other)]
    Unknown,
}

/// One condition of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What is said, such as `Available`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    #[serde(default)]
    pub status: ConditionStatus,
    /// When the condition was last written (Deployments only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_update_time: Option<Timestamp>,
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
    /// Why, in one word for machines.
    #[serde(default, skip_serializing_if = "str_is_empty")]
    pub reason: Text,
    /// Why, in a sentence for people.
    #[serde(default, skip_serializing_if = "str_is_empty")]
    pub message: Text,
}

fn str_is_empty(text: &Text) -> bool {
    text.is_empty()
}
