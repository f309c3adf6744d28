//! What a plain create, update or patch means for the owners.

use serde_json::Value;

use super::cap::cap;
use super::ledger::{self, Ledger, Owned, Owner};
use super::settle::{Force, modernize, settle};
use super::version::Versioned;
use super::{Change, object_in_messages};
use crate::error::PatchRefused;
use crate::fields::FieldSet;
use crate::typed::{Duplicates, TypeRef, validate};

/// Writes into an object who owns its fields after a plain create, update or patch.
///
/// `live` is the object as it was, or `None` if it is created; `object` is as it shall be stored,
/// after defaults and all else. Its own `managedFields` count if they can be read and are not empty,
/// so that a client can edit them; an empty list makes the server forget all owners.
///
/// An error means that an object is not of its type. It is no reason to refuse the change, and
/// upstream does not: the object then is left without `managedFields`, and the error is for the log.
pub fn update(
    live: Option<&Value>,
    object: &mut Value,
    change: &Change<'_>,
) -> Result<(), PatchRefused> {
    let mut ledger = known_owners(live, object, change);
    ledger::clear(object);
    // An object whose owners were forgotten stays without until somebody applies to it.
    let is_created =
        live.is_none_or(|live| live["metadata"]["uid"].as_str().is_none_or(str::is_empty));
    if ledger.0.is_empty() && !is_created {
        return Ok(());
    }
    let before = live.unwrap_or(change.blank);
    track(&mut ledger, before, object, change.owner, change)?;
    ledger.write(object);
    Ok(())
}

/// The owners before the change.
fn known_owners(live: Option<&Value>, object: &Value, change: &Change<'_>) -> Ledger {
    // Owners that cannot be read are none, so that nobody is locked out by them.
    let of_live = || {
        let ledger = live.map(|live| Ledger::read(live).unwrap_or_default());
        ledger.unwrap_or_default()
    };
    if !change.subresource.is_empty() {
        return of_live();
    }
    if ledger::is_reset(object) {
        return Ledger::default();
    }
    match Ledger::read(object) {
        Ok(ledger) if !ledger.0.is_empty() => ledger,
        _ => of_live(),
    }
}

/// Gives a name the fields in which two objects differ, and bounds the ledger.
pub(super) fn track<'a>(
    ledger: &mut Ledger,
    before: &Value,
    after: &Value,
    name: &str,
    change: &Change<'a>,
) -> Result<(), PatchRefused> {
    let before = valid(before, "live", change)?;
    let after = valid(after, "new", change)?;
    modernize(ledger, &before, change);
    let comparison = match settle(ledger, &before, &after, None, Force::Yes, change) {
        Ok(comparison) => comparison,
        Err(conflicts) => return Err(super::conflict::refusal(&conflicts)),
    };
    let gained = comparison.changed().difference(&never_tracked());
    if !gained.is_empty() {
        let owner = Owner::updater(name, change.api_version, change.subresource);
        let owned = ledger.0.entry(owner).or_insert_with(|| Owned {
            fields: FieldSet::new(),
            api_version: change.api_version.into(),
            time: None,
        });
        owned.fields = owned.fields.union(&gained);
        owned.time = Some(change.now);
    }
    cap(ledger);
    Ok(())
}

fn valid<'a>(
    object: &Value,
    which: &str,
    change: &Change<'a>,
) -> Result<Versioned<'a>, PatchRefused> {
    let mut object = ledger::copy_without(object);
    ledger::drop_empty_metadata(&mut object);
    validate(TypeRef::Of(change.schema), &object, Duplicates::Allowed).map_err(|why| {
        let object = object_in_messages(&object, change);
        PatchRefused::unclassified(format!(
            "failed to convert {which} object ({object}) to smd typed: {why}"
        ))
    })?;
    Ok(Versioned::in_change(object, change))
}

/// What identifies an object or belongs to the server: it has no owners.
pub(super) fn never_tracked() -> FieldSet {
    FieldSet::of_names(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
}
