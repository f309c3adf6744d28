//! Nothing with a living owner is collected.
//!
//! Authority: `metav1.ObjectMeta.ownerReferences`: if all objects in the list have been deleted, the
//! object is garbage collected. An identity never comes back, so whether one lives is a matter of
//! what is stored at that moment. An owner that waits for its dependents in the foreground wants
//! them to go.

use std::time::Duration;

use flyball_api::Meta;

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) const COLLECTOR: &str = "garbage-collector-controller";

/// The finalizer by which an owner waits for its dependents to be gone.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

pub(super) struct Collection;

impl Invariant for Collection {
    fn name(&self) -> &'static str {
        "nothing with a living owner is collected"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed {
            by: Some((_, Some(COLLECTOR))),
            changed,
        } = happened
        else {
            return Ok(());
        };
        let Some(collected) = changed.before.as_ref().filter(|_| changed.is_deletion()) else {
            return Ok(());
        };
        let mut owners = collected.meta().owner_references.iter();
        let lives = |meta: &Meta| !(meta.is_deleting() && has(meta, FOREGROUND));
        let living = owners.find(|owner| truth.find(&owner.uid).is_some_and(lives));
        match living {
            None => Ok(()),
            Some(owner) => Err(format!(
                "{} {} is collected though its owner {} lives",
                changed.resource, changed.name, owner.name
            )),
        }
    }
}

pub(super) fn has(meta: &Meta, finalizer: &str) -> bool {
    meta.finalizers.iter().any(|one| one == finalizer)
}
