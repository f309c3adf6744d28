//! Nodes.

use serde::{Deserialize, Deserializer, Serialize};

use super::object;
use crate::{Kind, Meta};

/// A Node. No controller built so far reads more of it than its metadata.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Node {
    /// Metadata, without annotations.
    #[serde(deserialize_with = "lean_meta")]
    pub metadata: Meta,
}

fn lean_meta<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Meta, D::Error> {
    Meta::lean(deserializer, |_| false)
}

object!(Node, Kind::cluster("", "v1", "Node", "nodes"));
