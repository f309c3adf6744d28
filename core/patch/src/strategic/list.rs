//! Merging the items of a list.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::order::{in_order, partition};
use super::{
    DELETE, DIRECTIVE, ListRule, MERGE, REPLACE, merge_members, missing_key, unknown_directive,
};
use crate::error::PatchRefused;
use crate::wording;

/// Whether the items of lists are objects. They must all be of one type, and not lists.
pub(super) fn are_objects(lists: [&[Value]; 2]) -> Result<bool, PatchRefused> {
    let mut items = lists.iter().copied().flatten();
    let Some(first) = items.next() else {
        return Err(PatchRefused::unclassified(
            "no elements in any of the given slices",
        ));
    };
    if first.is_array() {
        return Err(PatchRefused::does_not_fit(
            "lists of lists are not supported",
        ));
    }
    let of = wording::type_name(first);
    if first.is_null() || items.any(|item| wording::type_name(item) != of) {
        let lists: Vec<_> = lists
            .iter()
            .map(|list| wording::plain(&list.to_vec().into()))
            .collect();
        let lists = lists.join(" ");
        return Err(PatchRefused::unclassified(format!(
            "list element types are not identical: [{lists}]"
        )));
    }
    Ok(first.is_object())
}

/// Merges two lists: objects by their key, other values by what they are.
pub(super) fn merge_list(
    mut there: Vec<Value>,
    mut patch: Vec<Value>,
    rule: &ListRule<'_>,
) -> Result<Vec<Value>, PatchRefused> {
    if there.is_empty() && patch.is_empty() {
        return Ok(there);
    }
    let merged = if are_objects([&there, &patch])? {
        let Some(key) = rule.key() else {
            return Err(no_key(rule));
        };
        (there, patch) = carry_out_directives(there, patch, key)?;
        merge_objects(there.clone(), patch.clone(), key, rule)?
    } else {
        let mut seen = BTreeSet::new();
        let mut both = there.clone();
        both.extend(patch.iter().cloned());
        both.retain(|value| seen.insert(value.to_string()));
        both
    };
    let (named, others) = partition(merged, &patch, rule.key())?;
    in_order(named, others, &patch, &there, rule.key())
}

/// Removes values from a list.
pub(super) fn delete_from(
    mut there: Vec<Value>,
    values: Vec<Value>,
    rule: &ListRule<'_>,
) -> Result<Vec<Value>, PatchRefused> {
    if there.is_empty() && values.is_empty() {
        return Ok(there);
    }
    if are_objects([&there, &values])? {
        return match rule.key() {
            Some(_) => merge_list(there, values, rule),
            None => Err(no_key(rule)),
        };
    }
    let gone: BTreeSet<String> = values.iter().map(Value::to_string).collect();
    there.retain(|value| !gone.contains(&value.to_string()));
    Ok(there)
}

fn no_key(rule: &ListRule<'_>) -> PatchRefused {
    let name = rule.item.map_or("", |item| item.get().name.as_str());
    let name = name.rsplit('.').next().unwrap_or(name);
    PatchRefused::unclassified(format!("cannot merge lists without merge key for {name}"))
}

/// Carries out the items of a patch that are directives; the rest of it is left to merge.
fn carry_out_directives(
    mut there: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchRefused> {
    let mut left = Vec::with_capacity(patch.len());
    let mut gone = BTreeSet::new();
    let mut replace = false;
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            left.push(item);
            continue;
        };
        match directive.as_str() {
            Some(DELETE) => {
                let Some(value) = item.get(key) else {
                    return Err(missing_key(&item, key));
                };
                gone.insert(value.to_string());
            }
            Some(REPLACE) => replace = true,
            Some(MERGE) => {
                return Err(PatchRefused::unclassified(
                    "merging lists cannot yet be specified in the patch",
                ));
            }
            _ => {
                let members = item.as_object().cloned().unwrap_or_default();
                return Err(unknown_directive(directive, members));
            }
        }
    }
    if !gone.is_empty() {
        there.retain(|item| match item.get(key) {
            Some(value) => !gone.contains(&value.to_string()),
            None => true,
        });
    }
    Ok(if replace {
        (left, Vec::new())
    } else {
        (there, left)
    })
}

fn merge_objects(
    mut there: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
    rule: &ListRule<'_>,
) -> Result<Vec<Value>, PatchRefused> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for (at, item) in there.iter().enumerate() {
        if let Some(value) = item.get(key) {
            places.entry(value.to_string()).or_insert(at);
        }
    }
    for change in patch {
        let Some(value) = change.get(key) else {
            return Err(missing_key(&change, key));
        };
        let at = *places.entry(value.to_string()).or_insert(there.len());
        match (there.get_mut(at), change) {
            (Some(Value::Object(item)), Value::Object(change)) => {
                let merged = merge_members(std::mem::take(item), change, rule.item)?;
                there[at] = Value::Object(merged);
            }
            (_, change) => there.push(change),
        }
    }
    Ok(there)
}
