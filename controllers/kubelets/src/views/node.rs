//! Nodes: what they say of themselves.

use std::collections::BTreeMap;

use flyball_api::{ConditionStatus, Kind, Meta, Quantity, Text, Timestamp, null_default, object};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::annotations::{LOST, SIMULATED, is_true};

/// A Node.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Node {
    /// Metadata.
    pub metadata: Meta,
    /// What others decided about it.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: NodeSpec,
    /// What it says of itself.
    #[serde(default, deserialize_with = "null_default")]
    pub status: NodeStatus,
}

/// What others decided about a node.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeSpec {
    /// The range that its pods have their addresses from; empty if nobody gave it one.
    #[serde(default, rename = "podCIDR", deserialize_with = "null_default")]
    pub pod_cidr: Text,
    /// What keeps pods away, as it came: most of it is others'.
    #[serde(default, deserialize_with = "null_default")]
    pub taints: Vec<Value>,
}

/// What a node says of itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeStatus {
    /// What it has.
    #[serde(default, deserialize_with = "null_default")]
    pub capacity: BTreeMap<Text, Quantity>,
    /// What it has for pods.
    #[serde(default, deserialize_with = "null_default")]
    pub allocatable: BTreeMap<Text, Quantity>,
    /// How it fares.
    #[serde(default, deserialize_with = "null_default")]
    pub conditions: Vec<NodeCondition>,
    /// Where it is reached.
    #[serde(default, deserialize_with = "null_default")]
    pub addresses: Vec<NodeAddress>,
    /// What it runs.
    #[serde(default, deserialize_with = "null_default")]
    pub node_info: NodeInfo,
}

/// One condition of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeCondition {
    /// What is said, such as `Ready`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// When it was last said.
    #[serde(default)]
    pub last_heartbeat_time: Option<Timestamp>,
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

/// One address of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAddress {
    /// Of what kind it is, such as `InternalIP`.
    #[serde(rename = "type")]
    pub kind: Text,
    /// The address.
    pub address: Text,
}

/// What a node runs, as far as it may change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeInfo {
    /// The version of its kubelet.
    #[serde(default, deserialize_with = "null_default")]
    pub kubelet_version: Text,
    /// Its processors.
    #[serde(default, deserialize_with = "null_default")]
    pub architecture: Text,
}

object!(Node, Kind::cluster("", "v1", "Node", "nodes"));

impl Node {
    /// Whether it is one of ours.
    pub fn is_simulated(&self) -> bool {
        is_true(&self.metadata.annotations, SIMULATED)
    }

    /// Whether it is cut off.
    pub fn is_lost(&self) -> bool {
        is_true(&self.metadata.annotations, LOST)
    }

    /// Its address inside the cluster; empty if it has not said.
    pub fn internal_ip(&self) -> &str {
        let mut addresses = self.status.addresses.iter();
        let internal = addresses.find(|it| it.kind == "InternalIP");
        internal.map_or("", |it| it.address.as_str())
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::Object;

    use super::*;

    #[test]
    fn reads_what_a_server_sends() {
        let node = Node::decode(
            br#"{"metadata":{"name":"node-0","annotations":{"kubelet.flyball.dev/simulated":"true"}},
                 "spec":{"podCIDR":"10.244.0.0/24"},
                 "status":{"capacity":{"cpu":"32","pods":110},"conditions":null,
                   "addresses":[{"type":"Hostname","address":"node-0"},
                     {"type":"InternalIP","address":"172.16.0.2"}],
                   "nodeInfo":{"kubeletVersion":"v1.36.4","machineID":"m"}}}"#,
        )
        .unwrap();
        assert!(node.is_simulated() && !node.is_lost());
        assert_eq!(node.internal_ip(), "172.16.0.2");
        assert_eq!(node.status.capacity["pods"], Quantity::from_integer(110));
        assert_eq!(node.spec.pod_cidr, "10.244.0.0/24");
    }
}
