//! Nothing with a living owner is collected.
//!
//! Authority: `metav1.ObjectMeta.ownerReferences`: if all objects in the list have been deleted, the
//! object is garbage collected. An identity never comes back, so whether one lives is a matter of
//! what is stored at that moment. An owner that was asked to go in the foreground wants its
//! dependents to go, also when it waits for nobody any more and something else holds it: upstream
//! too deletes by what it read of the owner a moment before (`attemptToDeleteItem`).

use std::collections::BTreeSet;
use std::time::Duration;

use flyball_api::{LeanMeta, Uid};

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) const COLLECTOR: &str = "garbage-collector-controller";

/// The finalizer by which an owner waits for its dependents to be gone.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// The owners that were seen to wait for their dependents.
#[derive(Default)]
pub(super) struct Collection {
    waited: BTreeSet<Uid>,
}

impl Invariant for Collection {
    fn name(&self) -> &'static str {
        "nothing with a living owner is collected"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed { by, changed } = happened else {
            return Ok(());
        };
        if let Some(after) = changed.after.as_ref().map(|it| it.meta())
            && after.is_deleting()
            && has(after, FOREGROUND)
        {
            self.waited.insert(after.uid.clone());
        }
        if !matches!(by, Some((_, Some(COLLECTOR)))) {
            return Ok(());
        }
        let Some(collected) = changed.before.as_ref().filter(|_| changed.is_deletion()) else {
            return Ok(());
        };
        let mut owners = collected.meta().owner_references.iter();
        let lives = |uid: &Uid| !self.waited.contains(uid) && truth.find(uid).is_some();
        let living = owners.find(|owner| lives(&owner.uid));
        match living {
            None => Ok(()),
            Some(owner) => Err(format!(
                "{} {} is collected though its owner {} lives",
                changed.resource, changed.name, owner.name
            )),
        }
    }
}

pub(super) fn has(meta: &LeanMeta, finalizer: &str) -> bool {
    meta.finalizers.iter().any(|one| one == finalizer)
}
