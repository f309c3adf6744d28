//! PodResizeValidator: a pod does not grow beyond the node that it runs on.
//!
//! Upstream: `plugin/pkg/admission/podresize`.

use super::amounts::{Amounts, Asked};
use super::{Effects, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};

/// Refuses to resize pods where their node cannot.
pub(super) struct PodResizeValidator;

impl Plugin for PodResizeValidator {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let node = at(object, "spec.nodeName").as_str().unwrap_or_default();
        let is_resize = review.is_of("", "pods") && review.subresource == "resize";
        // Only a change of the spec counts as a generation.
        let changes = review
            .old
            .is_some_and(|old| old.generation() != object.generation());
        if !is_resize || node.is_empty() || !changes {
            return Ok(());
        }
        let Some(node) = review.find(("", "nodes"), "", node) else {
            return Err(review.forbidden(Some(object), format!("node {node:?} not found")));
        };
        match refusal(&node, object) {
            Some((cause, why)) => Err(review
                .forbidden(Some(object), why)
                .with_cause(cause, "", "")),
            None => Ok(()),
        }
    }
}

/// Why a pod cannot be what it wants to be on a node, if it cannot.
fn refusal(node: &Object, pod: &Object) -> Option<(&'static str, String)> {
    let system = node.meta()["labels"]["kubernetes.io/os"].as_str();
    if let Some(system) = system.filter(|system| *system != "linux") {
        let name = node.name();
        let why =
            format!("pod resize is only supported on linux nodes, node {name:?} is {system:?}");
        return Some(("UnsupportedPlatform", why));
    }
    // What it wants, not what it has.
    let mut wanted = pod.clone();
    wanted.remove("status");
    let wanted = Asked::Requests.of_pod_with_overhead(&wanted);
    let allocatable = Amounts::read(at(node, "status.allocatable"));
    let amounts = |name: &str| {
        let of = |amounts: &Amounts| amounts.get(name).copied().unwrap_or_default();
        (of(&wanted), of(&allocatable))
    };
    let mut lacking = Vec::new();
    let (cpu, cpu_max) = amounts("cpu");
    if cpu > cpu_max {
        let (cpu, cpu_max) = (cpu.milli_value(), cpu_max.milli_value());
        lacking.push(format!("cpu, requested: {cpu}, allocatable: {cpu_max}"));
    }
    let (memory, memory_max) = amounts("memory");
    if memory > memory_max {
        let (memory, memory_max) = (memory.value(), memory_max.value());
        lacking.push(format!(
            "memory, requested: {memory}, allocatable: {memory_max}"
        ));
    }
    (!lacking.is_empty()).then(|| {
        let why = "node didn't have enough allocatable resources";
        ("NodeCapacity", format!("{why}: {}", lacking.join("; ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn object(value: Value) -> Object {
        match value {
            Value::Object(object) => object,
            other => panic!("{other} is not an object"),
        }
    }

    #[test]
    fn a_pod_grows_as_far_as_its_node_goes() {
        let node = |system: &str| {
            object(json!({
                "metadata": {"name": "n", "labels": {"kubernetes.io/os": system}},
                "status": {"allocatable": {"cpu": "2", "memory": "1Ki"}},
            }))
        };
        let pod = |cpu: &str, memory: &str| {
            let resources = json!({"requests": {"cpu": cpu, "memory": memory}});
            object(json!({"spec": {"containers": [{"name": "c", "resources": resources}]}}))
        };
        for (node, pod, expected) in [
            (node("linux"), pod("2", "1Ki"), None),
            (
                node("linux"),
                pod("2500m", "2Ki"),
                Some((
                    "NodeCapacity",
                    "node didn't have enough allocatable resources: cpu, requested: 2500, allocatable: \
                     2000; memory, requested: 2048, allocatable: 1024"
                        .to_owned(),
                )),
            ),
            (
                node("windows"),
                pod("1", "1"),
                Some((
                    "UnsupportedPlatform",
                    "pod resize is only supported on linux nodes, node \"n\" is \"windows\"".to_owned(),
                )),
            ),
        ] {
            assert_eq!(refusal(&node, &pod), expected);
        }
    }
}
