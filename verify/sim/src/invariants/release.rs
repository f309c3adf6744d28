//! An owner that waits for its dependents goes only when they are free, or gone.
//!
//! Authority: `metav1.DeletionPropagation`: `Orphan` sets dependents free before the object goes,
//! `Foreground` waits for those with `blockOwnerDeletion`. The collector is blamed for dependents
//! that its caches show or have shown, and for any release while a kind is not listed; what came
//! later it could not know of.

use std::time::Duration;

use flyball_api::{Kind, OwnerReference};
use flyball_informer::Brief;

use super::collection::{COLLECTOR, FOREGROUND, has};
use super::{Happened, Invariant};
use crate::truth::Truth;

/// The finalizer by which an owner waits for its dependents to be set free.
const ORPHAN: &str = "orphan";

pub(super) struct Release;

impl Invariant for Release {
    fn name(&self) -> &'static str {
        "an owner waits for its dependents"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed {
            by: Some((flight, Some(COLLECTOR))),
            changed,
        } = happened
        else {
            return Ok(());
        };
        let (Some(before), Some(seen)) = (&changed.before, &flight.seen) else {
            return Ok(());
        };
        let (before, after) = (before.meta(), changed.after.as_ref().map(|it| it.meta()));
        let was_taken =
            |finalizer| has(before, finalizer) && !after.is_some_and(|after| has(after, finalizer));
        if !before.is_deleting() || !(was_taken(ORPHAN) || was_taken(FOREGROUND)) {
            return Ok(());
        }
        let binds = |owner: &OwnerReference| {
            let blocks = owner.block_owner_deletion == Some(true);
            owner.uid == before.uid && (was_taken(ORPHAN) || blocks)
        };
        // As it was seen, and as it still is.
        let is_bound = |(kind, dependent): &(Kind, Brief<'_>)| {
            let place = (dependent.namespace, dependent.name);
            let now = truth.get(&resource(*kind), place.0, place.1);
            let now = now.map(|thing| thing.meta());
            let now = now.filter(|meta| meta.uid == *dependent.uid);
            dependent.lineage.owners.iter().any(binds)
                && now.is_some_and(|meta| meta.owner_references.iter().any(binds))
        };
        if let Some(waited) = seen.incomplete().first() {
            let what = (&changed.resource, &changed.name);
            return Err(format!(
                "{} {} was let go before {waited} was listed",
                what.0, what.1
            ));
        }
        // What was shown once and not seen to go is known, whatever is shown now.
        let is_hidden = |(kind, _): &(Kind, Brief<'_>)| {
            let view = seen.cached_as(*kind);
            !view.is_some_and(|view| view.is_complete())
        };
        let hidden = flight.shown.dependents(&before.uid).filter(is_hidden);
        match seen.dependents(&before.uid).chain(hidden).find(is_bound) {
            None => Ok(()),
            Some((kind, dependent)) => Err(format!(
                "{} {} was let go while {kind} {} belonged to it",
                changed.resource, changed.name, dependent.name
            )),
        }
    }
}

fn resource(kind: Kind) -> String {
    match kind.group {
        "" => kind.plural.to_owned(),
        group => format!("{}.{group}", kind.plural),
    }
}
