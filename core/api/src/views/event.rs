//! Events: what a controller tells people about an object.

use serde::{Deserialize, Serialize};

use super::deployment::is_zero;
use super::object;
use crate::{Kind, LeanMeta, Meta, Text, Timestamp, Uid};

/// An Event, in the core/v1 shape that upstream's recorder writes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Metadata.
    pub metadata: Meta,
    /// What it is about.
    pub involved_object: ObjectReference,
    /// Why, in one word for machines.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub reason: Text,
    /// What happened, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Who says so.
    #[serde(default)]
    pub source: EventSource,
    /// When it happened first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_timestamp: Option<Timestamp>,
    /// When it happened last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_timestamp: Option<Timestamp>,
    /// How often it happened.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub count: i32,
    /// `Normal` or `Warning`.
    #[serde(default, rename = "type", skip_serializing_if = "Text::is_empty")]
    pub kind: Text,
    /// Who says so, in the newer field.
    #[serde(default)]
    pub reporting_component: Text,
    /// Which instance says so.
    #[serde(default)]
    pub reporting_instance: Text,
}

/// Which object an Event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// Its kind.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub kind: Text,
    /// Its namespace.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub namespace: Text,
    /// Its name.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub name: Text,
    /// Its identity.
    #[serde(default, skip_serializing_if = "Uid::is_empty")]
    pub uid: Uid,
    /// Its group and version.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub api_version: Text,
    /// Its version when it was looked at.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub resource_version: Text,
}

impl ObjectReference {
    /// A reference to an object.
    pub fn of(kind: Kind, meta: &LeanMeta) -> Self {
        Self {
            kind: kind.kind.into(),
            namespace: meta.namespace.clone(),
            name: meta.name.clone(),
            uid: meta.uid.clone(),
            api_version: kind.api_version().into(),
            resource_version: meta.resource_version.clone(),
        }
    }
}

/// Who recorded an Event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSource {
    /// The component.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub component: Text,
    /// The host it runs on.
    #[serde(default, skip_serializing_if = "Text::is_empty")]
    pub host: Text,
}

object!(Event, Kind::namespaced("", "v1", "Event", "events"));
