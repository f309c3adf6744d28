//! Field sets that were written under an older schema.
//!
//! If something has become atomic since, whoever owned a part of it owns all of it now. The other
//! way round nothing is done: its owners keep the whole until they apply again
//! (`reconcile_schema.go` of structured-merge-diff).

use super::items::at_step;
use super::{Atom, ListOwners, TypeRef};
use crate::fields::{FieldSet, Path, Step};

/// The set as the schema would have it written today.
pub(crate) fn reconcile(of: TypeRef<'_>, fields: &FieldSet) -> FieldSet {
    let mut whole = FieldSet::new();
    visit(of, Some(fields), false, &mut Vec::new(), &mut whole);
    if whole.is_empty() {
        return fields.clone();
    }
    fields.recursive_difference(&whole).union(&whole)
}

/// Collects what is owned in parts but is atomic.
fn visit(
    of: TypeRef<'_>,
    fields: Option<&FieldSet>,
    owned_whole: bool,
    path: &mut Path,
    whole: &mut FieldSet,
) {
    let has_parts = fields.is_some_and(|fields| !fields.is_empty());
    match of.atom(None) {
        Atom::Scalar(_) => return,
        Atom::List(list) if !owned_whole && matches!(list.kind, ListOwners::Atomic) => {
            return whole.insert(path);
        }
        Atom::Map(map) if map.is_deduced() => return,
        Atom::Map(map) if !owned_whole && map.atomic => {
            if has_parts {
                whole.insert(path);
            }
            return;
        }
        Atom::List(_) | Atom::Map(_) => {}
    }
    let Some(fields) = fields else {
        return;
    };
    let outer = fields
        .children()
        .keys()
        .filter(|step| !fields.has_step(step));
    let steps: Vec<&Step> = outer.chain(fields.members()).collect();
    for step in steps {
        let Some(of) = at_step(of, step) else {
            continue;
        };
        let within = fields.within(step);
        path.push(step.clone());
        visit(
            of,
            within,
            fields.has_step(step) && within.is_none(),
            path,
            whole,
        );
        path.pop();
    }
}
