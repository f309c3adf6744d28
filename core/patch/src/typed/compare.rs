//! What differs between two values.
//!
//! A field is in at most one of the three sets of a [`Comparison`]; if all are empty, the values are
//! the same to server-side apply.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Atom, ListAtom, ListOwners, MapAtom, TypeRef, items, members};
use crate::fields::{FieldSet, Path, Step, same};

/// The fields in which two values differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Only the first has them.
    pub(crate) removed: FieldSet,
    /// Both have them, and they differ.
    pub(crate) modified: FieldSet,
    /// Only the second has them.
    pub(crate) added: FieldSet,
}

impl Comparison {
    /// The comparison without these fields and what is within them.
    pub(crate) fn without(&self, fields: &FieldSet) -> Self {
        Self {
            removed: self.removed.recursive_difference(fields),
            modified: self.modified.recursive_difference(fields),
            added: self.added.recursive_difference(fields),
        }
    }

    /// The fields whose value is another one than before.
    pub(crate) fn changed(&self) -> FieldSet {
        self.modified.union(&self.added)
    }
}

/// Compares two values of a type.
pub(crate) fn compare(of: TypeRef<'_>, before: &Value, after: &Value) -> Comparison {
    let mut walk = Walk::default();
    walk.visit(of, Some(before), Some(after));
    walk.found
}

#[derive(Default)]
struct Walk {
    path: Path,
    found: Comparison,
}

impl Walk {
    fn visit(&mut self, of: TypeRef<'_>, before: Option<&Value>, after: Option<&Value>) {
        // Most of an object stays as it is, and comparing text costs less than naming fields.
        if before.is_some() && before == after {
            return;
        }
        let (atom_before, atom_after) = (of.atom(before), of.atom(after));
        let was_leaf = if after.is_none() {
            self.visit_atom(atom_before, before, after)
        } else {
            // If an untyped value has become one of another kind, both its kinds have something to say.
            if before.is_some() && !atom_before.is_like(&atom_after) {
                self.visit_atom(atom_before, before, after);
            }
            self.visit_atom(atom_after, before, after)
        };
        if !was_leaf {
            match (before, after) {
                (None, Some(_)) => self.found.added.insert(&self.path),
                (Some(_), None) => self.found.removed.insert(&self.path),
                _ => {}
            }
        }
    }

    /// Whether the value is a leaf, and therefore compared as a whole.
    fn visit_atom(&mut self, of: Atom<'_>, before: Option<&Value>, after: Option<&Value>) -> bool {
        match of {
            Atom::Scalar(_) => self.leaf(before, after),
            Atom::List(list) => {
                let (items_before, items_after) = (items(before), items(after));
                // Two empty lists are compared as a whole, because null and empty differ.
                let empty = items_before.is_empty() && items_after.is_empty();
                if empty || matches!(list.kind, ListOwners::Atomic) {
                    return self.leaf(before, after);
                }
                self.visit_items(list, items_before, items_after);
                false
            }
            Atom::Map(map) => {
                let empty = members(before).is_none() && members(after).is_none();
                if empty || map.atomic {
                    return self.leaf(before, after);
                }
                self.visit_members(map, before, after);
                false
            }
        }
    }

    fn leaf(&mut self, before: Option<&Value>, after: Option<&Value>) -> bool {
        match (before, after) {
            (None, _) => self.found.added.insert(&self.path),
            (_, None) => self.found.removed.insert(&self.path),
            (Some(before), Some(after)) if !same(before, after) => {
                self.found.modified.insert(&self.path);
            }
            _ => {}
        }
        true
    }

    fn visit_members(&mut self, of: MapAtom<'_>, before: Option<&Value>, after: Option<&Value>) {
        let (before, after) = (members(before), members(after));
        let names: BTreeSet<&String> = [before, after]
            .into_iter()
            .flatten()
            .flat_map(|members| members.keys())
            .collect();
        for name in names {
            let Some(of_member) = of.member(name) else {
                continue;
            };
            let before = before.and_then(|members| members.get(name));
            let after = after.and_then(|members| members.get(name));
            self.within(Step::field(name), |walk| {
                walk.visit(of_member, before, after)
            });
        }
    }

    fn visit_items(&mut self, of: ListAtom<'_>, before: &[Value], after: &[Value]) {
        let mut pairs: BTreeMap<Step, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in before {
            if let Ok(step) = of.step(item) {
                pairs.entry(step).or_default().0.push(item);
            }
        }
        for item in after {
            if let Ok(step) = of.step(item) {
                pairs.entry(step).or_default().1.push(item);
            }
        }
        for (step, (before, after)) in pairs {
            self.within(step, |walk| match (before.as_slice(), after.as_slice()) {
                ([] | [_], [] | [_]) => {
                    walk.visit(of.item, before.first().copied(), after.first().copied());
                }
                ([_, _, ..], [_, _, ..]) => {
                    let equal = before.len() == after.len()
                        && before.iter().zip(&after).all(|(a, b)| same(a, b));
                    if !equal {
                        walk.found.modified.insert(&walk.path);
                    }
                }
                // Items that could not be told apart had no parts with owners; now one has.
                ([_, _, ..], _) => {
                    if let Some(first) = after.first() {
                        walk.visit(of.item, None, Some(first));
                    }
                    walk.found.removed.insert(&walk.path);
                }
                (_, _) => {
                    if let Some(first) = before.first() {
                        walk.visit(of.item, Some(first), None);
                    }
                    walk.found.added.insert(&walk.path);
                }
            });
        }
    }

    fn within(&mut self, step: Step, visit: impl FnOnce(&mut Self)) {
        self.path.push(step);
        visit(self);
        self.path.pop();
    }
}
