//! No hot loop: requests are bounded per virtual minute.
//!
//! Authority: `docs/decisions/0012-fair-queue.md`; upstream's client-side limits (20 requests a
//! second for all controllers together) are what clusters are sized for. Here one small cluster
//! has no reason for more than a few requests a second and controller.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Happened, Invariant};
use crate::step::Life;
use crate::truth::Truth;

/// The most requests that one controller of one replica may make in a virtual minute: a namespace
/// that cannot be emptied costs some 20 a try and 11 tries until the waits are long, and it can be
/// deleted twice in a minute.
const PER_MINUTE_MAX: u32 = 600;

/// Requests of the minute that runs, by life and controller.
#[derive(Default)]
pub(super) struct Pace {
    minute: u64,
    requests: BTreeMap<(Life, &'static str), u32>,
}

impl Invariant for Pace {
    fn name(&self) -> &'static str {
        "no hot loop"
    }

    fn check(&mut self, happened: &Happened<'_>, _: &Truth, now: Duration) -> Result<(), String> {
        let Happened::Requested { life, controller } = happened else {
            return Ok(());
        };
        let minute = now.as_secs() / 60;
        if minute != self.minute {
            self.minute = minute;
            self.requests.clear();
        }
        let count = self.requests.entry((*life, controller)).or_default();
        *count += 1;
        if *count <= PER_MINUTE_MAX {
            return Ok(());
        }
        Err(format!(
            "{controller} made more than {PER_MINUTE_MAX} requests in a minute"
        ))
    }
}
