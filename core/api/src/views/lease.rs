//! Leases: who leads, and until when.

use serde::{Deserialize, Serialize};

use super::{null_default, object};
use crate::{Kind, Meta, MicroTime, Text};

/// A Lease.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Lease {
    /// Metadata.
    pub metadata: Meta,
    /// Who holds it.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: LeaseSpec,
}

/// Who holds a Lease.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseSpec {
    /// The holder; absent or empty when nobody holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_identity: Option<Text>,
    /// How long others wait after the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_duration_seconds: Option<i32>,
    /// When the holder got it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquire_time: Option<MicroTime>,
    /// When the holder last renewed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<MicroTime>,
    /// How often the holder changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_transitions: Option<i32>,
    /// The strategy of coordinated election.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Text>,
    /// Whom coordinated election wants next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_holder: Option<Text>,
}

object!(
    Lease,
    Kind::namespaced("coordination.k8s.io", "v1", "Lease", "leases")
);
