//! The namespace as the server has it, and what is written to it.

use flyball_api::views::Namespace;
use flyball_api::{ObjectName, Opaque, Text, Timestamp, Uid};
use flyball_plan::{Action, Body, Precondition, Subresource, Target, Write};
use serde_json::{Value, json};

/// What must be cleared before the namespace may go, by whoever empties it.
const FINALIZER: &str = "kubernetes";

/// The whole namespace, so that a write loses nothing.
#[derive(Clone, Debug)]
pub(super) struct Live(Value);

impl Live {
    pub(super) fn read(found: &Opaque) -> Result<Self, String> {
        let mut json: Value =
            serde_json::from_str(found.json()).map_err(|error| error.to_string())?;
        match json.get_mut("metadata").and_then(Value::as_object_mut) {
            // The server keeps them where a write leaves them out.
            Some(metadata) => drop(metadata.remove("managedFields")),
            None => return Err("the namespace has no metadata".to_owned()),
        }
        Ok(Self(json))
    }

    fn metadata(&self, field: &str) -> &str {
        self.0["metadata"][field].as_str().unwrap_or_default()
    }

    pub(super) fn name(&self) -> &str {
        self.metadata("name")
    }

    pub(super) fn uid(&self) -> Uid {
        self.metadata("uid").into()
    }

    /// When it was asked to go; `None` if it was not.
    pub(super) fn deleted_at(&self) -> Option<Timestamp> {
        serde_json::from_value(self.0["metadata"]["deletionTimestamp"].clone()).ok()
    }

    pub(super) fn phase(&self) -> &str {
        self.0["status"]["phase"].as_str().unwrap_or_default()
    }

    /// Whether nobody holds it by `spec.finalizers` any more.
    pub(super) fn is_finalized(&self) -> bool {
        let finalizers = self.0["spec"]["finalizers"].as_array();
        finalizers.is_none_or(Vec::is_empty)
    }

    pub(super) fn conditions(&self) -> &[Value] {
        let conditions = self.0["status"]["conditions"].as_array();
        conditions.map_or(&[], Vec::as_slice)
    }

    pub(super) fn set_conditions(&mut self, conditions: Vec<Value>) {
        self.0["status"]["conditions"] = conditions.into();
    }

    pub(super) fn set_phase(&mut self, phase: &str) {
        self.0["status"]["phase"] = phase.into();
    }

    /// Takes note of the version that a write left behind.
    pub(super) fn set_version(&mut self, version: &Text) {
        if !version.is_empty() {
            self.0["metadata"]["resourceVersion"] = version.as_str().into();
        }
    }

    /// Writes what is observed of it.
    pub(super) fn update_status(&self) -> Action {
        self.update(Subresource::STATUS, &self.0)
    }

    /// Lets it go, as far as this controller is concerned; the others are kept in order.
    pub(super) fn finalize(&self) -> Action {
        let mut body = self.0.clone();
        let finalizers = body["spec"]["finalizers"].as_array();
        let mut others: Vec<&str> = finalizers
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|it| *it != FINALIZER)
            .collect();
        others.sort_unstable();
        others.dedup();
        body["spec"]["finalizers"] = json!(others);
        self.update(Subresource::FINALIZE, &body)
    }

    fn update(&self, subresource: Subresource, body: &Value) -> Action {
        let version = self.metadata("resourceVersion");
        let target = Target {
            kind: Namespace::KIND,
            name: ObjectName::new("", self.name()),
        };
        let precondition = Precondition {
            uid: Some(self.uid()),
            resource_version: (!version.is_empty()).then(|| version.into()),
        };
        Write::update(target, precondition, Body::of(body))
            .to_subresource(subresource)
            .into()
    }
}
