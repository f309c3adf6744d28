//! Applying a configuration.

use serde_json::Value;

use super::conflict::{Conflict, refusal};
use super::ledger::{self, Ledger, Owned, Owner};
use super::prune::{Pruned, prune};
use super::settle::{Force, modernize, settle};
use super::update::{never_tracked, track};
use super::version::Versioned;
use super::{Change, kind_in_messages, last_applied, object_in_messages};
use crate::error::PatchRefused;
use crate::fields::{FieldSet, same};
use crate::typed::{self, Duplicates, TypeRef, validate};
use crate::wording;

/// Who owns what was there before anybody applied.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// Why a configuration was not applied.
pub(super) enum Trouble {
    Conflicts(Vec<Conflict>),
    Refused(PatchRefused),
}

impl From<PatchRefused> for Trouble {
    fn from(refused: PatchRefused) -> Self {
        Trouble::Refused(refused)
    }
}

/// Merges a configuration into an object, and answers the object as it shall be, owners included.
///
/// `live` is the object as it is, or `None` if the configuration creates it. The configuration holds
/// all fields that this owner wants to own: it takes them over, and loses those that it owned by
/// applying before. What it loses and nobody else owns is removed.
///
/// A field that somebody else owns and that shall get another value is a conflict, unless `force`
/// takes it away. Two owners that want the same value share a field.
///
/// The answer has no defaults: the caller adds them.
pub fn apply(
    live: Option<&Value>,
    config: &Value,
    force: bool,
    change: &Change<'_>,
) -> Result<Value, PatchRefused> {
    let live = live.unwrap_or(change.blank);
    let ledger = Ledger::read(live).map_err(|why| {
        PatchRefused::unclassified(format!("failed to decode managed fields: {why}"))
    })?;
    check_kind(config, change)?;
    let force = if force { Force::Yes } else { Force::No };
    let outcome = match attempt(live, config, ledger.clone(), force, change) {
        Err(Trouble::Conflicts(conflicts)) => {
            match last_applied::unresolved(&conflicts, live, change) {
                left if left.is_empty() => attempt(live, config, ledger, Force::Yes, change),
                left => Err(Trouble::Conflicts(left)),
            }
        }
        outcome => outcome,
    };
    let (mut object, ledger) = outcome.map_err(|trouble| match trouble {
        Trouble::Conflicts(conflicts) => refusal(&conflicts),
        Trouble::Refused(refused) => refused,
    })?;
    last_applied::follow(&mut object, config, change);
    ledger.write(&mut object);
    Ok(object)
}

fn check_kind(config: &Value, change: &Change<'_>) -> Result<(), PatchRefused> {
    if !config.is_object() {
        return Err(PatchRefused::bad_request(format!(
            "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot \
             unmarshal {} into Go value of type map[string]interface {{}}",
            wording::json_name(config)
        )));
    }
    let text = |name: &str| config[name].as_str().unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if api_version != change.api_version || kind != change.kind {
        // Go reads nothing at all from a version that it cannot read.
        let found = match api_version.matches('/').count() {
            0 | 1 => kind_in_messages(api_version, kind),
            _ => kind_in_messages("", ""),
        };
        return Err(PatchRefused::bad_request(format!(
            "invalid object type: {found}"
        )));
    }
    Ok(())
}

/// Applies without regard to how the object came to its owners.
fn attempt(
    live: &Value,
    config: &Value,
    mut ledger: Ledger,
    force: Force,
    change: &Change<'_>,
) -> Result<(Value, Ledger), Trouble> {
    if ledger.0.is_empty() {
        track(&mut ledger, change.blank, live, BEFORE_FIRST_APPLY, change).map_err(|refused| {
            let why = refused.message;
            PatchRefused::unclassified(format!(
                "failed to create manager for existing fields: {why}"
            ))
        })?;
    }
    if !config["metadata"]["managedFields"].is_null() {
        return Err(PatchRefused::bad_request("metadata.managedFields must be nil").into());
    }
    let config = valid(config, "patch", Duplicates::Refused, change)?;
    let live = valid(live, "live", Duplicates::Allowed, change)?;
    modernize(&mut ledger, &live, change);

    let merged = typed::merge(live.of, &live.object, &config.object);
    let merged = Versioned::in_change(merged, change);
    let wanted = typed::leaves(config.of, &config.object).recursive_difference(change.ignored);
    let owner = Owner::applier(change.owner, change.subresource);
    let last = ledger.0.insert(
        owner.clone(),
        Owned {
            fields: wanted,
            api_version: change.api_version.into(),
            time: None,
        },
    );
    let pruned = match &last {
        Some(last) => prune(merged, &ledger, last, change),
        None => Pruned::whole(merged),
    };
    let after = &pruned.with_nulls;
    settle(&mut ledger, &live, after, Some(&owner), force, change).map_err(Trouble::Conflicts)?;

    // Upstream does not tell when fields got an owner if that changed nothing in the object.
    let time = if same(&live.object, &after.object) {
        last.and_then(|last| last.time)
    } else {
        Some(change.now)
    };
    if let Some(owned) = ledger.0.get_mut(&owner) {
        owned.fields = owned.fields.difference(&never_tracked());
        owned.time = time;
    }
    ledger.drop_empty();
    Ok((pruned.object, ledger))
}

fn valid<'a>(
    object: &Value,
    which: &str,
    duplicates: Duplicates,
    change: &Change<'a>,
) -> Result<Versioned<'a>, PatchRefused> {
    let mut object = ledger::copy_without(object);
    if duplicates == Duplicates::Allowed {
        ledger::drop_empty_metadata(&mut object);
    }
    validate(TypeRef::Of(change.schema), &object, duplicates).map_err(|why| {
        let object = object_in_messages(&object, change);
        PatchRefused::unclassified(format!(
            "failed to create typed {which} object ({object}): {why}"
        ))
    })?;
    Ok(Versioned::in_change(object, change))
}

/// The fields that an object sets, or `None` if it is not of its type.
pub(super) fn fields_of<'a>(
    object: &Value,
    change: &Change<'a>,
) -> Option<(Versioned<'a>, FieldSet)> {
    let object = valid(object, "", Duplicates::Refused, change).ok()?;
    let fields = typed::leaves(object.of, &object.object);
    Some((object, fields))
}
