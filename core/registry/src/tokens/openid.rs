//! What others need to verify tokens: the discovery document and the public key.
//!
//! Upstream: `pkg/routes/openidmetadata.go`, `pkg/serviceaccount/openidmetadata.go`.

use serde_json::json;

use super::ISSUER;
use crate::answer::Answer;
use crate::registry::Registry;

impl Registry {
    /// The document at a path, if it is one of these.
    pub(crate) fn openid(&self, path: &str) -> Option<Answer> {
        let issuer = self.issuer()?;
        match path {
            "/.well-known/openid-configuration" => Some(Answer::document(&json!({
                "issuer": ISSUER,
                "jwks_uri": issuer.keys_url,
                "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": [issuer.signer.algorithm()],
            }))),
            "/openid/v1/jwks" => {
                let mut answer = Answer::document(&json!({"keys": [issuer.signer.public_key()]}));
                answer.content_type = "application/jwk-set+json";
                Some(answer)
            }
            _ => None,
        }
    }
}
