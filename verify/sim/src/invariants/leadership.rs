//! No write without the lease.
//!
//! Authority: client-go `tools/leaderelection` (one leader at a time is the purpose), and
//! `docs/decisions/0009-election.md`, which promises it without the caveat about clocks.

use std::time::Duration;

use super::{Happened, Invariant};
use crate::replica::LEASE_NAMESPACE;
use crate::truth::{Thing, Truth};

pub(super) struct Leadership;

impl Invariant for Leadership {
    fn name(&self) -> &'static str {
        "no write without the lease"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Sent {
            holder: Some(sender),
            part,
            controller,
            ..
        } = happened
        else {
            return Ok(());
        };
        let lease = truth.get("leases.coordination.k8s.io", LEASE_NAMESPACE, part);
        let holder = match lease {
            Some(Thing::Lease(lease)) => lease.spec.holder_identity.as_deref(),
            _ => None,
        };
        if holder == Some(sender) {
            return Ok(());
        }
        let holder = holder.unwrap_or("nobody");
        Err(format!(
            "{controller} of {sender} writes while {holder} holds the lease"
        ))
    }
}
