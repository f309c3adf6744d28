//! What a change means for the other owners.

use std::collections::BTreeMap;

use flyball_api::Text;

use super::Change;
use super::conflict::Conflict;
use super::ledger::{Ledger, Owner};
use super::version::Versioned;
use crate::fields::FieldSet;
use crate::typed::{self, Comparison};

/// Whether others may be robbed of fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Yes,
    No,
}

/// Writes the ledger as the schemas of today would have it, without owners of versions that are not
/// served any more.
pub(super) fn modernize<'a>(ledger: &mut Ledger, live: &Versioned<'a>, change: &Change<'a>) {
    ledger.0.retain(|_, owned| {
        let of = live.type_at(&owned.api_version, change);
        if let Some(of) = of {
            owned.fields = typed::reconcile(of, &owned.fields);
        }
        of.is_some()
    });
}

/// Takes from all but one owner what a change takes from them, and says what it changes in the
/// version of the change.
///
/// Without force, the ledger stays as it is if the change takes a field away by changing it.
pub(super) fn settle<'a>(
    ledger: &mut Ledger,
    before: &Versioned<'a>,
    after: &Versioned<'a>,
    but: Option<&Owner>,
    force: Force,
    change: &Change<'a>,
) -> Result<Comparison, Vec<Conflict>> {
    let compare = |before: &Versioned<'a>, after: &Versioned<'a>| {
        typed::compare(before.of, &before.object, &after.object).without(change.ignored)
    };
    let mut comparisons: BTreeMap<Text, Comparison> = BTreeMap::new();
    comparisons.insert(change.api_version.into(), compare(before, after));

    let mut conflicts = Vec::new();
    let mut left: BTreeMap<Owner, FieldSet> = BTreeMap::new();
    for (owner, owned) in &ledger.0 {
        if Some(owner) == but {
            left.insert(owner.clone(), owned.fields.clone());
            continue;
        }
        let version = &owned.api_version;
        if !comparisons.contains_key(version) {
            let (Some(before), Some(after)) =
                (before.at(version, change), after.at(version, change))
            else {
                continue;
            };
            comparisons.insert(version.clone(), compare(&before, &after));
        }
        let Some(comparison) = comparisons.get(version) else {
            continue;
        };
        let taken = owned.fields.intersection(&comparison.changed());
        conflicts.extend(taken.paths().into_iter().map(|path| Conflict {
            owner: owner.clone(),
            path,
        }));
        let rest = owned
            .fields
            .difference(&taken)
            .difference(&comparison.removed);
        left.insert(owner.clone(), rest);
    }
    if force == Force::No && !conflicts.is_empty() {
        return Err(conflicts);
    }
    ledger.0.retain(|owner, owned| match left.remove(owner) {
        Some(fields) => {
            owned.fields = fields;
            true
        }
        None => false,
    });
    ledger.drop_empty();
    Ok(comparisons.remove(change.api_version).unwrap_or_default())
}
