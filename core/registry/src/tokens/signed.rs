//! Claims with a signature, in one word: JWS compact serialization (RFC 7515).

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD, URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::{Value, json};

use super::identify::TokenRefused;
use super::{Claims, ISSUER, Signer, SigningFailed};

/// Reads what Go reads: bits at the end that mean nothing are passed over.
const READING: GeneralPurpose = GeneralPurpose::new(
    &alphabet::URL_SAFE,
    NO_PAD.with_decode_allow_trailing_bits(true),
);

/// A token that says this.
pub(super) fn write(signer: &dyn Signer, claims: &Claims) -> Result<String, SigningFailed> {
    let head = json!({"alg": signer.algorithm(), "kid": signer.key_id()});
    let claims = serde_json::to_vec(claims).map_err(|_| SigningFailed)?;
    let head = URL_SAFE_NO_PAD.encode(head.to_string());
    let message = format!("{head}.{}", URL_SAFE_NO_PAD.encode(claims));
    let signature = signer.sign(message.as_bytes())?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

/// What a token says, if this signer signed it.
pub fn open(signer: &dyn Signer, token: &str) -> Result<Claims, TokenRefused> {
    let foreign = TokenRefused::foreign;
    let parts: Vec<&str> = token.split('.').collect();
    let [head, body, signature] = parts.as_slice() else {
        return Err(foreign());
    };
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Issued {
        iss: String,
    }
    let read = |part: &str| READING.decode(part).map_err(|_| foreign());
    let body = (read(body)?, format!("{head}.{body}"));
    let issued: Issued = serde_json::from_slice(&body.0).map_err(|_| foreign())?;
    let head: Value = serde_json::from_slice(&read(head)?).map_err(|_| foreign())?;
    let Ok(signature) = read(signature) else {
        return Err(foreign());
    };
    if issued.iss != ISSUER || !head["alg"].is_string() {
        return Err(foreign());
    }
    let key = head["kid"].as_str().unwrap_or_default();
    if !key.is_empty() && key != signer.key_id() {
        return Err(TokenRefused::ours("invalid signature, no keys found"));
    }
    // Only one algorithm is believed, whatever the token says about itself.
    let is_genuine =
        head["alg"] == signer.algorithm() && signer.verifies(body.1.as_bytes(), &signature);
    if !is_genuine {
        let why = "go-jose/go-jose: error in cryptographic primitive";
        return Err(TokenRefused::ours(why));
    }
    serde_json::from_slice(&body.0).map_err(|error| TokenRefused::ours(error.to_string()))
}
