//! Owner references: who an object belongs to.

use serde::{Deserialize, Serialize};

use crate::{Kind, Text, Uid};

/// A reference from an object to one of its owners.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReference {
    /// Group and version of the owner.
    pub api_version: Text,
    /// Kind of the owner.
    pub kind: Text,
    /// Name of the owner, in the namespace of the object.
    pub name: Text,
    /// Identity of the owner.
    pub uid: Uid,
    /// Whether this owner manages the object; at most one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether the owner waits for this object when deleted in the foreground.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

impl OwnerReference {
    /// The reference a controller puts on what it creates or adopts.
    pub fn controller_of(kind: Kind, name: &str, uid: &Uid) -> Self {
        Self {
            api_version: kind.api_version().into(),
            kind: kind.kind.into(),
            name: name.into(),
            uid: uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// Whether this owner manages the object.
    pub fn is_controller(&self) -> bool {
        self.controller == Some(true)
    }
}
