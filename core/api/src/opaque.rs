//! JSON that is carried, never understood.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{DecodeError, Labels, Meta};

/// A piece of JSON kept as its text.
///
/// It can only be read from JSON text itself, not from an already parsed value.
#[derive(Clone, PartialEq, Eq)]
pub struct Opaque(Arc<str>);

impl Opaque {
    /// Wraps JSON text, which must be one valid JSON value.
    pub fn new(json: &str) -> Result<Self, DecodeError> {
        let raw: &RawValue = serde_json::from_str(json).map_err(DecodeError::new)?;
        Ok(Self(raw.get().into()))
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }
}

impl Default for Opaque {
    fn default() -> Self {
        Self("null".into())
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Opaque {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().into()))
    }
}

/// A pod template: opaque but for the labels, which selectors and status need on every sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    json: Opaque,
    labels: Labels,
}

/// The part of a template that is read.
#[derive(Default, Deserialize)]
struct TemplateMeta {
    #[serde(default)]
    metadata: Option<Meta>,
}

impl Template {
    /// Wraps the JSON text of a template.
    pub fn new(json: &str) -> Result<Self, DecodeError> {
        serde_json::from_str(json).map_err(DecodeError::new)
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        self.json.json()
    }

    /// The labels its pods get.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The metadata its pods start from.
    pub fn meta(&self) -> Meta {
        // The text was read once already when the template was made.
        serde_json::from_str::<Option<TemplateMeta>>(self.json())
            .ok()
            .flatten()
            .and_then(|template| template.metadata)
            .unwrap_or_default()
    }

    /// The JSON text of its `spec`, `{}` if it has none.
    pub fn spec(&self) -> Opaque {
        #[derive(Deserialize)]
        struct Spec {
            #[serde(default)]
            spec: Option<Opaque>,
        }
        serde_json::from_str::<Option<Spec>>(self.json())
            .ok()
            .flatten()
            .and_then(|template| template.spec)
            .unwrap_or_else(|| Opaque("{}".into()))
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Opaque::deserialize(deserializer)?;
        let read: Option<TemplateMeta> =
            serde_json::from_str(json.json()).map_err(serde::de::Error::custom)?;
        let labels = read
            .and_then(|template| template.metadata)
            .map(|meta| meta.labels.clone())
            .unwrap_or_default();
        Ok(Self { json, labels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_keeps_every_byte_and_knows_its_labels() {
        let json = r#"{"metadata":{"labels":{"app":"web"}},"spec":{"fromTheFuture":[1.50,{}]}}"#;
        let template = Template::new(json).unwrap();
        assert_eq!(template.json(), json);
        assert_eq!(template.labels().get("app"), Some("web"));
        assert_eq!(template.spec().json(), r#"{"fromTheFuture":[1.50,{}]}"#);
    }

    #[test]
    fn bad_json_is_refused() {
        assert!(Opaque::new("{").is_err());
        assert!(Template::new(r#"{"metadata":{"labels":[]}}"#).is_err());
    }
}
