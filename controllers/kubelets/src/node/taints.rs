//! The taint that a node is registered with, and when it goes.
//!
//! Servers taint every new node as not ready (upstream's admission plugin TaintNodesByCondition), and
//! upstream's node-lifecycle controller takes that away when the node says that it is. Where nobody
//! runs that controller, simulated nodes would never get a pod, so they do it themselves. It is the
//! same write, so nothing is lost where both do.

use flyball_api::ConditionStatus;
use serde_json::Value;

use crate::views::Node;

/// Whether the node is tainted as not ready and says that it is ready.
pub(super) fn is_due(node: &Node) -> bool {
    let mut conditions = node.status.conditions.iter();
    let is_ready = conditions.any(|it| it.kind == "Ready" && it.status == ConditionStatus::True);
    is_ready && node.spec.taints.iter().any(is_not_ready)
}

/// All other taints of a node.
pub(super) fn without_not_ready(node: &Node) -> Vec<Value> {
    let taints = node.spec.taints.iter();
    taints
        .filter(|taint| !is_not_ready(taint))
        .cloned()
        .collect()
}

fn is_not_ready(taint: &Value) -> bool {
    taint["key"] == "node.kubernetes.io/not-ready" && taint["effect"] == "NoSchedule"
}
