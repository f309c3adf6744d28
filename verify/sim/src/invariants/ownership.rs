//! Nothing is touched that is not owned.
//!
//! Authority: `pkg/controller/controller_ref_manager.go`: a controller manages what its reference
//! says, adopts only what has no controller, and releases only its own.

use std::time::Duration;

use flyball_api::views::{Deployment, ReplicaSet, ReplicationController};
use flyball_api::{Kind, LeanMeta};

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Ownership;

/// Per controller, the kind that it manages others as, and the resource that it manages.
const MANAGERS: &[(&str, Kind, &str)] = &[
    ("replicaset-controller", ReplicaSet::KIND, "pods"),
    (
        "replicationcontroller-controller",
        ReplicationController::KIND,
        "pods",
    ),
    (
        "deployment-controller",
        Deployment::KIND,
        "replicasets.apps",
    ),
];

impl Invariant for Ownership {
    fn name(&self) -> &'static str {
        "nothing is touched that is not owned"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed {
            by: Some((flight, Some(controller))),
            changed,
        } = happened
        else {
            return Ok(());
        };
        let mut managers = MANAGERS.iter();
        let Some((_, manager, _)) = managers
            .find(|(name, _, resource)| name == controller && *resource == changed.resource)
        else {
            return Ok(());
        };
        // The incarnation of the owner that it had seen.
        let (namespace, name) = flight.key.split_once('/').unwrap_or_default();
        let seen = flight.seen.as_ref();
        let seen = seen.and_then(|seen| seen.meta_of(*manager, namespace, name));
        let Some(own) = seen.map(|brief| brief.uid) else {
            return Ok(());
        };
        let owner = |meta: &LeanMeta| meta.controller().map(|owner| owner.uid.clone());
        let before = changed.before.as_ref().and_then(|it| owner(it.meta()));
        let after = changed.after.as_ref().and_then(|it| owner(it.meta()));
        let is_right = match (&changed.before, &before) {
            // What it makes or adopts, it owns.
            (None, _) | (Some(_), None) => after.as_ref() == Some(own) && !changed.is_deletion(),
            (Some(_), Some(before)) => before == own,
        };
        if is_right {
            return Ok(());
        }
        Err(format!(
            "{controller} wrote to {} {} of {}",
            changed.resource,
            changed.name,
            before.map_or_else(|| "nobody".to_owned(), |uid| uid.to_string())
        ))
    }
}
