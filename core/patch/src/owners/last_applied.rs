//! From client-side to server-side apply.
//!
//! `kubectl apply` used to compute its changes itself, and kept in an annotation what it had applied.
//! When `kubectl apply --server-side` comes for the first time, it meets its former self, which owns
//! all those fields by updates. A conflict about a field that still is as the annotation has it is
//! therefore none; and as long as the annotation is there, it is kept up to date, so that the way
//! back is open (upstream's `lastappliedmanager.go` and `lastappliedupdater.go`).

use serde_json::Value;

use super::Change;
use super::apply::fields_of;
use super::conflict::Conflict;
use crate::fields::FieldSet;
use crate::typed;

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// The only owner for which this is done.
const KUBECTL: &str = "kubectl";
/// How many bytes all annotations of an object may have together.
const ANNOTATIONS_BYTES_MAX: usize = 256 * 1024;

/// The conflicts that are left when those with the former self are not counted.
pub(super) fn unresolved(
    conflicts: &[Conflict],
    live: &Value,
    change: &Change<'_>,
) -> Vec<Conflict> {
    let allowed = match change.owner {
        KUBECTL => still_applied(live, change).unwrap_or_default(),
        _ => FieldSet::new(),
    };
    let left = conflicts
        .iter()
        .filter(|conflict| !allowed.contains(&conflict.path));
    left.cloned().collect()
}

/// The fields that are as they were applied by the client.
fn still_applied(live: &Value, change: &Change<'_>) -> Option<FieldSet> {
    let applied: Value = serde_json::from_str(annotation(live)?).ok()?;
    if applied["apiVersion"] != change.api_version {
        return None;
    }
    let (live, _) = fields_of(live, change)?;
    let (applied, fields) = fields_of(&applied, change)?;
    let found = typed::compare(applied.of, &applied.object, &live.object);
    Some(
        fields
            .difference(&found.changed())
            .difference(&found.removed),
    )
}

/// Writes what is applied into the annotation, if it is there.
pub(super) fn follow(object: &mut Value, config: &Value, change: &Change<'_>) {
    if change.owner != KUBECTL || annotation(object).is_none() {
        return;
    }
    let mut applied = config.clone();
    if let Some(annotations) = annotations_of(&mut applied) {
        annotations.remove(ANNOTATION);
    }
    let text = format!("{}\n", flyball_schema::go_json(&applied));
    let Some(annotations) = annotations_of(object) else {
        return;
    };
    annotations.insert(ANNOTATION.to_owned(), text.into());
    let bytes: usize = annotations
        .iter()
        .map(|(name, value)| name.len() + value.as_str().map_or(0, str::len))
        .sum();
    if bytes > ANNOTATIONS_BYTES_MAX {
        annotations.remove(ANNOTATION);
    }
}

fn annotation(object: &Value) -> Option<&str> {
    let text = object["metadata"]["annotations"][ANNOTATION].as_str();
    text.filter(|text| !text.is_empty())
}

fn annotations_of(object: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    object
        .get_mut("metadata")?
        .get_mut("annotations")?
        .as_object_mut()
}
