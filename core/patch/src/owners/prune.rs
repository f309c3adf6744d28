//! What an applier no longer mentions.
//!
//! A field, item or member goes if the applier owned it, does not apply it now, and nobody else owns
//! it. What nobody owns stays.

use std::collections::BTreeMap;

use flyball_api::Text;
use serde_json::Value;

use super::Change;
use super::ledger::{Ledger, Owned};
use super::version::Versioned;
use crate::fields::FieldSet;
use crate::typed::Emptied;

/// The merged object without what the applier has given up.
#[derive(Debug)]
pub(super) struct Pruned<'a> {
    /// With nulls where nothing is left, for those who own that.
    pub(super) with_nulls: Versioned<'a>,
    /// As it shall be stored.
    pub(super) object: Value,
}

impl<'a> Pruned<'a> {
    /// An object from which nothing was taken.
    pub(super) fn whole(merged: Versioned<'a>) -> Self {
        Self {
            object: merged.object.clone(),
            with_nulls: merged,
        }
    }
}

/// Prunes a merged object.
///
/// `ledger` has the new fields of the applier, `last` is what it owned before.
pub(super) fn prune<'a>(
    merged: Versioned<'a>,
    ledger: &Ledger,
    last: &Owned,
    change: &Change<'a>,
) -> Pruned<'a> {
    if last.fields.is_empty() {
        return Pruned::whole(merged);
    }
    let Some(then) = merged.at(&last.api_version, change) else {
        return Pruned::whole(merged);
    };
    let owned = then.named(&last.fields);
    let pruned = then.without(&owned, Emptied::Null);
    let pruned = add_back_owned(&then, pruned, ledger, last, change);
    let Some(pruned) = pruned.at(&last.api_version, change) else {
        return Pruned::whole(merged);
    };
    let gone = then
        .fields()
        .difference(&pruned.fields())
        .intersection(&owned);
    let today = |emptied| then.without(&gone, emptied).at(change.api_version, change);
    let stored = match change.keeps_nulls {
        true => Emptied::Null,
        false => Emptied::Absent,
    };
    match (today(Emptied::Null), today(stored)) {
        (Some(with_nulls), Some(stored)) => Pruned {
            with_nulls,
            object: stored.object,
        },
        _ => Pruned::whole(merged),
    }
}

/// The pruned object with all that somebody owns, the applier's new fields included.
fn add_back_owned<'a>(
    merged: &Versioned<'a>,
    pruned: Versioned<'a>,
    ledger: &Ledger,
    last: &Owned,
    change: &Change<'a>,
) -> Versioned<'a> {
    let mut owned: BTreeMap<&Text, FieldSet> = BTreeMap::new();
    for entry in ledger.0.values() {
        let fields = owned.entry(&entry.api_version).or_default();
        *fields = fields.union(&entry.fields);
    }
    // The version at hand comes first: what is needed to convert at all may be among its fields.
    let at_hand = owned.remove_entry(&last.api_version);
    let (mut merged, mut pruned) = (merged.clone(), pruned);
    for (version, owned) in at_hand.into_iter().chain(owned) {
        let (Some(all), Some(some)) = (merged.at(version, change), pruned.at(version, change))
        else {
            continue;
        };
        let kept = some.fields().union(&all.named(&owned));
        pruned = all.without(&all.fields().difference(&kept), Emptied::Null);
        merged = all;
    }
    pruned
}
