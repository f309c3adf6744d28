//! PodTopologyLabels: a pod knows by its labels in which zone and region it runs.
//!
//! Upstream: `plugin/pkg/admission/podtopologylabels`.

use super::{Effects, Operation, Plugin, Review, field_mut};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

const LABELS: [&str; 2] = [
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
];

/// Copies where a node is to what is bound to it.
pub(super) struct PodTopologyLabels;

impl Plugin for PodTopologyLabels {
    fn mutate(
        &self,
        review: &Review<'_>,
        object: &mut Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        if !review.is_of("", "pods") || review.operation != Operation::Create {
            return Ok(());
        }
        let node = match review.subresource {
            "" => at(object, "spec.nodeName"),
            // The labels of a binding become those of its pod.
            "binding" if at(object, "target.kind") == "Node" => at(object, "target.name"),
            _ => return Ok(()),
        };
        let node = node.as_str().filter(|node| !node.is_empty());
        let Some(node) = node.and_then(|node| review.find(("", "nodes"), "", node)) else {
            return Ok(());
        };
        for label in LABELS {
            let value = &node.meta()["labels"][label];
            if !value.is_null() {
                let labels = field_mut(object.meta_mut(), "labels");
                labels.insert(label.to_owned(), value.clone());
            }
        }
        Ok(())
    }
}
