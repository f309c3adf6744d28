//! A Lease is given up only after the last write.
//!
//! Authority: `docs/decisions/0009-election.md`: a clean stop lets what runs come to its end before
//! the next leader may begin.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Happened, Invariant};
use crate::replica::LEASE_NAMESPACE;
use crate::truth::{Thing, Truth};

/// The holders that have given their Lease up and not taken it again.
#[derive(Default)]
pub(super) struct Handover {
    released: BTreeSet<String>,
}

impl Invariant for Handover {
    fn name(&self) -> &'static str {
        "a Lease is given up only after the last write"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Committed { by, changed } = happened else {
            return Ok(());
        };
        if changed.resource == "leases.coordination.k8s.io"
            && changed.name.namespace == LEASE_NAMESPACE
        {
            let holder = |thing: Option<&Thing>| match thing {
                Some(Thing::Lease(lease)) => lease.spec.holder_identity.clone(),
                _ => None,
            };
            let before = holder(changed.before.as_deref()).unwrap_or_default();
            let after = holder(changed.after.as_deref()).unwrap_or_default();
            if after.is_empty() && !before.is_empty() {
                self.released.insert(before.to_string());
            }
            self.released.remove(after.as_str());
            return Ok(());
        }
        // A step aside gives up what is under way; only a stop promises to have waited for it.
        match by {
            Some((flight, Some(controller))) if flight.is_after_stop(&self.released) => {
                Err(format!(
                    "{controller} wrote {} {} after its Lease was given up",
                    changed.resource, changed.name
                ))
            }
            _ => Ok(()),
        }
    }
}
