//! Pods: what is to run and how it fares.

use flyball_api::{
    ConditionStatus, Index, Kind, Labels, Lineage, ObjectName, Pool, Text, Timestamp, Uid,
    null_default, object,
};
use flyball_plan::{Precondition, Target};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::{ContainerStatus, Program};
use crate::annotations::PREFIX;

/// The index of pods by the node they are bound to.
pub const BY_NODE: &str = "spec.nodeName";

/// A pod.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Pod {
    /// The part of its metadata that matters.
    pub metadata: PodMeta,
    /// What is to run.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: PodSpec,
    /// How it fares.
    #[serde(default, deserialize_with = "null_default")]
    pub status: PodStatus,
}

/// The part of a pod's metadata that matters here.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodMeta {
    /// Its name.
    #[serde(deserialize_with = "null_default")]
    pub name: Text,
    /// Its namespace.
    #[serde(deserialize_with = "null_default")]
    pub namespace: Text,
    /// The identity of this incarnation.
    #[serde(deserialize_with = "null_default")]
    pub uid: Uid,
    /// The version the server gave to this state.
    #[serde(deserialize_with = "null_default")]
    pub resource_version: Text,
    /// Counts changes of the desired state.
    #[serde(deserialize_with = "null_default")]
    pub generation: i64,
    /// When it is to be gone.
    pub deletion_timestamp: Option<Timestamp>,
    /// How long it may take to go.
    pub deletion_grace_period_seconds: Option<i64>,
    /// The annotations that are read here.
    #[serde(deserialize_with = "own_annotations")]
    pub annotations: Labels,
    /// Whether something must be cleared before it may go.
    #[serde(rename = "finalizers", deserialize_with = "any")]
    pub is_held: bool,
    /// Whether a Job controls it.
    #[serde(rename = "ownerReferences", deserialize_with = "job_among")]
    pub is_of_job: bool,
}

impl PodMeta {
    /// Whether the pod has been asked to go away.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// No kubelet asks, and no collector runs beside one.
    fn lineage(&self) -> Lineage<'_> {
        Lineage::default()
    }

    /// Nothing of it is alike in many pods.
    fn share(&mut self, _pool: &mut Pool) {}
}

/// What is to run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node it is bound to; empty while unassigned.
    #[serde(deserialize_with = "null_default")]
    pub node_name: Text,
    /// What happens when a container ends: `Always` unless said otherwise.
    #[serde(deserialize_with = "null_default")]
    pub restart_policy: Text,
    /// Whether it uses the addresses of its node.
    #[serde(deserialize_with = "null_default")]
    pub host_network: bool,
    /// The containers.
    #[serde(deserialize_with = "null_default")]
    pub containers: Box<[Container]>,
    /// The containers that run before the others.
    #[serde(deserialize_with = "null_default")]
    pub init_containers: Box<[Container]>,
    /// Conditions of others without which it is not ready.
    #[serde(deserialize_with = "gates")]
    pub readiness_gates: Box<[Text]>,
}

/// One container that is to run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "ContainerFields")]
pub struct Container {
    /// Its name.
    pub name: Text,
    /// Its image.
    pub image: Text,
    /// `Always` makes an init container a sidecar.
    pub restart_policy: Text,
    /// What its command is known to do.
    pub program: Program,
}

/// A container as the API writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ContainerFields {
    name: Text,
    #[serde(default, deserialize_with = "null_default")]
    image: Text,
    #[serde(default, deserialize_with = "null_default")]
    restart_policy: Text,
    #[serde(default, deserialize_with = "null_default")]
    command: Vec<Text>,
    #[serde(default, deserialize_with = "null_default")]
    args: Vec<Text>,
}

impl From<ContainerFields> for Container {
    fn from(fields: ContainerFields) -> Self {
        Self {
            program: Program::of(&fields.command, &fields.args),
            name: fields.name,
            image: fields.image,
            restart_policy: fields.restart_policy,
        }
    }
}

impl Container {
    /// Whether it runs beside all others until the end, if it is an init container.
    pub fn is_sidecar(&self) -> bool {
        self.restart_policy == "Always"
    }
}

/// How a pod fares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// Where it is in its life.
    #[serde(deserialize_with = "null_default")]
    pub phase: Phase,
    /// Its conditions.
    #[serde(deserialize_with = "null_default")]
    pub conditions: Vec<PodCondition>,
    /// State of the containers.
    #[serde(deserialize_with = "null_default")]
    pub container_statuses: Vec<ContainerStatus>,
    /// State of the init containers.
    #[serde(deserialize_with = "null_default")]
    pub init_container_statuses: Vec<ContainerStatus>,
    /// Its address; empty if it has none yet.
    #[serde(rename = "podIP", deserialize_with = "null_default")]
    pub pod_ip: Text,
    /// The address of its node; empty if nobody has said.
    #[serde(rename = "hostIP", deserialize_with = "null_default")]
    pub host_ip: Text,
    /// When a kubelet accepted it.
    pub start_time: Option<Timestamp>,
}

/// Where a pod is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
pub enum Phase {
    /// At least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly.
    Failed,
    /// Not all containers have started; also what is not known here.
    #[default]
    #[serde(other)]
    Pending,
}

/// One condition of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodCondition {
    /// What is said, such as `Ready`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// When the status last changed.
    #[serde(default)]
    pub last_transition_time: Option<Timestamp>,
    /// Why, in one word for machines.
    #[serde(default, deserialize_with = "null_default")]
    pub reason: Text,
    /// Why, in a sentence for people.
    #[serde(default, deserialize_with = "null_default")]
    pub message: Text,
}

object!(
    Pod,
    Kind::namespaced("", "v1", "Pod", "pods"),
    Index {
        name: BY_NODE,
        values: |pod, values| if !pod.spec.node_name.is_empty() {
            values.push(pod.spec.node_name.clone());
        },
    },
);

impl Phase {
    /// Whether nothing will run any more.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed)
    }
}

impl Pod {
    /// What a write to it is about.
    pub fn target(&self) -> Target {
        Target {
            kind: Self::KIND,
            name: ObjectName {
                namespace: self.metadata.namespace.clone(),
                name: self.metadata.name.clone(),
            },
        }
    }

    /// It must be exactly as it was seen.
    pub fn unchanged(&self) -> Precondition {
        Precondition {
            uid: Some(self.metadata.uid.clone()),
            resource_version: Some(self.metadata.resource_version.clone()),
        }
    }

    /// It must be this incarnation, in whatever state.
    pub fn incarnation(&self) -> Precondition {
        Precondition {
            uid: Some(self.metadata.uid.clone()),
            resource_version: None,
        }
    }

    /// Whether a container that exits with this code is to be started again.
    pub fn restarts_after(&self, exit_code: i32) -> bool {
        match self.spec.restart_policy.as_str() {
            "Never" => false,
            "OnFailure" => exit_code != 0,
            _ => true,
        }
    }
}

fn own_annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    let all: Labels = null_default(deserializer)?;
    let own = all.iter().filter(|(name, _)| name.starts_with(PREFIX));
    Ok(own.collect())
}

fn any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let list: Vec<IgnoredAny> = null_default(deserializer)?;
    Ok(!list.is_empty())
}

fn job_among<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    #[derive(Deserialize)]
    struct Owner {
        kind: Text,
        #[serde(default)]
        controller: Option<bool>,
    }
    let owners: Vec<Owner> = null_default(deserializer)?;
    let is_job = |owner: &Owner| owner.kind == "Job" && owner.controller == Some(true);
    Ok(owners.iter().any(is_job))
}

fn gates<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[Text]>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Gate {
        condition_type: Text,
    }
    let gates: Vec<Gate> = null_default(deserializer)?;
    Ok(gates.into_iter().map(|gate| gate.condition_type).collect())
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    #[test]
    fn keeps_only_what_a_kubelet_reads() {
        let pod = Pod::decode(
            br#"{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7",
                   "annotations":{"x":"y","kubelet.flyball.dev/run-ms":"5"},
                   "finalizers":["batch.kubernetes.io/job-tracking"],
                   "ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"v",
                     "controller":true}]},
                 "spec":{"nodeName":"node-0","restartPolicy":"Never","hostNetwork":null,
                   "containers":[{"name":"c","image":"i","env":[],"command":null,"args":["false"]}],
                   "initContainers":[{"name":"s","restartPolicy":"Always"},{"name":"i"}],
                   "readinessGates":[{"conditionType":"example.com/gate"}]},
                 "status":{"phase":"Hibernating","podIP":"10.0.0.7",
                   "containerStatuses":[{"name":"c","ready":true,"restartCount":2,"image":"i",
                     "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}},
                     "lastState":{"terminated":{"exitCode":1}}}]}}"#,
        )
        .unwrap();
        assert_eq!(pod.metadata.annotations.iter().count(), 1);
        assert!(pod.metadata.is_held && pod.metadata.is_of_job);
        let sidecars: Vec<bool> = pod
            .spec
            .init_containers
            .iter()
            .map(Container::is_sidecar)
            .collect();
        assert_eq!(sidecars, [true, false]);
        assert_eq!(*pod.spec.readiness_gates, ["example.com/gate"]);
        assert!(matches!(
            pod.spec.containers[0].program,
            Program::Exits { code: 1, .. }
        ));
        assert_eq!(pod.status.phase, Phase::Pending);
        let container = &pod.status.container_statuses[0];
        assert!(container.is_running() && container.ready);
        assert_eq!(container.last_state.as_ref().unwrap().exit_code, 1);
    }

    #[test]
    fn a_restart_policy_decides_by_the_exit_code() {
        let pod = |policy: &str| {
            let mut pod = Pod::default();
            pod.spec.restart_policy = policy.into();
            pod
        };
        let cases = [
            ("Always", true, true),
            ("", true, true),
            ("OnFailure", false, true),
            ("Never", false, false),
        ];
        for (policy, after_0, after_1) in cases {
            let pod = pod(policy);
            assert_eq!(
                (pod.restarts_after(0), pod.restarts_after(1)),
                (after_0, after_1),
                "{policy}"
            );
        }
    }
}
