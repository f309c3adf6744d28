//! Namespaces.

use serde::{Deserialize, Serialize};

use super::{null_default, object};
use crate::{Kind, Meta, Text};

/// A Namespace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Namespace {
    /// Metadata.
    pub metadata: Meta,
    /// Observed state.
    #[serde(default, deserialize_with = "null_default")]
    pub status: NamespaceStatus,
}

/// Observed state of a Namespace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NamespaceStatus {
    /// `Active` or `Terminating`.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub phase: Text,
}

object!(
    Namespace,
    Kind::cluster("", "v1", "Namespace", "namespaces")
);
