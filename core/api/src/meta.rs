//! Object metadata: what every view has in common.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::labels::read_labels;
use crate::{Labels, Lineage, ObjectName, OwnerReference, Pool, Text, Timestamp, Uid};

/// The whole metadata of an object, which may be written back.
///
/// `managedFields` is dropped: the server keeps it when a write leaves it out. A field this crate
/// has never heard of is carried in `rest`, so that a full update gives it back unchanged.
#[derive(Clone, Debug, Default)]
pub struct Meta {
    known: LeanMeta,
    /// Fields unknown here, in the order read.
    pub rest: Option<Box<Rest>>,
}

/// The metadata that controllers read. By itself it is the metadata of kinds that are cached by the
/// thousand (pods, nodes, Jobs), without unread annotations and unknown fields.
///
/// It has no `Serialize`, because an update with it would erase what it leaves out. Such kinds are
/// changed by patches.
///
/// ```compile_fail
/// let lean = flyball_api::LeanMeta::default();
/// serde_json::to_string(&lean).unwrap();
/// ```
///
/// ```
/// let whole = flyball_api::Meta::default();
/// serde_json::to_string(&whole).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct LeanMeta {
    /// The name within the namespace.
    pub name: Text,
    /// The namespace, empty for cluster-scoped kinds.
    pub namespace: Text,
    /// The identity of this incarnation.
    pub uid: Uid,
    /// The version the server gave to this state.
    pub resource_version: Text,
    /// Counts changes of the desired state.
    pub generation: i64,
    /// When the object was created.
    pub creation_timestamp: Option<Timestamp>,
    /// When the object was asked to go away.
    pub deletion_timestamp: Option<Timestamp>,
    /// How long it may take to go, in seconds.
    pub deletion_grace_period_seconds: Option<i64>,
    /// The labels.
    pub labels: Labels,
    /// The annotations; of lean metadata only those that a controller reads.
    pub annotations: Labels,
    /// The owners.
    pub owner_references: Owners,
    /// What must be cleared before the object may go.
    pub finalizers: Arc<[Text]>,
}

/// Metadata fields unknown to this crate, kept as they came.
pub type Rest = Vec<(Text, Box<RawValue>)>;

/// A shared list of owners.
pub type Owners = Arc<[OwnerReference]>;

impl Deref for Meta {
    type Target = LeanMeta;
    fn deref(&self) -> &LeanMeta {
        &self.known
    }
}

impl DerefMut for Meta {
    fn deref_mut(&mut self) -> &mut LeanMeta {
        &mut self.known
    }
}

/// Metadata of an object that is to be created.
impl From<LeanMeta> for Meta {
    fn from(known: LeanMeta) -> Self {
        Self { known, rest: None }
    }
}

impl LeanMeta {
    /// The owner that manages this object, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references
            .iter()
            .find(|owner| owner.is_controller())
    }

    /// Whether `uid` manages this object.
    pub fn is_controlled_by(&self, uid: &Uid) -> bool {
        self.controller().is_some_and(|owner| owner.uid == *uid)
    }

    /// Whether the object has been asked to go away.
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }

    /// Whom the object belongs to, and what holds it back from going.
    pub fn lineage(&self) -> Lineage<'_> {
        Lineage {
            owners: &self.owner_references,
            finalizers: &self.finalizers,
        }
    }

    /// Namespace and name as one value.
    pub fn object_name(&self) -> ObjectName {
        ObjectName {
            namespace: self.namespace.clone(),
            name: self.name.clone(),
        }
    }

    /// Replaces what many objects have in common by shared copies.
    pub fn share(&mut self, pool: &mut Pool) {
        self.labels = pool.labels(std::mem::take(&mut self.labels));
        self.owner_references = pool.owners(std::mem::take(&mut self.owner_references));
    }

    /// Reads metadata with the annotations asked for.
    pub fn with_annotations<'de, D: Deserializer<'de>>(
        deserializer: D,
        keep_annotation: fn(&str) -> bool,
    ) -> Result<Self, D::Error> {
        let visitor = MetaVisitor {
            keep_annotation,
            keep_rest: false,
        };
        Ok(deserializer.deserialize_map(visitor)?.known)
    }
}

/// Without annotations.
impl<'de> Deserialize<'de> for LeanMeta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::with_annotations(deserializer, |_| false)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetaVisitor {
            keep_annotation: |_| true,
            keep_rest: true,
        })
    }
}

struct MetaVisitor {
    keep_annotation: fn(&str) -> bool,
    keep_rest: bool,
}

/// A label map read with a filter on its keys.
struct Filtered(fn(&str) -> bool);

impl<'de> serde::de::DeserializeSeed<'de> for Filtered {
    type Value = Labels;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Labels, D::Error> {
        read_labels(deserializer, self.0)
    }
}

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = Meta;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("object metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta, A::Error> {
        let mut meta = Meta::default();
        let mut rest = Rest::new();
        while let Some(key) = map.next_key::<Text>()? {
            match key.as_str() {
                "name" => meta.name = or_default(&mut map)?,
                "namespace" => meta.namespace = or_default(&mut map)?,
                "uid" => meta.uid = or_default(&mut map)?,
                "resourceVersion" => meta.resource_version = or_default(&mut map)?,
                "generation" => meta.generation = or_default(&mut map)?,
                "creationTimestamp" => meta.creation_timestamp = map.next_value()?,
                "deletionTimestamp" => meta.deletion_timestamp = map.next_value()?,
                "deletionGracePeriodSeconds" => {
                    meta.deletion_grace_period_seconds = map.next_value()?;
                }
                "labels" => meta.labels = or_default(&mut map)?,
                "annotations" => {
                    meta.annotations = map.next_value_seed(Filtered(self.keep_annotation))?;
                }
                "ownerReferences" => meta.owner_references = or_default(&mut map)?,
                "finalizers" => meta.finalizers = or_default(&mut map)?,
                "managedFields" => {
                    map.next_value::<IgnoredAny>()?;
                }
                _ if self.keep_rest => rest.push((key, map.next_value()?)),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if !rest.is_empty() {
            meta.rest = Some(Box::new(rest));
        }
        Ok(meta)
    }
}

/// Null means the default, as it does for the server.
fn or_default<'de, A: MapAccess<'de>, T: Deserialize<'de> + Default>(
    map: &mut A,
) -> Result<T, A::Error> {
    Ok(map.next_value::<Option<T>>()?.unwrap_or_default())
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let mut text = |key: &str, value: &str| match value {
            "" => Ok(()),
            _ => map.serialize_entry(key, value),
        };
        text("name", &self.name)?;
        text("namespace", &self.namespace)?;
        text("uid", &self.uid.to_string())?;
        text("resourceVersion", &self.resource_version)?;
        if self.generation != 0 {
            map.serialize_entry("generation", &self.generation)?;
        }
        if let Some(at) = &self.creation_timestamp {
            map.serialize_entry("creationTimestamp", at)?;
        }
        if let Some(at) = &self.deletion_timestamp {
            map.serialize_entry("deletionTimestamp", at)?;
        }
        if let Some(seconds) = &self.deletion_grace_period_seconds {
            map.serialize_entry("deletionGracePeriodSeconds", seconds)?;
        }
        if !self.labels.is_empty() {
            map.serialize_entry("labels", &self.labels)?;
        }
        if !self.annotations.is_empty() {
            map.serialize_entry("annotations", &self.annotations)?;
        }
        if !self.owner_references.is_empty() {
            map.serialize_entry("ownerReferences", &self.owner_references)?;
        }
        if !self.finalizers.is_empty() {
            map.serialize_entry("finalizers", &self.finalizers)?;
        }
        for (key, value) in self.rest.iter().flat_map(|rest| rest.iter()) {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_survive_and_managed_fields_do_not() {
        let json = r#"{"name":"a","managedFields":[{"x":1}],"fromTheFuture":{"deep":[1,2]}}"#;
        let meta: Meta = serde_json::from_str(json).unwrap();
        let back = serde_json::to_string(&meta).unwrap();
        assert_eq!(back, r#"{"name":"a","fromTheFuture":{"deep":[1,2]}}"#);
    }

    #[test]
    fn nulls_read_as_absent() {
        let json = r#"{"name":"a","labels":null,"creationTimestamp":null,"finalizers":null}"#;
        let meta: Meta = serde_json::from_str(json).unwrap();
        assert!(meta.labels.is_empty() && meta.creation_timestamp.is_none());
    }

    #[test]
    fn stays_below_the_budget_of_a_cached_object() {
        assert!(size_of::<Meta>() <= 272, "{}", size_of::<Meta>());
    }
}
