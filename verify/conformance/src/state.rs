//! The state of a namespace with everything that differs from run to run taken out: times, UIDs, addresses, random
//! suffixes and template hashes. What is left of two managers' runs must be equal.

mod diff;
mod names;
mod records;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::scenario::Everything;

pub use diff::Difference;
pub(crate) use names::Names;

/// A normalised state: one entry per workload, one for the pods of each owner, one for the events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct State {
    pub(crate) parts: BTreeMap<String, Value>,
}

impl State {
    pub(crate) fn take(
        all: &Everything,
        names: &Names,
        loose_events: &BTreeMap<String, String>,
    ) -> Self {
        let mut parts = BTreeMap::new();
        let mut pods: BTreeMap<String, BTreeMap<String, (usize, Value)>> = BTreeMap::new();
        for (kind, objects) in all {
            match *kind {
                "Event" => {
                    let events = records::count(objects, names, loose_events);
                    parts.insert("Events".to_owned(), json!(events));
                }
                "Pod" => {
                    for object in objects {
                        let pod = clean(object, names);
                        let same = pods.entry(owner(&pod)).or_default();
                        same.entry(pod.to_string()).or_insert((0, pod)).0 += 1;
                    }
                }
                "Namespace" => {
                    for object in objects {
                        let namespace = clean(object, names);
                        let going = &namespace["metadata"]["deletionTimestamp"];
                        let state =
                            json!({ "status": namespace["status"], "deletionTimestamp": going });
                        parts.insert("Namespace".to_owned(), state);
                    }
                }
                _ => {
                    for object in objects {
                        let name = object["metadata"]["name"].as_str().unwrap_or_default();
                        let key = format!("{kind} {}", names.normalise(name));
                        parts.insert(key, clean(object, names));
                    }
                }
            }
        }
        for (owner, groups) in pods {
            let total: usize = groups.values().map(|(count, _)| count).sum();
            let groups: Vec<Value> = groups
                .into_values()
                .map(|(count, pod)| json!({ "count": count, "pod": pod }))
                .collect();
            parts.insert(
                format!("Pods of {owner}"),
                json!({ "total": total, "groups": groups }),
            );
        }
        Self { parts }
    }

    /// Where two states differ; empty when they are equal.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        diff::maps(&self.parts, &other.parts)
    }
}

fn owner(pod: &Value) -> String {
    let owners = pod["metadata"]["ownerReferences"].as_array();
    let controller = owners
        .into_iter()
        .flatten()
        .find(|owner| owner["controller"] == true);
    match controller {
        Some(owner) => {
            let text = |field: &str| owner[field].as_str().unwrap_or_default().to_owned();
            format!("{} {}", text("kind"), text("name"))
        }
        None => "nobody".to_owned(),
    }
}

/// Fields that no two runs share, wherever they are. What they mean is compared elsewhere: times through conditions,
/// UIDs through owner references, generations through `observedGeneration`.
const DROPPED: &[&str] = &[
    "creationTimestamp",
    "finishedAt",
    "generation",
    "hostIP",
    "hostIPs",
    "lastProbeTime",
    "lastTransitionTime",
    "lastUpdateTime",
    "managedFields",
    "namespace",
    "podIP",
    "podIPs",
    "resourceVersion",
    "startTime",
    "startedAt",
    "uid",
];

fn clean(object: &Value, names: &Names) -> Value {
    let generation = object["metadata"]["generation"].as_u64();
    let mut cleaned = strip(object, names);
    if let Some(fields) = cleaned.as_object_mut() {
        fields.remove("apiVersion");
        fields.remove("kind");
    }
    if let Some(observed) = cleaned.pointer_mut("/status/observedGeneration") {
        *observed = json!(if observed.as_u64() >= generation {
            "current"
        } else {
            "behind"
        });
    }
    let conditions = cleaned
        .pointer_mut("/status/conditions")
        .and_then(Value::as_array_mut);
    if let Some(conditions) = conditions {
        conditions.sort_by_key(|condition| condition["type"].to_string());
        for condition in conditions.iter_mut().filter_map(Value::as_object_mut) {
            condition.remove("observedGeneration");
        }
    }
    let owners = object
        .pointer("/metadata/ownerReferences")
        .and_then(Value::as_array);
    let cleaned_owners = cleaned
        .pointer_mut("/metadata/ownerReferences")
        .and_then(Value::as_array_mut);
    if let (Some(owners), Some(cleaned_owners)) = (owners, cleaned_owners) {
        for (owner, cleaned) in owners.iter().zip(cleaned_owners) {
            // An owner reference is right only if its UID is that of the object it names.
            cleaned["uid"] = json!(names.of_uid(owner["uid"].as_str().unwrap_or_default()));
        }
    }
    cleaned
}

fn strip(value: &Value, names: &Names) -> Value {
    match value {
        Value::String(text) => Value::String(names.normalise(text)),
        Value::Array(items) => items.iter().map(|item| strip(item, names)).collect(),
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (key, value) in fields {
                match key.as_str() {
                    dropped if DROPPED.contains(&dropped) => {}
                    "deletionTimestamp" | "kubectl.kubernetes.io/restartedAt" => {
                        kept.insert(key.clone(), json!("set"));
                    }
                    _ => {
                        kept.insert(key.clone(), strip(value, names));
                    }
                }
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
