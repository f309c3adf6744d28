//! TaintNodesByCondition: a new node takes no pods until it has been seen to be ready.
//!
//! Upstream: `plugin/pkg/admission/nodetaint`. Whoever watches over nodes takes the taint away.

use serde_json::json;

use super::{Effects, Operation, Plugin, Review, field_mut, list_mut};
use crate::failure::Failure;
use crate::object::Object;

const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// Taints new nodes.
pub(super) struct TaintNodesByCondition;

impl Plugin for TaintNodesByCondition {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !review.is_about("", "nodes") || review.operation != Operation::Create {
            return Ok(());
        }
        let taints = list_mut(field_mut(object, "spec"), "taints");
        let is_there = |taint: &serde_json::Value| {
            taint["key"] == NOT_READY && taint["effect"] == "NoSchedule"
        };
        if !taints.iter().any(is_there) {
            taints.push(json!({"key": NOT_READY, "effect": "NoSchedule"}));
        }
        Ok(())
    }
}
