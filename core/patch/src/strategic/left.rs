//! What is left of a patch when it has been merged.
//!
//! Upstream merges in place, so that a patch loses directives, ordered lists and nulls on the way. If the outcome is
//! no object of its type, the message shows the patch as it is by then.

use flyball_schema::{Schema, Strategic};
use serde_json::Value;

use super::{
    DELETE_FROM_LIST, DIRECTIVE, ListRule, Members, REPLACE, RETAIN_KEYS, SET_ORDER,
    without_directives,
};
use crate::merge_patch::without_nulls;

/// What is left of a patch that was merged into an object.
pub fn strategic_left(object: &Value, patch: Value, schema: Schema<'_>) -> Value {
    match (object, patch) {
        (Value::Object(there), Value::Object(mut patch)) => {
            members(Some(there), &mut patch, Some(schema));
            Value::Object(patch)
        }
        (_, patch) => patch,
    }
}

fn members(there: Option<&Members>, patch: &mut Members, schema: Option<Schema<'_>>) {
    match patch.get(DIRECTIVE).map(|directive| directive == REPLACE) {
        Some(true) => {
            patch.remove(DIRECTIVE);
            return;
        }
        Some(false) => return,
        None => {}
    }
    let retained = patch.remove(RETAIN_KEYS);
    let there = |name: &str| {
        let keys = retained.as_ref().and_then(Value::as_array);
        let stays = keys.is_none_or(|keys| keys.iter().any(|key| key == name));
        there.filter(|_| stays).and_then(|there| there.get(name))
    };
    let ordered: Vec<String> = patch
        .keys()
        .filter(|name| name.starts_with(SET_ORDER))
        .cloned()
        .collect();
    for directive in ordered {
        patch.remove(&directive);
        let list = directive.split_once('/').map_or("", |(_, list)| list);
        patch.remove(list);
    }
    for (name, change) in patch.iter_mut() {
        if change.is_null() || name.starts_with(DELETE_FROM_LIST) {
            continue;
        }
        let of = schema.and_then(|schema| schema.field(name));
        let field = schema.and_then(|schema| schema.field_named(name));
        match (there(name), &mut *change) {
            (Some(Value::Object(there)), Value::Object(change)) => {
                if !field.is_some_and(|field| field.replaced) {
                    members(Some(there), change, of);
                }
            }
            (Some(Value::Array(there)), Value::Array(change)) => {
                items(there, change, &ListRule::of(of));
            }
            (_, change) => added(change),
        }
    }
}

/// The items of a list, of which those that are there already were merged.
fn items(there: &[Value], patch: &mut [Value], rule: &ListRule<'_>) {
    let Some(key) = rule.key() else { return };
    let is_replace = |item: &Value| item.get(DIRECTIVE).is_some_and(|of| of == REPLACE);
    if matches!(rule.strategic, Strategic::Replace) || patch.iter().any(is_replace) {
        return;
    }
    for item in patch {
        let Value::Object(item) = item else { continue };
        if item.contains_key(DIRECTIVE) {
            continue;
        }
        let same = there.iter().find(|there| there.get(key) == item.get(key));
        if let Some(Value::Object(there)) = same {
            members(Some(there), item, rule.item);
        }
    }
}

/// What was put where nothing was: without nulls, and without objects that are directives unless they stand in the
/// patch itself or in a list of it.
fn added(change: &mut Value) {
    let bare = without_nulls(change);
    *change = match bare {
        Value::Object(members) if members.contains_key(DIRECTIVE) => Value::Object(members),
        Value::Array(items) => {
            let kept = |item: Value| without_directives(item.clone()).unwrap_or(item);
            Value::Array(items.into_iter().map(kept).collect())
        }
        bare => without_directives(bare).unwrap_or_default(),
    };
}

#[cfg(test)]
mod tests {
    use flyball_schema::builtin;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_merging_used_up_is_gone() {
        let deployment = json!({
            "metadata": {"labels": {"a": "b"}},
            "spec": {"strategy": {"type": "RollingUpdate"}, "template": {"spec": {
                "containers": [{"name": "c", "image": "i"}],
            }}},
        });
        for (patch, left) in [
            (
                json!({"metadata": {"labels": {"$patch": "replace", "a": 7}}}),
                json!({"metadata": {"labels": {"a": 7}}}),
            ),
            (
                json!({"metadata": {"labels": {"$patch": "delete", "a": 7}}}),
                json!({"metadata": {"labels": {"$patch": "delete", "a": 7}}}),
            ),
            (
                json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": 7}}}),
                json!({"spec": {"strategy": {"type": 7}}}),
            ),
            (
                json!({"metadata": {"annotations": {"a": null, "b": 1}, "labels": {"c": null}}}),
                json!({"metadata": {"annotations": {"b": 1}, "labels": {"c": null}}}),
            ),
            (
                json!({"spec": {"template": {"spec": {
                    "$setElementOrder/containers": [{"name": "c"}],
                    "containers": [{"name": "c", "image": 7}],
                }}}}),
                json!({"spec": {"template": {"spec": {}}}}),
            ),
            (
                json!({"spec": {"template": {"spec": {"containers": [
                    {"name": "c", "$retainKeys": ["name", "image"], "image": 7},
                    {"name": "d", "$patch": "delete"},
                ]}}}}),
                json!({"spec": {"template": {"spec": {"containers": [
                    {"name": "c", "image": 7},
                    {"name": "d", "$patch": "delete"},
                ]}}}}),
            ),
        ] {
            let schema = builtin().kind("apps", "v1", "Deployment").unwrap();
            assert_eq!(strategic_left(&deployment, patch, schema), left);
        }
    }
}
