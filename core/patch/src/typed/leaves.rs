//! Which fields a value sets.
//!
//! These are the scalars, everything that is atomic, the items of lists, the members of maps, and
//! what is null or an empty map. A declared field that holds more is not among them: its parts are.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Atom, ListAtom, ListOwners, MapAtom, TypeRef, items, members};
use crate::fields::{FieldSet, Step};

/// The fields within a value.
pub(crate) fn leaves(of: TypeRef<'_>, value: &Value) -> FieldSet {
    visit(of, value).within
}

/// What a part contributes: itself, and fields within it.
#[derive(Default)]
struct Part {
    is_leaf: bool,
    within: FieldSet,
}

fn visit(of: TypeRef<'_>, value: &Value) -> Part {
    match of.atom(Some(value)) {
        Atom::Scalar(_) => Part {
            is_leaf: true,
            within: FieldSet::new(),
        },
        Atom::List(list) => match list.kind {
            ListOwners::Atomic => Part {
                is_leaf: true,
                within: FieldSet::new(),
            },
            _ => Part {
                is_leaf: false,
                within: of_items(list, value),
            },
        },
        Atom::Map(map) if map.atomic => Part {
            is_leaf: true,
            within: FieldSet::new(),
        },
        Atom::Map(map) => Part {
            is_leaf: false,
            within: of_members(map, value),
        },
    }
}

fn of_items(of: ListAtom<'_>, value: &Value) -> FieldSet {
    let steps = items(Some(value))
        .iter()
        .filter_map(|item| Some((of.step(item).ok()?, item)));
    let steps: Vec<(Step, &Value)> = steps.collect();
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&Step> = steps
        .iter()
        .map(|(step, _)| step)
        .filter(|step| !seen.insert(*step))
        .collect();
    let mut set = FieldSet::new();
    for (step, item) in &steps {
        set.insert_step(step.clone());
        // Of items that cannot be told apart, nothing within has an owner.
        if !repeated.contains(step) {
            set.insert_within(step.clone(), visit(of.item, item).within);
        }
    }
    set
}

fn of_members(of: MapAtom<'_>, value: &Value) -> FieldSet {
    let mut set = FieldSet::new();
    for (name, member) in members(Some(value)).into_iter().flatten() {
        let Some(of_member) = of.member(name) else {
            continue;
        };
        let part = visit(of_member, member);
        let is_empty = member.is_null() || member.as_object().is_some_and(|map| map.is_empty());
        if part.is_leaf || is_empty || of.field(name).is_none() {
            set.insert_step(Step::field(name));
        }
        set.insert_within(Step::field(name), part.within);
    }
    set
}
