//! A node, as far as it matters for who may run there.

use flyball_api::{DecodeError, Kind, Labels, Object, Pool, Text, Uid};
use serde::Deserialize;

use super::{Amounts, ResourceList};

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) name: Text,
    pub(crate) uid: Uid,
    pub(crate) resource_version: Text,
    pub(crate) deleting: bool,
    pub(crate) labels: Labels,
    /// Cordoned.
    pub(crate) unschedulable: bool,
    pub(crate) taints: Box<[Taint]>,
    /// What its pods may take together.
    pub(crate) allocatable: Amounts,
    /// How many pods it takes.
    pub(crate) pods_max: i64,
}

/// What keeps pods away from a node unless they tolerate it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Taint {
    pub(crate) key: Text,
    pub(crate) value: Text,
    pub(crate) effect: Text,
}

impl Node {
    /// The kind of this view.
    pub const KIND: Kind = Kind::cluster("", "v1", "Node", "nodes");

    /// Whether pods would be treated differently by the one and the other. Heartbeats are not.
    pub(crate) fn is_as_good_as(&self, other: &Node) -> bool {
        self.labels == other.labels
            && self.unschedulable == other.unschedulable
            && self.taints == other.taints
            && self.allocatable == other.allocatable
            && self.pods_max == other.pods_max
    }
}

#[derive(Deserialize)]
struct NodeJson {
    metadata: MetaJson,
    #[serde(default)]
    spec: Option<SpecJson>,
    #[serde(default)]
    status: Option<StatusJson>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaJson {
    #[serde(default)]
    name: Text,
    #[serde(default)]
    uid: Uid,
    #[serde(default)]
    resource_version: Text,
    #[serde(default)]
    deletion_timestamp: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    labels: Labels,
}

#[derive(Default, Deserialize)]
struct SpecJson {
    #[serde(default)]
    unschedulable: Option<bool>,
    #[serde(default)]
    taints: Option<Box<[Taint]>>,
}

#[derive(Default, Deserialize)]
struct StatusJson {
    #[serde(default)]
    allocatable: Option<ResourceList>,
}

impl Object for Node {
    fn kind() -> Kind {
        Self::KIND
    }
    fn namespace(&self) -> &str {
        ""
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
        let read: NodeJson = serde_json::from_slice(json).map_err(DecodeError::new)?;
        let spec = read.spec.unwrap_or_default();
        let allocatable = read.status.and_then(|it| it.allocatable);
        let allocatable = allocatable.unwrap_or_default();
        Ok(Self {
            name: read.metadata.name,
            uid: read.metadata.uid,
            resource_version: read.metadata.resource_version,
            deleting: read.metadata.deletion_timestamp.is_some(),
            labels: read.metadata.labels,
            unschedulable: spec.unschedulable.unwrap_or_default(),
            taints: spec.taints.unwrap_or_default(),
            pods_max: allocatable.get("pods").map_or(0, |pods| pods.value()),
            allocatable: Amounts::of(&allocatable),
        })
    }
    fn share(&mut self, pool: &mut Pool) {
        self.labels = pool.labels(std::mem::take(&mut self.labels));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_decides_and_ignores_heartbeats() {
        let json = |beat: &str| {
            format!(
                r#"{{"metadata":{{"name":"n","labels":{{"zone":"a"}},"annotations":{{"x":"y"}}}},
                "spec":{{"unschedulable":true,"taints":[{{"key":"k","effect":"NoSchedule"}}]}},
                "status":{{"allocatable":{{"cpu":"2","memory":"1Gi","pods":"110"}},
                "conditions":[{{"type":"Ready","lastHeartbeatTime":"{beat}"}}]}}}}"#
            )
        };
        let node = Node::decode(json("1").as_bytes()).unwrap();
        assert!(node.unschedulable && node.taints.len() == 1 && node.pods_max == 110);
        assert!(node.is_as_good_as(&Node::decode(json("2").as_bytes()).unwrap()));
    }

    #[test]
    fn a_node_that_says_nothing_takes_nothing() {
        let node = Node::decode(br#"{"metadata":{"name":"n"},"spec":{"taints":null}}"#).unwrap();
        assert_eq!((node.pods_max, node.allocatable), (0, Amounts::default()));
    }
}
