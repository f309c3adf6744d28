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

    /// Makes an object of what was read before its type was known.
    pub(crate) fn check(
        &self,
        call: &Call<'_>,
        sent: Value,
    ) -> Result<(Object, Vec<String>), Failure> {
        let text = |field: &str| sent[field].as_str().unwrap_or_default().to_owned();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        let version = api_version
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
        let is_own = self.is_own(&kind, &api_version);
        self.make(call, sent, |why| {
            let (kind, version) = match is_own {
                true => (self.kind, self.version),
                false => (kind.as_str(), version.as_str()),
            };
            Failure::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {}: {why}",
                self.kind
            ))
        })
    }

    fn is_own(&self, kind: &str, api_version: &str) -> bool {
        let own = self.api_version();
        [self.kind, ""].contains(&kind) && [own.as_str(), self.old, ""].contains(&api_version)
    }

    /// Makes an object of what was read or patched; `refused` says what is answered if it cannot be one.
    pub(crate) fn make(
        &self,
        call: &Call<'_>,
        sent: Value,
        refused: impl Fn(&str) -> Failure,
    ) -> Result<(Object, Vec<String>), Failure> {
        let text = |field: &str| sent[field].as_str().unwrap_or_default().to_owned();
        let (kind, api_version) = (text("kind"), text("apiVersion"));
        let version = match api_version.rsplit_once('/') {
            Some((_, version)) => version,
            None => api_version.as_str(),
        };
        if !self.is_own(&kind, &api_version) {
            return Err(refused(&format!(
                "converting ({version}.{kind}) to ({}.{}): unknown conversion",
                self.package, self.kind
            )));
        }
        let schema = self.schema().ok_or_else(Failure::no_such_path)?;
        let decoded = decode_value(schema, sent);
        let decoded = decoded.map_err(|error| refused(&error.to_string()))?;
        let Value::Object(mut object) = decoded.value else {
            return Err(refused("it is not an object"));
        };
        let warnings = match call.query.field_validation {
            FieldValidation::Strict if !decoded.strict.is_empty() => {
                return Err(refused(&strict_message(&decoded.strict)));
            }
            FieldValidation::Warn => decoded.strict.iter().map(ToString::to_string).collect(),
            FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
        };
        object.insert("kind".to_owned(), self.kind.into());
        object.insert("apiVersion".to_owned(), self.api_version().into());
        Ok((object, warnings))
    }
}
