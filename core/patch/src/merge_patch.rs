//! Merge patches: an object whose members replace those of another, and whose nulls remove them.
//!
//! Upstream (evanphx `json-patch` v4, `merge.go`) goes further than RFC 7386 in one point: nulls are
//! also dropped from objects within lists that the patch adds, or puts in place of something that is
//! not an object.

use serde_json::{Map, Value};

use crate::error::PatchRefused;
use crate::wording;

/// Applies a merge patch.
///
/// The patch must be an object; a field that it sets to null is removed, an object is merged into
/// the one that is there, and anything else replaces what is there.
pub fn merge_patch(mut object: Value, patch: &Value) -> Result<Value, PatchRefused> {
    match patch {
        Value::Object(patch) => match &mut object {
            Value::Object(members) => merge(members, patch),
            other => *other = Value::Object(without_nulls_of(patch)),
        },
        Value::Null => return Err(PatchRefused::bad_request("Invalid JSON Patch")),
        other => {
            return Err(PatchRefused::bad_request(format!(
                "error decoding patch: json: cannot unmarshal {} into Go value of type \
                 map[string]interface {{}}",
                wording::json_name(other)
            )));
        }
    }
    Ok(object)
}

fn merge(members: &mut Map<String, Value>, patch: &Map<String, Value>) {
    for (name, change) in patch {
        match (members.get_mut(name), change) {
            (_, Value::Null) => {
                members.remove(name);
            }
            (Some(Value::Object(inner)), Value::Object(change)) => merge(inner, change),
            (Some(there @ Value::Object(_)), change) => *there = change.clone(),
            (_, change) => {
                members.insert(name.clone(), without_nulls(change));
            }
        }
    }
}

/// A value without the members that are null, at any depth; nulls in lists are items and stay.
pub(crate) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(without_nulls_of(members)),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        other => other.clone(),
    }
}

fn without_nulls_of(members: &Map<String, Value>) -> Map<String, Value> {
    members
        .iter()
        .filter(|(_, member)| !member.is_null())
        .map(|(name, member)| (name.clone(), without_nulls(member)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The examples of RFC 7386, appendix A, as far as the outermost patch is an object, and those
    /// of upstream's `merge_test.go`.
    #[test]
    fn members_replace_merge_and_vanish() {
        for (object, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (
                json!({"a": "b"}),
                json!({"b": "c"}),
                json!({"a": "b", "b": "c"}),
            ),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (
                json!({"a": "b", "b": "c"}),
                json!({"a": null}),
                json!({"b": "c"}),
            ),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (
                json!({"a": {"b": "c"}}),
                json!({"a": {"b": "d", "c": null}}),
                json!({"a": {"b": "d"}}),
            ),
            (
                json!({"a": [{"b": "c"}]}),
                json!({"a": [1]}),
                json!({"a": [1]}),
            ),
            (
                json!({"e": null}),
                json!({"a": 1}),
                json!({"e": null, "a": 1}),
            ),
            (
                json!({}),
                json!({"a": {"bb": {"ccc": null}}}),
                json!({"a": {"bb": {}}}),
            ),
            (json!({"a": {"b": 1}}), json!({"a": 2}), json!({"a": 2})),
            (json!([1]), json!({"a": {"b": null}}), json!({"a": {}})),
        ] {
            let patched = merge_patch(object.clone(), &patch);
            assert_eq!(patched, Ok(expected), "{object} patched with {patch}");
        }
    }

    #[test]
    fn nulls_within_lists_vanish_unless_the_list_replaces_an_object() {
        let patch = json!({"a": [{"b": null, "c": [null]}]});
        let pruned = json!({"a": [{"c": [null]}]});
        assert_eq!(merge_patch(json!({}), &patch), Ok(pruned.clone()));
        assert_eq!(merge_patch(json!({"a": 1}), &patch), Ok(pruned));
        assert_eq!(merge_patch(json!({"a": {}}), &patch), Ok(patch.clone()));
    }

    /// What kube-apiserver v1.36.4 answers.
    #[test]
    fn a_patch_that_is_no_object_is_refused() {
        let message = |patch| merge_patch(json!({}), &patch).map_err(|error| error.message);
        assert_eq!(message(json!(null)), Err("Invalid JSON Patch".to_owned()));
        assert_eq!(
            message(json!([])),
            Err(
                "error decoding patch: json: cannot unmarshal array into Go value of type \
                 map[string]interface {}"
                    .to_owned()
            )
        );
    }
}
