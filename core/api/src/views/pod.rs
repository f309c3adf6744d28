//! Pods: where they run, how they fare, who owns them.

use serde::{Deserialize, Deserializer, Serialize};

use super::{controller_value, null_default, object};
use crate::{ConditionStatus, Index, Kind, LeanMeta, Text, Timestamp};

/// The index of pods (and ReplicaSets) by the UID of their controller;
/// [`controller_value`](super::controller_value) makes its values.
pub const BY_CONTROLLER: &str = "controller";

/// The index of pods by the node they run on.
pub const BY_NODE: &str = "spec.nodeName";

/// Annotations of pods that some controller reads.
const ANNOTATIONS_READ: &[&str] = &["controller.kubernetes.io/pod-deletion-cost"];

/// Conditions of pods that some controller reads.
const CONDITIONS_READ: &[&str] = &["Ready", "DisruptionTarget"];

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Pod {
    /// Metadata, with only the annotations that some controller reads.
    #[serde(deserialize_with = "lean_meta")]
    pub metadata: LeanMeta,
    /// Desired state.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: PodSpec,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: PodStatus,
}

/// Desired state of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodSpec {
    /// The node it is bound to; empty while unassigned.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "Text::is_empty"
    )]
    pub node_name: Text,
    /// Init containers that keep running beside the others (restart policy `Always`).
    #[serde(
        default,
        deserialize_with = "sidecars",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub init_containers: Box<[InitContainer]>,
}

/// An init container.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InitContainer {
    /// Its name.
    pub name: Text,
    /// `Always` makes it a sidecar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<Text>,
}

/// Observed state of a pod.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodStatus {
    /// Where it is in its life.
    #[serde(default, deserialize_with = "null_default")]
    pub phase: Phase,
    /// Why it is in this phase, as far as some controller reads it.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "PodReason::is_other"
    )]
    pub reason: PodReason,
    /// The conditions that some controller reads.
    #[serde(
        default,
        deserialize_with = "conditions",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub conditions: Box<[PodCondition]>,
    /// State of the containers.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub container_statuses: Box<[ContainerStatus]>,
    /// State of the init containers.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub init_container_statuses: Box<[ContainerStatus]>,
}

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Accepted, not all containers started.
    Pending,
    /// At least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly.
    Failed,
    /// The state could not be obtained.
    Unknown,
    /// No phase was written yet.
    #[default]
    #[serde(other, rename = "")]
    Unset,
}

/// Why a pod is in its phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PodReason {
    /// Its node was short of something and stopped it.
    Evicted,
    /// Anything else, or nothing.
    #[default]
    #[serde(other, rename = "")]
    Other,
}

impl PodReason {
    fn is_other(&self) -> bool {
        *self == Self::Other
    }
}

/// One condition of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodCondition {
    /// What is said, such as `Ready`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// When the status last changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}

/// State of one container.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerStatus {
    /// Its name.
    pub name: Text,
    /// How often it was started again.
    #[serde(default)]
    pub restart_count: i32,
}

object!(
    Pod,
    Kind::namespaced("", "v1", "Pod", "pods"),
    Index {
        name: BY_CONTROLLER,
        values: |pod, values| values.push(controller_value(
            &pod.metadata.namespace,
            pod.metadata.controller().map(|owner| &owner.uid)
        )),
    },
    Index {
        name: BY_NODE,
        values: |pod, values| if !pod.spec.node_name.is_empty() {
            values.push(pod.spec.node_name.clone());
        },
    },
);

impl Pod {
    /// The condition of this type, if written.
    pub fn condition(&self, kind: &str) -> Option<&PodCondition> {
        self.status
            .conditions
            .iter()
            .find(|condition| condition.kind == kind)
    }
}

fn lean_meta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LeanMeta, D::Error> {
    LeanMeta::with_annotations(deserializer, |key| ANNOTATIONS_READ.contains(&key))
}

fn conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[PodCondition]>, D::Error> {
    kept(deserializer, |condition: &PodCondition| {
        CONDITIONS_READ.contains(&&*condition.kind)
    })
}

fn sidecars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[InitContainer]>, D::Error> {
    kept(deserializer, |container: &InitContainer| {
        container.restart_policy.as_deref() == Some("Always")
    })
}

/// Reads a list and keeps the items asked for, in a box without spare room.
pub(super) fn kept<'de, D, T>(deserializer: D, keep: fn(&T) -> bool) -> Result<Box<[T]>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let mut items: Vec<T> = null_default(deserializer)?;
    items.retain(keep);
    Ok(items.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn keeps_only_what_some_controller_reads() {
        let pod = Pod::decode(
            br#"{"metadata":{"name":"a","namespace":"n","annotations":{"x":"y",
                 "controller.kubernetes.io/pod-deletion-cost":"5"}},
                 "spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}],
                   "initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i"}]},
                 "status":{"phase":"Running","conditions":[
                   {"type":"Initialized","status":"True"},
                   {"type":"Ready","status":"True","lastTransitionTime":null}]}}"#,
        )
        .unwrap();
        assert_eq!(pod.metadata.annotations.iter().count(), 1);
        assert_eq!(pod.spec.init_containers.len(), 1);
        assert_eq!(pod.status.conditions.len(), 1);
        assert_eq!(
            pod.condition("Ready").unwrap().status,
            ConditionStatus::True
        );
    }

    #[test]
    fn a_phase_from_the_future_does_not_break_decoding() {
        let pod = Pod::decode(br#"{"metadata":{"name":"a"},"status":{"phase":"Hibernating"}}"#);
        assert_eq!(pod.unwrap().status.phase, Phase::Unset);
    }
}
