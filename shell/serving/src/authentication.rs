//! Who? Four ways to be somebody, tried in upstream's order: a front proxy's headers, a client certificate, a bearer
//! token, nobody.
//!
//! The first way that recognises the caller wins, whatever the others think: a valid token helps beside a certificate
//! of an unknown CA. When nobody recognises the caller but somebody objected, the answer is 401; anonymous are only
//! those who did not try. (Upstream: `authenticatorfactory/delegating.go`, `request/union`.)

use std::collections::BTreeMap;

use http::HeaderMap;
use rustls_pki_types::CertificateDer;

use crate::trust::TrustSource;

mod certificate;
mod proxy;
mod token;

use token::Tokens;

const ANONYMOUS: &str = "system:anonymous";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";

/// Somebody, or the anonymous nobody.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    fn anonymous() -> Self {
        Self {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..Self::default()
        }
    }

    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS || self.groups.iter().any(|group| group == UNAUTHENTICATED)
    }

    /// Everybody who was recognised is a member of `system:authenticated`.
    fn recognised(mut self) -> Self {
        let settled = |group: &String| group == AUTHENTICATED || group == UNAUTHENTICATED;
        if self.name != ANONYMOUS && !self.groups.iter().any(settled) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}

/// Why a way of authentication objects. For the log only: the caller learns nothing but 401.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Objection(String);

/// What one way of authentication makes of a request: somebody, no opinion, or an objection.
type Opinion = Result<Option<User>, Objection>;

/// All ways of authentication.
pub(crate) struct Authenticator {
    trust: std::sync::Arc<TrustSource>,
    tokens: Option<Tokens>,
}

impl Authenticator {
    pub(crate) fn new(
        options: &crate::AuthenticationOptions,
        trust: std::sync::Arc<TrustSource>,
    ) -> Self {
        Self {
            trust,
            tokens: Tokens::new(options),
        }
    }

    /// The caller behind a request that came with the certificates `peer`.
    pub(crate) async fn authenticate(
        &self,
        peer: &[CertificateDer<'static>],
        headers: &HeaderMap,
    ) -> Result<User, Objection> {
        let trust = self.trust.current();
        let mut objections = Vec::new();
        for opinion in [
            proxy::opinion(&trust, peer, headers),
            certificate::opinion(&trust, peer),
        ] {
            match opinion {
                Ok(Some(user)) => return Ok(user.recognised()),
                Ok(None) => {}
                Err(Objection(why)) => objections.push(why),
            }
        }
        if let Some(tokens) = &self.tokens {
            match tokens.opinion(headers).await {
                Ok(Some(user)) => return Ok(user.recognised()),
                Ok(None) => {}
                Err(Objection(why)) => objections.push(why),
            }
        }
        if objections.is_empty() {
            Ok(User::anonymous())
        } else {
            Err(Objection(objections.join("; ")))
        }
    }
}

#[cfg(test)]
mod tests;
