//! Nothing is planned from a kind that is not complete.
//!
//! Authority: client-go `cache.WaitForCacheSync`: a controller's workers start when the caches it
//! reads have been filled by a whole list. Here it holds at every plan, not only at the first.

use std::time::Duration;

use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Completeness;

impl Invariant for Completeness {
    fn name(&self) -> &'static str {
        "nothing is planned from a kind that is not complete"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, _: Duration) -> Result<(), String> {
        let Happened::Decided(decided) = happened else {
            return Ok(());
        };
        for watch in decided.watches {
            let view = decided.seen.view_of(watch.kind());
            if !view.is_some_and(|view| view.is_complete()) {
                let (controller, key, kind) = (decided.controller, decided.key, watch.kind());
                return Err(format!("{controller} {key}: {kind} is not complete"));
            }
        }
        Ok(())
    }
}
