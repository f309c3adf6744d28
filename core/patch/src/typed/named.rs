//! Field sets that hold declared fields together with what is within them.

use super::items::at_step;
use super::{Atom, TypeRef};
use crate::fields::{FieldSet, Step};

/// A set with all declared fields that lead to its fields.
///
/// Sets do not hold a declared field whose parts they hold, yet when all its parts go, it shall go
/// with them.
pub(crate) fn with_named_fields(of: Option<TypeRef<'_>>, fields: &FieldSet) -> FieldSet {
    let mut named = FieldSet::new();
    for step in fields.members() {
        named.insert_step(step.clone());
    }
    for (step, within) in fields.children() {
        if is_declared(of, step) {
            named.insert_step(step.clone());
        }
        let of = of.and_then(|of| at_step(of, step));
        named.insert_within(step.clone(), with_named_fields(of, within));
    }
    named
}

fn is_declared(of: Option<TypeRef<'_>>, step: &Step) -> bool {
    match (of.map(|of| of.atom(None)), step) {
        (Some(Atom::Map(map)), Step::Field(name)) => map.field(name).is_some(),
        _ => false,
    }
}
