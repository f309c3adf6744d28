//! Never more replicas than a roll-out allows.
//!
//! Authority: `apps/v1` `RollingUpdateDeployment.maxSurge`: so many pods above the desired number
//! may be scheduled, percentages rounded up.

use std::time::Duration;

use super::rollouts::{Resized, replicas};
use super::{Happened, Invariant};
use crate::truth::Truth;

pub(super) struct Surge;

impl Invariant for Surge {
    fn name(&self) -> &'static str {
        "never more replicas than replicas and surge"
    }

    fn check(&mut self, happened: &Happened<'_>, truth: &Truth, _: Duration) -> Result<(), String> {
        let Some(resized) = Resized::of(happened, truth).filter(|it| it.is > it.was) else {
            return Ok(());
        };
        let Some(fences) = resized.fences() else {
            return Ok(());
        };
        let limit = resized.desired() + fences.surge;
        let others: i32 = resized.others.iter().copied().map(replicas).sum();
        // A wish that shrank leaves more than the limit for a while; it must not grow.
        if others + resized.is <= limit.max(others + resized.was) {
            return Ok(());
        }
        Err(format!(
            "{}: {} replicas where {limit} are allowed: {} grew from {} to {}",
            resized.deployment.metadata.object_name(),
            others + resized.is,
            resized.name,
            resized.was,
            resized.is
        ))
    }
}
