//! A roll-out never takes more replicas away than it promised to keep available.
//!
//! Authority: `apps/v1` `RollingUpdateDeployment.maxUnavailable`: so many pods may be unavailable
//! during the update, percentages rounded down.

use std::time::Duration;

use flyball_api::views::ReplicaSet;

use super::rollouts::{Resized, replicas};
use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Availability;

impl Invariant for Availability {
    fn name(&self) -> &'static str {
        "availability never below what the roll-out promises"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Some(resized) = Resized::of(happened, truth).filter(|it| it.is < it.was) else {
            return Ok(());
        };
        let (Some(fences), Some(seen)) = (resized.fences(), resized.seen) else {
            return Ok(());
        };
        // While it is paused no roll-out moves on: what hands resized is brought back in proportion,
        // whatever is available (upstream's `scale`, which knows no availability).
        if resized.is_scaling() || resized.deployment.spec.paused {
            return Ok(());
        }
        let available = |set: &ReplicaSet, size: i32| set.status.available_replicas.min(size);
        let lost = available(seen, resized.was) - available(seen, resized.is);
        let others = resized.others.iter().copied();
        let others: i32 = others.map(|set| available(set, replicas(set))).sum();
        let left = others + available(seen, resized.is);
        let promised = resized.desired() - fences.unavailable;
        if lost <= 0 || left >= promised {
            return Ok(());
        }
        Err(format!(
            "{}: {left} available where {promised} are promised: {} shrank from {} to {}",
            resized.deployment.metadata.object_name(),
            resized.name,
            resized.was,
            resized.is
        ))
    }
}
