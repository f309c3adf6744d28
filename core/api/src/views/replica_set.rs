//! ReplicaSets: a number of pods from one template.

use serde::{Deserialize, Serialize};

use super::deployment::{is_zero, is_zero_i64};
use super::{BY_CONTROLLER, controller_value, null_default, object};
use crate::{Condition, Index, Kind, LabelSelector, Lossless, Meta, Template};

/// A ReplicaSet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ReplicaSet {
    /// Metadata.
    pub metadata: Meta,
    /// Desired state.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: ReplicaSetSpec,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: Lossless<ReplicaSetStatus>,
}

/// Desired state of a ReplicaSet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSetSpec {
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
    /// Which pods are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// What the pods look like.
    #[serde(default)]
    pub template: Template,
}

/// Observed state of a ReplicaSet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplicaSetStatus {
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
    /// Pods on their way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i32>,
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
    ReplicaSet,
    Kind::namespaced("apps", "v1", "ReplicaSet", "replicasets"),
    Index {
        name: BY_CONTROLLER,
        values: |set, values| values.push(controller_value(
            &set.metadata.namespace,
            set.metadata.controller().map(|owner| &owner.uid)
        )),
    },
);
