//! An object of any kind, of which only the metadata is known.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{DecodeError, Kind, Lineage, Object, Owners, Pool, Text, Uid};

/// What is known of an object whose kind is not: who it is, whom it belongs to, what holds it.
///
/// Which kind it is of is known to the cache that holds it. It is small, because a garbage collector
/// holds one of every object that no controller cares for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partial {
    namespace: Text,
    name: Text,
    uid: Uid,
    resource_version: Text,
    owners: Owners,
    finalizers: Arc<[Text]>,
    deleting: bool,
}

impl Partial {
    /// What servers call an object of which they tell no more.
    pub const KIND: Kind = Kind::cluster("meta.k8s.io", "v1", "PartialObjectMetadata", "");
}

#[derive(Deserialize)]
struct Wire {
    metadata: WireMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMeta {
    name: Option<Text>,
    namespace: Option<Text>,
    uid: Option<Uid>,
    resource_version: Option<Text>,
    owner_references: Option<Owners>,
    finalizers: Option<Arc<[Text]>>,
    deletion_timestamp: Option<IgnoredAny>,
}

impl Object for Partial {
    fn kind() -> Kind {
        Self::KIND
    }
    fn namespace(&self) -> &str {
        &self.namespace
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn uid(&self) -> &Uid {
        &self.uid
    }
    fn resource_version(&self) -> &str {
        &self.resource_version
    }
    fn is_deleting(&self) -> bool {
        self.deleting
    }
    fn lineage(&self) -> Lineage<'_> {
        Lineage {
            owners: &self.owners,
            finalizers: &self.finalizers,
        }
    }
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let Wire { metadata } = serde_json::from_slice(json).map_err(DecodeError::new)?;
        Ok(Self {
            namespace: metadata.namespace.unwrap_or_default(),
            name: metadata.name.unwrap_or_default(),
            uid: metadata.uid.unwrap_or_default(),
            resource_version: metadata.resource_version.unwrap_or_default(),
            owners: metadata.owner_references.unwrap_or_default(),
            finalizers: metadata.finalizers.unwrap_or_default(),
            deleting: metadata.deletion_timestamp.is_some(),
        })
    }
    fn share(&mut self, pool: &mut Pool) {
        self.owners = pool.owners(std::mem::take(&mut self.owners));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_any_object_and_keeps_no_more_than_it_needs() {
        let json = br#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{
            "name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"x":"y"},
            "deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["orphan"],
            "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":"o"}],
            "managedFields":[{"manager":"m"}]},"spec":{"any":"thing"}}"#;
        let object = Partial::decode(json).unwrap();
        assert_eq!((object.namespace(), object.name()), ("n", "a"));
        assert!(object.is_deleting());
        assert_eq!(object.lineage().finalizers, ["orphan"]);
        assert_eq!(object.lineage().owners[0].name, "n1");
        let bare = Partial::decode(br#"{"metadata":{"name":"a","deletionTimestamp":null}}"#);
        assert!(!bare.unwrap().is_deleting());
        assert!(Partial::decode(b"{}").is_err());
    }

    #[test]
    fn stays_small() {
        assert!(size_of::<Partial>() <= 136, "{}", size_of::<Partial>());
    }
}
