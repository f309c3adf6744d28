//! What is left of a value without some fields.
//!
//! A field takes along what is within it. A map or list of which nothing is left becomes null, as
//! upstream has it (`remove.go` of structured-merge-diff): it may still have owners. To a client that
//! is the same as a field that is not there, so in the end it is not ([`Emptied::Absent`]).

use serde_json::{Map, Value};

use super::{Atom, ListAtom, ListOwners, MapAtom, TypeRef, items, members};
use crate::fields::{FieldSet, Step};

/// What becomes of a member of which nothing is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Emptied {
    Null,
    Absent,
}

/// A value without some of the fields within it; `None` if nothing is left.
pub(crate) fn remove(
    of: TypeRef<'_>,
    value: &Value,
    fields: &FieldSet,
    emptied: Emptied,
) -> Option<Value> {
    match of.atom(Some(value)) {
        Atom::Scalar(_) => Some(value.clone()),
        Atom::List(list) if !matches!(list.kind, ListOwners::Atomic) => {
            remove_items(list, value, fields, emptied)
        }
        Atom::Map(map) if !map.atomic => remove_members(map, value, fields, emptied),
        // Whoever owns a part of something atomic owns all of it.
        Atom::List(_) | Atom::Map(_) => None,
    }
}

fn remove_items(
    of: ListAtom<'_>,
    value: &Value,
    fields: &FieldSet,
    emptied: Emptied,
) -> Option<Value> {
    let left = items(Some(value)).iter().filter_map(|item| {
        let Ok(step) = of.step(item) else {
            return Some(item.clone());
        };
        if fields.has_step(&step) {
            return None;
        }
        match fields.within(&step) {
            Some(within) => remove(of.item, item, within, emptied),
            None => Some(item.clone()),
        }
    });
    let left: Vec<Value> = left.collect();
    (!left.is_empty()).then_some(Value::Array(left))
}

fn remove_members(
    of: MapAtom<'_>,
    value: &Value,
    fields: &FieldSet,
    emptied: Emptied,
) -> Option<Value> {
    let mut left = Map::new();
    let mut is_empty = true;
    for (name, member) in members(Some(value)).into_iter().flatten() {
        let step = Step::field(name);
        if fields.has_step(&step) {
            continue;
        }
        is_empty = false;
        let rest = match (fields.within(&step), of.member(name)) {
            (Some(within), Some(of)) => remove(of, member, within, emptied),
            _ => Some(member.clone()),
        };
        match (rest, emptied) {
            (None, Emptied::Absent) => {}
            (rest, _) => {
                left.insert(name.clone(), rest.unwrap_or_default());
            }
        }
    }
    (!is_empty).then_some(Value::Object(left))
}
