//! The bodies of PATCH requests, as strategic merge patches.
//!
//! Every patch here says which object it was made for, by uid or by resourceVersion: sent too late,
//! it fails with a conflict instead of changing something it was not meant for. A strategic merge
//! sets fields, removes those set to null, and can take one owner off a list without knowing the
//! others. Upstream builds the same owner patches in `pkg/controller/controller_ref_manager.go`.

use serde_json::{Map, Value, json};

use crate::{OwnerReference, Uid};

#[cfg(test)]
mod tests;

/// Makes `owner` the controller of a child, and adds finalizers.
///
/// Fails with a conflict if the child of this name has another uid by now, and with "invalid" if it
/// has another controller by now.
pub fn adopt(child: &Uid, owner: &OwnerReference, finalizers: &[&str]) -> Value {
    let mut patch = json!({"metadata": {"ownerReferences": [owner]}});
    if !finalizers.is_empty() {
        patch["metadata"]["finalizers"] = json!(finalizers);
    }
    guarded(Some(child), None, patch)
}

/// Takes these owners, and finalizers, away from a child.
///
/// Fails with a conflict if the child of this name has another uid by now.
pub fn release(child: &Uid, owners: &[&Uid], finalizers: &[&str]) -> Value {
    let gone = |owner: &&Uid| json!({"$patch": "delete", "uid": owner});
    let owners: Vec<Value> = owners.iter().map(gone).collect();
    let mut patch = json!({"metadata": {"ownerReferences": owners}});
    if !finalizers.is_empty() {
        patch["metadata"]["$deleteFromPrimitiveList/finalizers"] = json!(finalizers);
    }
    guarded(Some(child), None, patch)
}

/// A patch with its preconditions put where the server looks for them: the object must still be
/// this incarnation, or in this state, or both.
///
/// What is no JSON object is given back as it is; no server takes it for a patch.
pub fn guarded(uid: Option<&Uid>, resource_version: Option<&str>, mut patch: Value) -> Value {
    let Some(fields) = patch.as_object_mut() else {
        return patch;
    };
    let metadata = fields.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    if let Some(metadata) = metadata.as_object_mut() {
        if let Some(uid) = uid {
            metadata.insert("uid".into(), json!(uid));
        }
        if let Some(version) = resource_version {
            metadata.insert("resourceVersion".into(), version.into());
        }
    }
    patch
}
