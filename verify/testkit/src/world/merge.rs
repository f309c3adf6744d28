//! Strategic merge patches, as far as controllers send them.
//!
//! Maps are merged, null deletes, `$patch: replace` and `$patch: delete` do what they say. Lists
//! whose items have a key are merged item by item, sets of words are united, all other lists are
//! replaced whole.

use serde_json::{Map, Value};

/// Lists that are merged, and the field that tells their items apart.
const KEYED: &[(&str, &str)] = &[
    ("ownerReferences", "uid"),
    ("conditions", "type"),
    ("containers", "name"),
    ("initContainers", "name"),
    ("volumes", "name"),
    ("env", "name"),
];

/// Lists of words that are united.
const SETS: &[&str] = &["finalizers"];

/// Applies a JSON merge patch (RFC 7386).
pub(crate) fn json_merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    let Value::Object(fields) = into else { return };
    for (field, value) in patch {
        match value {
            Value::Null => {
                fields.remove(field);
            }
            value => json_merge(fields.entry(field).or_insert(Value::Null), value),
        }
    }
}

/// Applies a patch to an object.
pub(crate) fn merge(into: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *into = patch.clone();
        return;
    };
    if patch
        .get("$patch")
        .is_some_and(|directive| directive == "replace")
    {
        let plain = patch.iter().filter(|(field, _)| *field != "$patch");
        *into = plain
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect();
        return;
    }
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    let Value::Object(fields) = into else { return };
    for (field, value) in patch {
        merge_field(fields, field, value);
    }
}

fn merge_field(fields: &mut Map<String, Value>, field: &str, value: &Value) {
    if let Some(set) = field.strip_prefix("$deleteFromPrimitiveList/") {
        if let (Some(Value::Array(have)), Value::Array(gone)) = (fields.get_mut(set), value) {
            have.retain(|word| !gone.contains(word));
        }
        return;
    }
    if field.starts_with('$') {
        return;
    }
    let key = KEYED
        .iter()
        .find(|(list, _)| *list == field)
        .map(|(_, key)| *key);
    match (value, key) {
        (Value::Null, _) => {
            fields.remove(field);
        }
        (Value::Array(items), Some(key)) => {
            let have = fields
                .entry(field)
                .or_insert_with(|| Value::Array(Vec::new()));
            merge_items(have, items, key);
            if have.as_array().is_some_and(Vec::is_empty) {
                fields.remove(field);
            }
        }
        (Value::Array(words), None) if SETS.contains(&field) => {
            let have = fields
                .entry(field)
                .or_insert_with(|| Value::Array(Vec::new()));
            let Value::Array(have) = have else { return };
            have.extend(
                words
                    .iter()
                    .filter(|word| !have.contains(word))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        (Value::Object(_), _) => merge(fields.entry(field).or_insert(Value::Null), value),
        (value, _) => {
            fields.insert(field.to_owned(), value.clone());
        }
    }
}

fn merge_items(have: &mut Value, items: &[Value], key: &str) {
    if items.iter().any(|item| item["$patch"] == "replace") {
        let plain = items.iter().filter(|item| item.get("$patch").is_none());
        *have = plain.cloned().collect();
        return;
    }
    if !have.is_array() {
        *have = Value::Array(Vec::new());
    }
    let Value::Array(have) = have else { return };
    for item in items {
        let at = have.iter().position(|known| known[key] == item[key]);
        match (at, item["$patch"] == "delete") {
            (Some(at), true) => {
                have.remove(at);
            }
            (None, true) => {}
            (Some(at), false) => merge(&mut have[at], item),
            (None, false) => have.push(item.clone()),
        }
    }
}
