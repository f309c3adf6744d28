//! Nodes: whether they are ready, and what keeps pods away from them.

use serde::{Deserialize, Deserializer, Serialize};

use super::pod::kept;
use super::{null_default, object};
use crate::{ConditionStatus, Kind, LeanMeta, Text};

/// A Node.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Node {
    /// Metadata, without annotations.
    pub metadata: LeanMeta,
    /// Desired state.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: NodeSpec,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: NodeStatus,
}

/// Desired state of a Node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeSpec {
    /// What keeps pods away.
    #[serde(
        default,
        deserialize_with = "null_default",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub taints: Box<[Taint]>,
}

/// Something that keeps pods away from a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    /// What it is called.
    pub key: Text,
}

/// Observed state of a Node.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NodeStatus {
    /// The condition `Ready`, if written.
    #[serde(
        default,
        deserialize_with = "conditions",
        skip_serializing_if = "<[_]>::is_empty"
    )]
    pub conditions: Box<[NodeCondition]>,
}

/// One condition of a Node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCondition {
    /// What is said, such as `Ready`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    pub status: ConditionStatus,
}

impl Node {
    /// Whether the node says that it is ready; one that says nothing is not.
    pub fn is_ready(&self) -> bool {
        let ready = self.status.conditions.iter().find(|it| it.kind == "Ready");
        ready.is_some_and(|it| it.status == ConditionStatus::True)
    }

    /// Whether it has a taint of this key, whatever its effect.
    pub fn has_taint(&self, key: &str) -> bool {
        self.spec.taints.iter().any(|taint| taint.key == key)
    }
}

fn conditions<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Box<[NodeCondition]>, D::Error> {
    kept(deserializer, |condition: &NodeCondition| {
        condition.kind == "Ready"
    })
}

object!(Node, Kind::cluster("", "v1", "Node", "nodes"));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Object;

    #[test]
    fn a_node_is_ready_only_if_it_says_so() {
        let ready = |status: &str| {
            let json = format!(
                r#"{{"metadata":{{"name":"n"}},"status":{{"conditions":[
                    {{"type":"DiskPressure","status":"True"}},{{"type":"Ready","status":"{status}"}}]}}}}"#
            );
            Node::decode(json.as_bytes()).unwrap().is_ready()
        };
        assert!(ready("True"));
        assert!(!ready("False") && !ready("Unknown"));
        assert!(!Node::default().is_ready());
    }
}
