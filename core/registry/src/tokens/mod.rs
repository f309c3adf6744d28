//! Tokens of service accounts: issued on request, and believed as long as what they speak of exists.
//!
//! A token is a JWT: claims about an account and perhaps the pod, secret or node that it is bound to,
//! with a signature (`signed`). Making signatures needs a key and chance, so it is done by a [`Signer`]
//! from outside. `issue` answers TokenRequests, `identify` says whom a token speaks for, `openid` is
//! what others need to verify one.
//!
//! Upstream: `pkg/serviceaccount`, `pkg/registry/core/serviceaccount/storage/token.go`.

mod claims;
mod identify;
mod issue;
mod openid;
mod signed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::Value;

pub use claims::Claims;
pub use identify::{Identified, TokenRefused};
pub use signed::open as open_token;

/// Who issues tokens; also whom they are for if nobody says otherwise.
pub const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// Makes signatures and knows its own.
pub trait Signer: Send + Sync {
    /// What signatures are called in the head of a token, such as `ES256`.
    fn algorithm(&self) -> &'static str;
    /// The name of the key.
    fn key_id(&self) -> &str;
    /// A signature of a message.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SigningFailed>;
    /// Whether a signature of a message was made with this key.
    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool;
    /// The public key as a JSON Web Key.
    fn public_key(&self) -> Value;
}

/// A signature could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SigningFailed;

/// What a registry needs to issue tokens.
#[derive(Clone)]
pub struct Issuer {
    /// Makes signatures.
    pub signer: Arc<dyn Signer>,
    /// Where others find the public key.
    pub keys_url: String,
}
