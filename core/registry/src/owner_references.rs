//! Owners that are named twice: one reference of them stays, and whoever sent them is told.
//!
//! Upstream: `apiserver/pkg/endpoints/handlers/rest.go`.

use std::collections::HashSet;

use serde_json::Value;

use crate::object::{Meta, Object};

/// How an object with owners came about, which decides the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It was sent as it is.
    Sent,
    /// It came out of a patch.
    Patched,
}

/// Leaves one of several references that say the same.
pub(crate) fn unite(object: &mut Object, origin: Origin, warnings: &mut Vec<String>) {
    let Some(Value::Array(all)) = object.meta_mut().get_mut("ownerReferences") else {
        return;
    };
    if all.len() < 2 {
        return;
    }
    let mut seen: HashSet<String> = HashSet::with_capacity(all.len());
    let mut once: Vec<Value> = Vec::with_capacity(all.len());
    let mut again: Vec<String> = Vec::new();
    for one in all.drain(..) {
        match seen.insert(one.to_string()) {
            true => once.push(one),
            false => again.push(one["uid"].as_str().unwrap_or_default().to_owned()),
        }
    }
    *all = once;
    if !again.is_empty() {
        let when = match origin {
            Origin::Sent => "",
            Origin::Patched => " after mutating admission happens",
        };
        warnings.push(format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and \
             may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            again.join(", ")
        ));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_that_say_the_same_become_one() {
        let owner = |uid: &str, name: &str| json!({"kind": "Pod", "name": name, "uid": uid});
        let (one, two, other) = (owner("1", "a"), owner("2", "b"), owner("1", "c"));
        let Value::Object(mut object) =
            json!({"metadata": {"ownerReferences": [one, two, one, other, one]}})
        else {
            return;
        };
        let mut warnings = Vec::new();
        unite(&mut object, Origin::Sent, &mut warnings);
        assert_eq!(object.meta()["ownerReferences"], json!([one, two, other]));
        assert!(warnings[0].ends_with("duplicate UID(s) observed: 1, 1"));
        unite(&mut object, Origin::Patched, &mut warnings);
        assert_eq!(warnings.len(), 1);
    }
}
