//! Who am I, and whose token is this.
//!
//! Upstream: `pkg/registry/authentication/{selfsubjectreview,tokenreview}`.

use serde_json::{Value, json};

use crate::meta::stamp;
use crate::object::Object;
use crate::registry::Call;

/// Tells whoever asks who they are.
pub(super) fn who(call: &Call<'_>) -> Object {
    let mut answer = Object::new();
    let user = serde_json::to_value(call.request.user).unwrap_or_default();
    for (field, value) in [
        ("kind", Value::from(call.resource.kind.as_str())),
        ("apiVersion", call.resource.api_version().into()),
        (
            "metadata",
            json!({"creationTimestamp": stamp(call.request.now)}),
        ),
        ("status", json!({"userInfo": user})),
    ] {
        answer.insert(field.to_owned(), value);
    }
    answer
}
