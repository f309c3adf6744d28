//! A pod, as far as it matters for where it runs and for who may run beside it.
//!
//! What pods of one template have in common is kept once: labels, and the *rules*, which are those
//! fields of the spec that are only read when the pod, or its neighbour, is placed. They stay JSON
//! text, filed by name as labels are, because sets of labels are what a pool can share.

use flyball_api::views::ObjectReference;
use flyball_api::{DecodeError, Index, Kind, Labels, Object, Pool, Text, Timestamp, Uid};
use flyball_plan::{Precondition, Target};

use super::{Amounts, pod_json};

/// The index of pods that wait for a node, by the name of the scheduler they wait for.
pub(crate) const PENDING: &str = "pending";

/// The names that rules are filed under.
pub(crate) mod part {
    pub(crate) const NODE_SELECTOR: &str = "nodeSelector";
    pub(crate) const NODE_AFFINITY: &str = "nodeAffinity";
    pub(crate) const POD_AFFINITY: &str = "podAffinity";
    pub(crate) const POD_ANTI_AFFINITY: &str = "podAntiAffinity";
    pub(crate) const TOLERATIONS: &str = "tolerations";
    pub(crate) const SPREAD: &str = "topologySpreadConstraints";
}

/// A pod.
#[derive(Clone, Debug)]
pub struct Pod {
    pub(crate) name: Text,
    pub(crate) namespace: Text,
    pub(crate) uid: Uid,
    pub(crate) resource_version: Text,
    pub(crate) created: Option<Timestamp>,
    pub(crate) deleting: bool,
    pub(crate) labels: Labels,
    /// The controller whose pods are spread over nodes although nobody asked for it.
    pub(crate) group: Option<Uid>,
    pub(crate) scheduler_name: Text,
    /// The node it is bound to; empty while it waits.
    pub(crate) node_name: Text,
    /// The node on which room was made for it.
    pub(crate) nominated_node_name: Text,
    /// It has run, and takes nothing any more.
    pub(crate) ended: bool,
    /// When a kubelet took it over.
    pub(crate) started: Option<Timestamp>,
    pub(crate) priority: i32,
    /// Whether others may be deleted to make room for it.
    pub(crate) preempts: bool,
    /// Whether somebody has yet to say that it may be placed.
    pub(crate) gated: bool,
    /// Why it is not placed, if that was written.
    pub(crate) refusal: Option<Box<Refusal>>,
    /// Whether it goes to make room for a more important one.
    pub(crate) preempted: bool,
    /// The fields of the spec named in [`part`], as JSON text.
    pub(crate) rules: Labels,
    /// What it asks for, which is what it is taken to use.
    pub(crate) requests: Amounts,
    /// CPU and memory as scores reckon: containers that ask for nothing count for a little.
    pub(crate) nominal: (i64, i64),
    /// The ports of the node that it takes.
    pub(crate) ports: Box<[HostPort]>,
}

/// A condition `PodScheduled` that is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) reason: Text,
    pub(crate) message: Text,
}

/// A port of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct HostPort {
    pub(crate) port: i32,
    pub(crate) ip: Text,
    pub(crate) protocol: Text,
}

impl Pod {
    /// The kind of this view.
    pub const KIND: Kind = Kind::namespaced("", "v1", "Pod", "pods");

    /// Whether it waits for a node, and may get one.
    pub(crate) fn is_pending(&self) -> bool {
        self.node_name.is_empty() && !self.deleting && !self.ended
    }

    /// Whether it takes room on a node.
    pub(crate) fn is_assigned(&self) -> bool {
        !self.node_name.is_empty() && !self.ended
    }

    /// Whether both may go to the same nodes: two states of one pod, or two pods.
    pub(crate) fn is_placed_like(&self, other: &Pod) -> bool {
        self.rules == other.rules
            && self.labels == other.labels
            && self.requests == other.requests
            && self.ports == other.ports
            && self.priority == other.priority
            && self.gated == other.gated
            && self.group == other.group
    }

    /// One of its rules, as JSON text.
    pub(crate) fn rule(&self, part: &str) -> Option<&str> {
        self.rules.get(part)
    }

    /// What an action about it is aimed at.
    pub(crate) fn target(&self) -> Target {
        Target {
            kind: Self::KIND,
            name: self.object_name(),
        }
    }

    /// It must be this incarnation.
    pub(crate) fn incarnation(&self) -> Precondition {
        Precondition {
            uid: Some(self.uid.clone()),
            resource_version: None,
        }
    }

    /// It must be exactly as it was seen.
    pub(crate) fn unchanged(&self) -> Precondition {
        Precondition {
            uid: Some(self.uid.clone()),
            resource_version: Some(self.resource_version.clone()),
        }
    }

    /// A reference to it, for telling people.
    pub(crate) fn reference(&self) -> ObjectReference {
        ObjectReference {
            kind: Self::KIND.kind.into(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            api_version: Self::KIND.api_version().into(),
            resource_version: self.resource_version.clone(),
        }
    }
}

impl Object for Pod {
    fn kind() -> Kind {
        Self::KIND
    }
    fn namespace(&self) -> &str {
        &self.namespace
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn uid(&self) -> &Uid {
        &self.uid
    }
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
    fn is_deleting(&self) -> bool {
        self.deleting
    }
    fn lineage(&self) -> flyball_api::Lineage<'_> {
        // Nobody here asks, and no collector runs beside a scheduler.
        flyball_api::Lineage::default()
    }
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        pod_json::decode(json)
    }
    fn share(&mut self, pool: &mut Pool) {
        self.labels = pool.labels(std::mem::take(&mut self.labels));
        self.rules = pool.labels(std::mem::take(&mut self.rules));
    }
    fn indexes() -> &'static [Index<Self>] {
        const INDEXES: &[Index<Pod>] = &[Index {
            name: PENDING,
            values: |pod, values| {
                if pod.is_pending() {
                    values.push(pod.scheduler_name.clone());
                }
            },
        }];
        INDEXES
    }
}
