//! Leases: by their renewal others see that a node lives.

use flyball_api::{Kind, Meta, MicroTime, Text, null_default, object};
use serde::Deserialize;

/// The Lease of a node.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Lease {
    /// Metadata.
    pub metadata: Meta,
    /// Who holds it since when.
    #[serde(default, deserialize_with = "null_default")]
    pub spec: LeaseSpec,
}

/// Who holds a lease since when.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseSpec {
    /// The holder, which is the node.
    #[serde(default, deserialize_with = "null_default")]
    pub holder_identity: Text,
    /// How long others wait for the next renewal.
    #[serde(default)]
    pub lease_duration_seconds: Option<u32>,
    /// When it was last renewed.
    #[serde(default)]
    pub renew_time: Option<MicroTime>,
}

object!(
    Lease,
    Kind::namespaced("coordination.k8s.io", "v1", "Lease", "leases")
);
