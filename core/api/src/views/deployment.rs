//! Deployments: a template, a count, and a promise about how to move between templates.

use serde::{Deserialize, Serialize};

use super::{null_default, object};
use crate::{Condition, IntOrPercent, Kind, LabelSelector, Lossless, Meta, Template, Text};

/// A Deployment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Deployment {
    /// Metadata.
    pub metadata: Meta,
    /// Desired state.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: DeploymentSpec,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: Lossless<DeploymentStatus>,
}

/// Desired state of a Deployment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentSpec {
    /// How many pods; 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Which ReplicaSets and pods are meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// What the pods look like.
    #[serde(default)]
    pub template: Template,
    /// How to replace pods.
    #[serde(default, deserialize_with = "null_default")]
    pub strategy: DeploymentStrategy,
    /// How long a pod must be ready before it counts as available.
    #[serde(default, deserialize_with = "null_default")]
    pub min_ready_seconds: i32,
    /// How many old ReplicaSets to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision_history_limit: Option<i32>,
    /// Whether roll-outs are held.
    #[serde(default, deserialize_with = "null_default")]
    pub paused: bool,
    /// How long a roll-out may stand still before it is called failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_deadline_seconds: Option<i32>,
}

/// How a Deployment replaces pods.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentStrategy {
    /// `RollingUpdate` or `Recreate`.
    #[serde(default, rename = "type", skip_serializing_if = "Text::is_empty")]
    pub kind: Text,
    /// Bounds of a rolling update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolling_update: Option<RollingUpdateDeployment>,
}

/// Bounds of a rolling update.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RollingUpdateDeployment {
    /// How many pods may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<IntOrPercent>,
    /// How many pods there may be beyond the desired count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrPercent>,
}

/// Observed state of a Deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeploymentStatus {
    /// The generation this status speaks of.
    #[serde(default, skip_serializing_if = "is_zero_i64")]
    pub observed_generation: i64,
    /// Pods that are not terminating.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replicas: i32,
    /// Of these, with the current template.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub updated_replicas: i32,
    /// Of these, ready.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ready_replicas: i32,
    /// Of these, available.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub available_replicas: i32,
    /// Still missing for full availability.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unavailable_replicas: i32,
    /// Pods on their way out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i32>,
    /// Conditions.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<Lossless<Condition>>,
    /// How many template hashes collided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
}

pub(super) fn is_zero(n: &i32) -> bool {
    *n == 0
}

pub(super) fn is_zero_i64(n: &i64) -> bool {
    *n == 0
}

object!(
    Deployment,
    Kind::namespaced("apps", "v1", "Deployment", "deployments")
);
