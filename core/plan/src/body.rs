//! The JSON text of a request, shared where many requests send the same.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::Precondition;

/// JSON text to be sent; cheap to clone. Empty if nothing is sent.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Body(Arc<str>);

impl Default for Body {
    fn default() -> Self {
        Self("".into())
    }
}

impl Body {
    /// Wraps JSON text.
    pub fn new(json: impl Into<Arc<str>>) -> Self {
        Self(json.into())
    }

    /// Writes a value as JSON. What controllers send are plain structs and JSON values, whose
    /// keys are strings: writing them cannot fail. Should it ever, the server refuses the
    /// resulting `null`, which is an error like any other.
    pub fn of(value: &impl Serialize) -> Self {
        Self(
            serde_json::to_string(value)
                .unwrap_or_else(|_| "null".to_owned())
                .into(),
        )
    }

    /// A merge patch with its precondition put into its metadata.
    pub fn patch(precondition: &Precondition, patch: serde_json::Value) -> Self {
        let Precondition {
            uid,
            resource_version,
        } = precondition;
        Self::of(&flyball_api::patch::guarded(
            uid.as_ref(),
            resource_version.as_deref(),
            patch,
        ))
    }

    /// The JSON text.
    pub fn json(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
