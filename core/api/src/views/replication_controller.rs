//! ReplicationControllers: ReplicaSets' elders, with a map for a selector.

use serde::{Deserialize, Serialize};

use super::deployment::{is_zero, is_zero_i64};
use super::{null_default, object};
use crate::{Condition, Kind, Labels, Lossless, Meta, Template};

/// A ReplicationController.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReplicationController {
    /// Metadata.
    pub metadata: Meta,
    /// Desired state.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: ReplicationControllerSpec,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: Lossless<ReplicationControllerStatus>,
}

/// Desired state of a ReplicationController.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicationControllerSpec {
    /// How many pods; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// How long a pod must be ready before it counts as available.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "is_zero"
    )]
    pub min_ready_seconds: i32,
    /// Which pods are meant: those with all of these labels.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Labels::is_empty"
    )]
    pub selector: Labels,
    /// What the pods look like.
    #[serde(default)]
    pub template: Template,
}

/// Observed state of a ReplicationController.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicationControllerStatus {
    /// Pods that are not terminating.
    #[serde(default)]
    pub replicas: i32,
    /// Of these, with all labels of the template.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fully_labeled_replicas: i32,
    /// Of these, ready.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ready_replicas: i32,
    /// Of these, available.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub available_replicas: i32,
    /// The generation this status speaks of.
    #[serde(default, skip_serializing_if = "is_zero_i64")]
    pub observed_generation: i64,
    /// Conditions.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<Lossless<Condition>>,
}

object!(
    ReplicationController,
    Kind::namespaced("", "v1", "ReplicationController", "replicationcontrollers"),
);
