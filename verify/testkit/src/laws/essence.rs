//! What of a settled world does not depend on how it came about.

use serde_json::Value;

use super::Lawful;
use crate::{World, flow};

/// Fields that tell when, how often or by which identity, not what.
const INCIDENTAL: &[&str] = &[
    "uid",
    "resourceVersion",
    "generation",
    "observedGeneration",
    "creationTimestamp",
    "deletionTimestamp",
    "startTime",
    "lastTransitionTime",
    "lastUpdateTime",
];

/// All objects without identities, versions, times and made-up names, one per line, sorted.
pub fn essence(world: &World) -> String {
    let mut lines: Vec<String> = world
        .objects()
        .map(|(_, object)| {
            let mut object = Value::clone(object);
            let metadata = &mut object["metadata"];
            if let Some(prefix) = metadata["generateName"].as_str() {
                metadata["name"] = format!("{prefix}*").into();
            }
            forget(&mut object);
            flow(&object)
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

fn forget(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|field, _| !INCIDENTAL.contains(&field.as_str()));
            fields.values_mut().for_each(forget);
        }
        Value::Array(items) => items.iter_mut().for_each(forget),
        _ => {}
    }
}

/// Whether two settled worlds are the same but for how they came about.
pub(super) fn same<C: Lawful>(one: &World, other: &World) -> Result<(), String> {
    let (one, other) = (C::essence(one), C::essence(other));
    if one == other {
        return Ok(());
    }
    Err(format!(
        "two ways, two ends; one way:\n{one}\nthe other:\n{other}"
    ))
}
