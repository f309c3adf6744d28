//! What is sent to parts of objects that have a kind of their own: evictions, bindings, scales.

use flyball_schema::{Schema, builtin, decode_value, strict_message};
use serde_json::Value;

use crate::decode;
use crate::failure::Failure;
use crate::object::Object;
use crate::query::FieldValidation;
use crate::registry::Call;

/// A kind that parts are sent in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartKind {
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    /// An older version that is read as the newer one.
    old: &'static str,
    /// What upstream calls the kind's package in messages.
    package: &'static str,
}

/// What evicts a pod.
pub(crate) const EVICTION: PartKind = PartKind {
    group: "policy",
    version: "v1",
    kind: "Eviction",
    old: "policy/v1beta1",
    package: "policy",
};

/// What assigns a pod to a node.
pub(crate) const BINDING: PartKind = PartKind {
    group: "",
    version: "v1",
    kind: "Binding",
    old: "",
    package: "core",
};

/// How many replicas there shall be.
pub(crate) const SCALE: PartKind = PartKind {
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    old: "",
    package: "autoscaling",
};

impl PartKind {
    /// The version as written in objects.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    /// What such objects look like.
    pub(crate) fn schema(&self) -> Option<Schema<'static>> {
        builtin().kind(self.group, self.version, self.kind)
    }

    /// The object that was sent, with what is to be told about it.
    pub(crate) fn read(&self, call: &Call<'_>) -> Result<(Object, Vec<String>), Failure> {
        self.check(call, decode::any(call)?)
    }

    /// Makes an object of what was read or patched before its type was known.
    pub(crate) fn check(
        &self,
        call: &Call<'_>,
        sent: Value,
    ) -> Result<(Object, Vec<String>), Failure> {
        let text = |field: &str| sent[field].as_str().unwrap_or_default().to_owned();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        let version = match api_version.rsplit_once('/') {
            Some((_, version)) => version,
            None => api_version.as_str(),
        };
        let own = self.api_version();
        let is_own = [own.as_str(), self.old, ""].contains(&api_version.as_str());
        if (!kind.is_empty() && kind != self.kind) || !is_own {
            return Err(Failure::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {}: converting ({version}.{kind}) to ({}.{}): \
                 unknown conversion",
                self.kind, self.package, self.kind
            )));
        }
        let unreadable = |why: &str| {
            Failure::bad_request(format!(
                "{} in version {:?} cannot be handled as a {}: {why}",
                self.kind, self.version, self.kind
            ))
        };
        let schema = self.schema().ok_or_else(Failure::no_such_path)?;
        let decoded = decode_value(schema, sent);
        let decoded = decoded.map_err(|error| unreadable(&error.to_string()))?;
        let Value::Object(mut object) = decoded.value else {
            return Err(unreadable("it is not an object"));
        };
        let warnings = match call.query.field_validation {
            FieldValidation::Strict if !decoded.strict.is_empty() => {
                return Err(unreadable(&strict_message(&decoded.strict)));
            }
            FieldValidation::Warn => decoded.strict.iter().map(ToString::to_string).collect(),
            FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
        };
        object.insert("kind".to_owned(), self.kind.into());
        object.insert("apiVersion".to_owned(), own.into());
        Ok((object, warnings))
    }
}
