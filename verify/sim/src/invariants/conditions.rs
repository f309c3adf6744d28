//! The conditions of other parties stay.
//!
//! Authority: API conventions, "Typical status properties": conditions are a map by their type, and
//! several parties may each write their own.

use std::time::Duration;

use flyball_api::{Condition, Lossless};

use super::{Happened, Invariant};
use crate::truth::{Thing, Truth};

pub(super) struct Conditions;

impl Invariant for Conditions {
    fn name(&self) -> &'static str {
        "the conditions of other parties stay"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed {
            by: Some((_, Some(controller))),
            changed,
            ..
        } = happened
        else {
            return Ok(());
        };
        let (Some(before), Some(after)) = (&changed.before, &changed.after) else {
            return Ok(());
        };
        if before.meta().uid != after.meta().uid {
            return Ok(());
        }
        let stays = |one: &Lossless<Condition>| foreign(after).any(|other| other.kind == one.kind);
        match foreign(before).find(|one| !stays(one)) {
            Some(lost) => Err(format!(
                "{controller} erased the condition {} of {}",
                lost.kind,
                after.meta().object_name()
            )),
            None => Ok(()),
        }
    }
}

/// The conditions that no controller of the manager writes: theirs have no domain.
fn foreign(thing: &Thing) -> impl Iterator<Item = &Lossless<Condition>> {
    let all = match thing {
        Thing::Deployment(it) => it.status.conditions.as_slice(),
        Thing::ReplicaSet(it) => it.status.conditions.as_slice(),
        Thing::ReplicationController(it) => it.status.conditions.as_slice(),
        _ => &[],
    };
    all.iter().filter(|it| it.kind.contains('/'))
}
