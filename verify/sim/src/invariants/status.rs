//! Status never claims what is not so.
//!
//! Authority: API conventions, "Spec and Status": status is the most recently observed state, and
//! `observedGeneration` the generation that was observed.

use std::time::Duration;

use flyball_api::views::{BY_CONTROLLER, Pod, ReplicaSet, controller_value};
use flyball_plan::Subresource;
use flyball_plan::rules::pods::{is_active, is_ready};
use serde_json::Value;

use super::{Happened, Invariant};
use crate::cluster::Decided;
use crate::truth::{Changed, Thing, Truth};

pub(super) struct Status;

impl Invariant for Status {
    fn name(&self) -> &'static str {
        "status never claims what is not so"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        match happened {
            Happened::Decided(decided) if decided.controller == "replicaset-controller" => {
                counts(decided)
            }
            Happened::Committed {
                by: Some((_, Some(_))),
                changed,
            } => generations(changed),
            _ => Ok(()),
        }
    }
}

/// No more replicas are claimed than were seen.
fn counts(decided: &Decided<'_>) -> Result<(), String> {
    let (namespace, name) = decided.key.split_once('/').unwrap_or_default();
    let Some(set) = decided.seen.get::<ReplicaSet>(namespace, name) else {
        return Ok(());
    };
    for action in &decided.actions.items {
        let write = action.write();
        let Some(write) = write.filter(|write| write.subresource == Subresource::STATUS) else {
            continue;
        };
        let body: Value = serde_json::from_str(write.body.json()).unwrap_or_default();
        let claims = |field: &str| body["status"][field].as_i64().unwrap_or(0);
        let of = |owner| {
            let value = controller_value(namespace, owner);
            decided.seen.indexed::<Pod>(BY_CONTROLLER, &value)
        };
        // Its own, and the orphans that it may have adopted in this sync.
        let pods = of(Some(&set.metadata.uid)).chain(of(None));
        let active: Vec<_> = pods.filter(|pod| is_active(pod)).collect();
        let ready = active.iter().filter(|pod| is_ready(pod)).count();
        let seen = [
            ("replicas", active.len()),
            ("readyReplicas", ready),
            ("availableReplicas", ready),
        ];
        for (field, seen) in seen {
            let claimed = claims(field);
            if claimed > i64::try_from(seen).unwrap_or(i64::MAX) {
                let key = decided.key;
                return Err(format!("{key}: claims {claimed} {field}, saw {seen}"));
            }
        }
    }
    Ok(())
}

/// No generation is claimed to be observed that is yet to come.
fn generations(changed: &Changed) -> Result<(), String> {
    let (meta, observed) = match changed.after.as_deref() {
        Some(Thing::Deployment(it)) => (&it.metadata, it.status.observed_generation),
        Some(Thing::ReplicaSet(it)) => (&it.metadata, it.status.observed_generation),
        _ => return Ok(()),
    };
    if observed <= meta.generation {
        return Ok(());
    }
    Err(format!(
        "{} {}: generation {observed} is observed, and {} is the newest",
        changed.resource, changed.name, meta.generation
    ))
}
