//! Objects as they are kept: JSON text without its head, and what selectors ask most.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flyball_api::{Labels, Text};
use flyball_schema::Resource;
use serde::Serializer;
use serde_json::Value;

use crate::depth;
use crate::object::{Meta, Object};

/// One state of an object.
#[derive(Debug)]
pub struct Stored {
    /// The object as JSON without `apiVersion` and `kind`, which are the same for all of a kind and
    /// not shown in lists.
    json: Bytes,
    labels: Labels,
    /// The schema of a custom kind that it was stored by; 0 if that is not known.
    schema: u64,
    /// The version of a custom kind that it was stored in; of other kinds what is kept and not told, mostly nothing.
    version: Text,
    /// The DELETED state: the last one, with the version of the deletion, which is kept beside it.
    gone: OnceLock<(u64, Bytes)>,
    /// The object as admission looked it up: a namespace is asked about with every pod in it.
    looked_up: OnceLock<Arc<Object>>,
}

impl Stored {
    /// Keeps an object.
    pub(crate) fn new(object: &Object) -> Arc<Self> {
        Arc::new(Self::of(bare_text(object), object.labels()))
    }

    /// Keeps an object, and beside it what is not told of it.
    pub(crate) fn hiding(object: &Object, hidden: &str) -> Arc<Self> {
        Arc::new(Self {
            version: hidden.into(),
            ..Self::of(bare_text(object), object.labels())
        })
    }

    /// Keeps a custom object in a version, which is as the schema says if there is one.
    pub(crate) fn in_version(object: &Object, version: &Text, schema: u64) -> Arc<Self> {
        Arc::new(Self {
            schema,
            version: version.clone(),
            ..Self::of(bare_text(object), object.labels())
        })
    }

    /// The version of a custom kind that it was stored in; empty if that is not known.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// What is kept of an object of a built-in kind and not told.
    pub(crate) fn hidden(&self) -> &str {
        &self.version
    }

    /// Which schema of a custom kind it was stored by; 0 if that is not known.
    pub(crate) fn schema(&self) -> u64 {
        self.schema
    }

    /// How much memory the object takes, in bytes, but for a small part that is the same for all.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.json.len()
    }

    /// Keeps what was kept before, from its text as [`Stored::kept`] gives it.
    pub fn read(kept: Bytes) -> Result<Arc<Self>, serde_json::Error> {
        let (version, json) = match kept.iter().position(|byte| *byte == b'{') {
            Some(at) => (Text::from_utf8_lossy(&kept[..at]), kept.slice(at..)),
            None => (Text::default(), kept),
        };
        let object = depth::read(&json)?;
        let labels = object.labels();
        Ok(Arc::new(Self {
            version,
            ..Self::of(json, labels)
        }))
    }

    /// The text to be kept: the JSON, behind the version of a custom kind.
    pub fn kept(&self) -> Bytes {
        if self.version.is_empty() {
            return self.json.clone();
        }
        let mut kept = Vec::with_capacity(self.version.len() + self.json.len());
        kept.extend_from_slice(self.version.as_bytes());
        kept.extend_from_slice(&self.json);
        kept.into()
    }

    fn of(json: Bytes, labels: Labels) -> Self {
        Self {
            json,
            labels,
            schema: 0,
            version: Text::default(),
            gone: OnceLock::new(),
            looked_up: OnceLock::new(),
        }
    }

    /// The JSON text, without `apiVersion` and `kind`.
    pub fn bare(&self) -> &Bytes {
        &self.json
    }

    pub(crate) fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The object, without `apiVersion` and `kind`.
    pub(crate) fn bare_object(&self) -> Object {
        depth::read_kept(&self.json)
    }

    /// The object, with `apiVersion` and `kind`.
    pub(crate) fn object(&self, resource: &Resource) -> Object {
        let mut object = self.bare_object();
        object.insert("apiVersion".to_owned(), resource.api_version().into());
        object.insert("kind".to_owned(), resource.kind.as_str().into());
        object
    }

    /// The object, with `apiVersion` and `kind`, read once for all who look it up. It stays in memory:
    /// for kinds of which there are few.
    pub(crate) fn looked_up(&self, resource: &Resource) -> Arc<Object> {
        let read = || Arc::new(self.object(resource));
        self.looked_up.get_or_init(read).clone()
    }

    /// The state in a DELETED event at this version, made once for all watches. A store that was
    /// restored from an older state shares its objects, which may be deleted at another version there.
    pub(crate) fn gone(&self, version: u64) -> Bytes {
        let make = || (version, at_version(&self.json, version));
        match self.gone.get_or_init(make) {
            (at, last) if *at == version => last.clone(),
            _ => at_version(&self.json, version),
        }
    }
}

/// The same state with another version.
pub(crate) fn at_version(bare: &[u8], version: u64) -> Bytes {
    let mut object = depth::read_kept(bare);
    let version = Value::from(version.to_string());
    object
        .meta_mut()
        .insert("resourceVersion".to_owned(), version);
    text(&object)
}

/// The JSON text of an object.
pub(crate) fn text(object: &Object) -> Bytes {
    // Maps with text keys can always be written.
    serde_json::to_vec(object).unwrap_or_default().into()
}

/// The JSON text of an object without its head.
fn bare_text(object: &Object) -> Bytes {
    let mut out = Vec::new();
    let mut writer = serde_json::Serializer::new(&mut out);
    let members = object.iter();
    // Maps with text keys can always be written.
    let _ = writer
        .collect_map(members.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind")));
    out.into()
}

/// Appends a whole object to `out`: its head, then what is kept.
pub(crate) fn write_whole(resource: &Resource, bare: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"kind":""#);
    out.extend_from_slice(resource.kind.as_bytes());
    out.extend_from_slice(br#"","apiVersion":""#);
    out.extend_from_slice(resource.api_version().as_bytes());
    out.extend_from_slice(br#"","#);
    // Every object has metadata, so there is something behind the brace.
    out.extend_from_slice(bare.get(1..).unwrap_or_default());
}

/// A whole object.
pub(crate) fn whole(resource: &Resource, bare: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(bare.len() + 64);
    write_whole(resource, bare, &mut out);
    out.into()
}
