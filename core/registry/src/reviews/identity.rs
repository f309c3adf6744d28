//! Who am I, and whose token is this.
//!
//! Upstream: `pkg/registry/authentication/{selfsubjectreview,tokenreview}`.

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::meta::stamp;
use crate::object::{Object, at};
use crate::registry::{Call, Registry};

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

impl Registry {
    /// Tells whose a token is.
    pub(super) fn whose(&self, call: &Call<'_>, mut review: Object) -> Result<Object, Failure> {
        let token = at(&review, "spec.token").as_str().unwrap_or_default();
        // Upstream reads it as the word after "Bearer" in a header.
        let token = token.split(' ').next().unwrap_or_default();
        if token.is_empty() {
            let message = "token is required for TokenReview in authentication";
            return Err(Failure::bad_request(message));
        }
        let audiences = at(&review, "spec.audiences").as_array();
        let audiences = audiences.into_iter().flatten().filter_map(Value::as_str);
        let audiences: Vec<String> = audiences.map(str::to_owned).collect();
        let status = match self.identify_token(token, &audiences, call.request.now) {
            Ok(found) => json!({
                "authenticated": true, "user": found.user, "audiences": found.audiences,
            }),
            Err(refused) => json!({"user": {}, "error": refused.0}),
        };
        review.insert("status".to_owned(), status);
        Ok(review)
    }
}
