//! A write never hits another incarnation than the one that was judged.
//!
//! Authority: API conventions, "Concurrency control and consistency": a UID tells objects of one
//! name apart; `metav1.Preconditions` exist so that deletes respect it.

use std::time::Duration;

use super::{Happened, Invariant};
use crate::cluster::Purpose;
use crate::truth::Truth;

pub(super) struct Incarnations;

impl Invariant for Incarnations {
    fn name(&self) -> &'static str {
        "a write never hits another UID than the one judged"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed {
            by: Some((flight, Some(controller))),
            changed,
        } = happened
        else {
            return Ok(());
        };
        let Purpose::Action {
            judged: Some(judged),
            ..
        } = &flight.purpose
        else {
            return Ok(());
        };
        let Some(hit) = &changed.before else {
            return Ok(());
        };
        let is_about = flight.asked.path.contains(changed.name.name.as_str());
        if !is_about || hit.meta().uid == *judged {
            return Ok(());
        }
        Err(format!(
            "{controller} judged {judged} and hit {} of {} {}",
            hit.meta().uid,
            changed.resource,
            changed.name
        ))
    }
}
