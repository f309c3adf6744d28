//! The record of an election: what a Lease says about who leads.

use std::time::Duration;

use flyball_api::views::{Lease, LeaseSpec};
use flyball_api::{MicroTime, Text, Timestamp};

/// A Lease as last seen: its record and the version to write against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who holds it, since when, for how long.
    pub spec: LeaseSpec,
    /// The version of the Lease; empty if it does not exist yet.
    pub resource_version: Text,
}

impl Record {
    /// The record of a Lease.
    pub fn of(lease: &Lease) -> Self {
        Self {
            spec: lease.spec.clone(),
            resource_version: lease.metadata.resource_version.clone(),
        }
    }

    /// Who holds it; empty if nobody does.
    pub fn holder(&self) -> &str {
        self.spec.holder_identity.as_deref().unwrap_or_default()
    }

    /// How long the holder may be silent, as it said itself.
    pub fn lease(&self) -> Option<Duration> {
        let seconds = self.spec.lease_duration_seconds?;
        Some(Duration::from_secs(
            u64::try_from(seconds).unwrap_or_default(),
        ))
    }
}

/// The record by which `identity` takes the Lease from whoever had it, or renews its own.
///
/// As upstream's, it leaves out the fields of coordinated election: whoever takes a Lease this way
/// does not follow that election's rules, and must not look as if it did.
pub(crate) fn held_by(
    identity: &Text,
    before: Option<&Record>,
    lease: Duration,
    now: Timestamp,
) -> LeaseSpec {
    let mut spec = LeaseSpec {
        holder_identity: Some(identity.clone()),
        lease_duration_seconds: Some(seconds(lease)),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(0),
        strategy: None,
        preferred_holder: None,
    };
    if let Some(before) = before {
        let transitions = before.spec.lease_transitions.unwrap_or_default();
        if before.holder() == identity.as_str() {
            spec.acquire_time = before.spec.acquire_time;
            spec.lease_transitions = Some(transitions);
        } else {
            spec.lease_transitions = Some(transitions.saturating_add(1));
        }
    }
    spec
}

/// The record that tells everybody to come and take it.
pub(crate) fn released(before: &Record, now: Timestamp) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(Text::default()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        lease_transitions: before.spec.lease_transitions,
        strategy: None,
        preferred_holder: None,
    }
}

/// Whole seconds, rounded up: others must wait at least as long as we count on.
fn seconds(duration: Duration) -> i32 {
    let up = duration
        .as_secs()
        .saturating_add(u64::from(duration.subsec_nanos() > 0));
    i32::try_from(up).unwrap_or(i32::MAX)
}
