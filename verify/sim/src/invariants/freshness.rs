//! A leader plans from caches that are at least as new as its term.
//!
//! Authority: `docs/decisions/0045-runtime-as-a-value.md`: another leader may have written until
//! the Lease changed hands, so what was cached before may lack its last writes.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Happened, Invariant};
use crate::replica::LEASE_NAMESPACE;
use crate::truth::{Thing, Truth};

/// By holder, the version of the Lease at which it came into its hands.
#[derive(Default)]
pub(super) struct Freshness {
    won: BTreeMap<String, u64>,
}

impl Invariant for Freshness {
    fn name(&self) -> &'static str {
        "a leader plans from caches as new as its term"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        match happened {
            Happened::Restored(_) => self.won.clear(),
            Happened::Committed { changed, .. }
                if changed.resource == "leases.coordination.k8s.io"
                    && changed.name.namespace == LEASE_NAMESPACE =>
            {
                let holder = |thing: Option<&Thing>| match thing {
                    Some(Thing::Lease(lease)) => lease.spec.holder_identity.clone(),
                    _ => None,
                };
                let before = holder(changed.before.as_deref());
                let after = holder(changed.after.as_deref());
                let meta = changed.after.as_ref().map(|thing| thing.meta());
                let version = meta.and_then(|meta| meta.resource_version.parse().ok());
                let has_moved = before != after;
                if let (true, Some(after), Some(version)) = (has_moved, after, version) {
                    self.won.insert(after.to_string(), version);
                }
            }
            Happened::Decided(decided) => {
                let holder = decided.holder.as_ref();
                let Some(won) = holder.and_then(|holder| self.won.get(holder)) else {
                    return Ok(());
                };
                for watch in decided.watches {
                    let seen = decided.seen.seen_kind(watch.kind());
                    let seen: u64 = seen.and_then(|seen| seen.parse().ok()).unwrap_or(0);
                    if seen < *won {
                        let (controller, key) = (decided.controller, decided.key);
                        let kind = watch.kind();
                        return Err(format!(
                            "{controller} {key}: {kind} is at {seen}, the Lease was won at {won}"
                        ));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}
