//! The object that this crate's tests cache.

use flyball_api::{DecodeError, Index, Kind, Lineage, Object, Text, Uid};
use serde::Deserialize;

/// A small object with everything an informer looks at.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Thing {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: Uid,
    pub(crate) version: String,
    pub(crate) owners: Vec<String>,
}

impl Thing {
    pub(crate) const KIND: Kind = Kind::namespaced("test", "v1", "Thing", "things");

    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
            uid: Uid::new(&format!("uid-of-{name}")),
            version: "1".into(),
            owners: Vec::new(),
        }
    }

    pub(crate) fn at(mut self, version: impl ToString) -> Self {
        self.version = version.to_string();
        self
    }

    pub(crate) fn uid(mut self, uid: &str) -> Self {
        self.uid = uid.into();
        self
    }

    pub(crate) fn owned_by(mut self, owners: &[&str]) -> Self {
        self.owners = owners.iter().map(|owner| (*owner).to_owned()).collect();
        self
    }

    /// The object as the server writes it.
    pub(crate) fn json(&self) -> String {
        let Self {
            namespace,
            name,
            uid,
            version,
            owners,
        } = self;
        format!(
            r#"{{"kind":"Thing","apiVersion":"test/v1","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}"}},"owners":{owners:?}}}"#
        )
    }

    /// A watch event about the object.
    pub(crate) fn event(&self, kind: &str) -> String {
        format!(r#"{{"type":"{kind}","object":{}}}"#, self.json())
    }
}

#[derive(Deserialize)]
struct Wire {
    metadata: WireMeta,
    #[serde(default)]
    owners: Vec<String>,
}

#[derive(Deserialize)]
struct WireMeta {
    #[serde(default)]
    namespace: String,
    name: String,
    uid: Uid,
    #[serde(rename = "resourceVersion")]
    version: String,
}

impl Object for Thing {
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
        &self.version
    }
    fn is_deleting(&self) -> bool {
        false
    }
    fn lineage(&self) -> Lineage<'_> {
        Lineage::default()
    }
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        let Wire { metadata, owners } = serde_json::from_slice(json).map_err(DecodeError::new)?;
        let WireMeta {
            namespace,
            name,
            uid,
            version,
        } = metadata;
        Ok(Self {
            namespace,
            name,
            uid,
            version,
            owners,
        })
    }
    fn indexes() -> &'static [Index<Self>] {
        fn owners(thing: &Thing, out: &mut Vec<Text>) {
            out.extend(thing.owners.iter().map(|owner| owner.as_str().into()));
        }
        const INDEXES: &[Index<Thing>] = &[Index {
            name: "owner",
            values: owners,
        }];
        INDEXES
    }
}
