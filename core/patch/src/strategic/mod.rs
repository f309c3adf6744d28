//! Strategic merge patches: merge patches that know the schema.
//!
//! Where a merge patch replaces a list, this one merges its items by a key that the schema names, or
//! adds values that are not there yet. Directives in the patch say what merging cannot:
//!
//! * `$patch: replace` puts the rest of an object, or a list, in place of what is there;
//!   `$patch: delete` empties an object, or removes the item with this key;
//! * `$retainKeys` lists the members that stay;
//! * `$setElementOrder/<field>` gives the order of a list;
//! * `$deleteFromPrimitiveList/<field>` removes values.
//!
//! The rules and words are those of apimachinery `pkg/util/strategicpatch/patch.go`.

mod left;
mod list;
mod order;
#[cfg(test)]
mod tests;

pub use left::strategic_left;

use flyball_schema::{Schema, Shape, Strategic};
use serde_json::{Map, Value};

use crate::error::PatchRefused;
use crate::merge_patch::without_nulls;
use crate::wording;

const DIRECTIVE: &str = "$patch";
const REPLACE: &str = "replace";
const DELETE: &str = "delete";
const MERGE: &str = "merge";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";

type Members = Map<String, Value>;

/// Applies a strategic merge patch to an object of a type.
///
/// Kinds without such a type, which are custom resources, have no strategic merge patches: the
/// caller refuses them.
pub fn strategic_merge(
    object: Value,
    patch: Value,
    schema: Schema<'_>,
) -> Result<Value, PatchRefused> {
    let patch = match patch {
        Value::Object(patch) => patch,
        Value::Null => return Ok(object),
        other => {
            return Err(PatchRefused::bad_request(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                wording::json_name(&other)
            )));
        }
    };
    let object = match object {
        Value::Object(object) => object,
        _ => Members::new(),
    };
    let mut merged = Value::Object(merge_members(object, patch, Some(schema))?);
    drop_directives(&mut merged);
    Ok(merged)
}

/// Takes out directives that had nothing to work on, as decoding into a typed object does.
fn drop_directives(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !is_directive(name));
            members.values_mut().for_each(drop_directives);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_directives),
        _ => {}
    }
}

fn is_directive(name: &str) -> bool {
    let names_list = |directive| {
        let list = name.strip_prefix(directive);
        list.is_some_and(|list: &str| list.starts_with('/'))
    };
    name.starts_with('$')
        && (name == DIRECTIVE
            || name == RETAIN_KEYS
            || names_list(DELETE_FROM_LIST)
            || names_list(SET_ORDER))
}

/// What the schema says of a list.
struct ListRule<'a> {
    strategic: &'a Strategic,
    item: Option<Schema<'a>>,
}

impl<'a> ListRule<'a> {
    fn of(schema: Option<Schema<'a>>) -> Self {
        match schema.map(|schema| (schema, schema.shape())) {
            Some((schema, Shape::List(list))) => ListRule {
                strategic: &list.strategic,
                item: Some(schema.at(list.item)),
            },
            _ => ListRule {
                strategic: &Strategic::Replace,
                item: None,
            },
        }
    }

    fn key(&self) -> Option<&'a str> {
        match self.strategic {
            Strategic::MergeBy(key) => Some(key.as_str()),
            Strategic::Replace | Strategic::MergeValues => None,
        }
    }
}

fn merge_members(
    mut members: Members,
    mut patch: Members,
    schema: Option<Schema<'_>>,
) -> Result<Members, PatchRefused> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some(REPLACE) => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some(DELETE) => Ok(Members::new()),
            _ => Err(unknown_directive(&directive.clone(), patch)),
        };
    }
    retain_keys(&mut members, &mut patch)?;
    order::merge_ordered(&mut members, &mut patch, schema)?;
    for (name, change) in patch {
        merge_member(&mut members, &name, change, schema)?;
    }
    Ok(members)
}

fn merge_member(
    members: &mut Members,
    name: &str,
    change: Value,
    schema: Option<Schema<'_>>,
) -> Result<(), PatchRefused> {
    let deleted_from = list_named(name, DELETE_FROM_LIST)?;
    let is_deletion = deleted_from.is_some();
    let name = deleted_from.unwrap_or(name);
    if change.is_null() {
        members.remove(name);
        return Ok(());
    }
    let of = schema.and_then(|schema| schema.field(name));
    let field = schema.and_then(|schema| schema.field_named(name));
    let is_replaced = field.is_some_and(|field| field.replaced);
    let merged = match (members.remove(name), change) {
        (Some(Value::Object(_)), change @ Value::Object(_)) if is_replaced => Some(change),
        (Some(Value::Object(there)), Value::Object(change)) => {
            Some(Value::Object(merge_members(there, change, of)?))
        }
        (Some(Value::Array(there)), Value::Array(change)) => {
            let rule = ListRule::of(of);
            Some(Value::Array(match (is_deletion, rule.strategic) {
                (true, _) => list::delete_from(there, change, &rule)?,
                (false, Strategic::Replace) => change,
                (false, _) => list::merge_list(there, change, &rule)?,
            }))
        }
        (there, _) if is_deletion => there,
        (_, change) => without_directives(without_nulls(&change)),
    };
    if let Some(merged) = merged {
        members.insert(name.to_owned(), merged);
    }
    Ok(())
}

/// Drops the members that `$retainKeys` does not list. It must list all that the patch sets.
fn retain_keys(members: &mut Members, patch: &mut Members) -> Result<(), PatchRefused> {
    let Some(directive) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let malformed = || PatchRefused::bad_request("invalid patch format of retainKeys");
    let Value::Array(keys) = directive else {
        return Err(malformed());
    };
    let keys: std::collections::BTreeSet<&str> = keys.iter().filter_map(Value::as_str).collect();
    let is_listed = |name: &String| keys.contains(name.as_str());
    for (name, change) in patch.iter() {
        let is_directive = name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
        if !change.is_null() && !is_directive && !is_listed(name) {
            return Err(malformed());
        }
    }
    members.retain(|name, _| is_listed(name));
    Ok(())
}

/// The list that a directive such as `$setElementOrder/args` is about; `None` if the name is no
/// such directive.
fn list_named<'n>(name: &'n str, directive: &str) -> Result<Option<&'n str>, PatchRefused> {
    let Some(rest) = name.strip_prefix(directive) else {
        return Ok(None);
    };
    match rest.strip_prefix('/') {
        Some(list) => Ok(Some(list)),
        None => Err(PatchRefused::bad_request(match directive {
            SET_ORDER => "invalid patch format of setElementOrder list",
            _ => "invalid patch format of primitive list",
        })),
    }
}

/// A value without the objects that are directives; `None` if it is one itself.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(DIRECTIVE) => None,
        Value::Object(members) => {
            let members = members
                .into_iter()
                .filter_map(|(name, member)| Some((name, without_directives(member)?)));
            Some(Value::Object(members.collect()))
        }
        Value::Array(items) => {
            let items = items.into_iter().filter_map(without_directives);
            Some(Value::Array(items.collect()))
        }
        other => Some(other),
    }
}

fn unknown_directive(directive: &Value, patch: Members) -> PatchRefused {
    PatchRefused::unclassified(format!(
        "unknown patch type: {} in map: {}",
        wording::as_string(directive),
        wording::plain(&Value::Object(patch))
    ))
}

fn missing_key(item: &Value, key: &str) -> PatchRefused {
    let item = wording::plain(item);
    PatchRefused::unclassified(format!(
        "map: {item} does not contain declared merge key: {key}"
    ))
}

fn wrong_type(expected: &str, found: &Value) -> PatchRefused {
    let found = wording::type_name(found);
    PatchRefused::unclassified(format!("expected a {expected}, but received a {found}"))
}
