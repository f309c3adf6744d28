//! Nothing is touched that is not owned.
//!
//! Authority: `pkg/controller/controller_ref_manager.go`: a controller manages what its reference
//! says, adopts only what has no controller, and releases only its own. The same file will say
//! "nothing with a living owner is collected" of the garbage collector.

use std::time::Duration;

use flyball_api::Meta;

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Ownership;

/// Per controller, the kind that it manages others as, and the resource that it manages.
const MANAGERS: &[(&str, &str, &str)] = &[
    ("replicaset-controller", "ReplicaSet", "pods"),
    (
        "replicationcontroller-controller",
        "ReplicationController",
        "pods",
    ),
    ("deployment-controller", "Deployment", "replicasets.apps"),
];

impl Invariant for Ownership {
    fn name(&self) -> &'static str {
        "nothing is touched that is not owned"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed {
            by: Some((_, Some(controller))),
            changed,
        } = happened
        else {
            return Ok(());
        };
        if *controller == "garbage-collector-controller" && changed.is_deletion() {
            return living_owner(changed.before.as_ref().map(|thing| thing.meta()), truth);
        }
        let mut managers = MANAGERS.iter();
        let Some((_, kind, _)) = managers
            .find(|(name, _, resource)| name == controller && *resource == changed.resource)
        else {
            return Ok(());
        };
        let owner = |meta: &Meta| meta.controller().map(|owner| owner.kind.to_string());
        let before = changed.before.as_ref().and_then(|it| owner(it.meta()));
        let after = changed.after.as_ref().and_then(|it| owner(it.meta()));
        let is_right = match (&changed.before, &before) {
            // What it makes or adopts, it owns.
            (None, _) | (Some(_), None) => after.as_deref() == Some(kind) && !changed.is_deletion(),
            (Some(_), Some(before)) => before == kind,
        };
        if is_right {
            return Ok(());
        }
        Err(format!(
            "{controller} wrote to {} {} of {}",
            changed.resource,
            changed.name,
            before.as_deref().unwrap_or("nobody")
        ))
    }
}

/// Nothing with a living owner is collected; an identity never comes back.
fn living_owner(collected: Option<&Meta>, truth: &Truth) -> Result<(), String> {
    let mut owners = collected
        .into_iter()
        .flat_map(|meta| meta.owner_references.iter());
    match owners.find(|owner| truth.has_uid(&owner.uid)) {
        None => Ok(()),
        Some(owner) => Err(format!("collected though its owner {} lives", owner.name)),
    }
}
