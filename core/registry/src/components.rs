//! ComponentStatuses: what the server asks of those that it is made of, whenever somebody wants to know.
//!
//! Here that is the store alone: scheduler and controllers have no address to be asked at.
//!
//! Upstream: `pkg/registry/core/componentstatus/rest.go`.

use flyball_schema::Resource;
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::registry::Call;

const STORE: &str = "etcd-0";

/// Whether a resource is that of components.
pub(crate) fn are(resource: &Resource) -> bool {
    resource.plural == "componentstatuses" && resource.group.is_empty()
}

/// The state of one component, or of all. The store is well if there is an answer at all.
pub(crate) fn answer(call: &Call<'_>) -> Result<Answer, Failure> {
    let store = json!({
        "metadata": {"name": STORE},
        "conditions": [{"type": "Healthy", "status": "True", "message": "ok"}],
    });
    let name = call.path.name.as_str();
    match name {
        "" => Ok(Answer::document(&json!({
            "kind": call.resource.list_kind,
            "apiVersion": call.resource.api_version(),
            "metadata": {},
            "items": [store],
        }))),
        STORE => {
            let mut one: Value = store;
            one["kind"] = call.resource.kind.as_str().into();
            one["apiVersion"] = call.resource.api_version().into();
            Ok(Answer::document(&one))
        }
        name => {
            let message = format!("componentstatus {name:?} not found");
            let missing = Failure::new(404, "NotFound", message);
            Err(missing.about_named("", "componentstatus", name))
        }
    }
}
