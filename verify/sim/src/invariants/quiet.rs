//! Once everything is as it should be, nothing is written.
//!
//! Authority: `docs/decisions/0003-controller-trait.md`, the law *quiet*; anvil's "eventually
//! stable reconciliation". Leases and the heartbeats of nodes are there to be written.

use std::time::Duration;

use super::{Happened, Invariant};
use crate::truth::{Thing, Truth};

pub(super) struct Quiet;

impl Invariant for Quiet {
    fn name(&self) -> &'static str {
        "no write for one virtual hour"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed { by, changed } = happened else {
            return Ok(());
        };
        let beats = ["leases.coordination.k8s.io", "nodes"];
        if beats.contains(&changed.resource.as_str()) {
            return Ok(());
        }
        // A pod that was asked to crash goes on crashing.
        if let Some(Thing::Pod(pod)) = changed.after.as_deref()
            && truth.misbehaves(pod)
        {
            return Ok(());
        }
        let who = by.as_ref().and_then(|(_, controller)| *controller);
        let who = who.unwrap_or("somebody");
        Err(format!("{who} wrote {} {}", changed.resource, changed.name))
    }
}
