//! Client certificates: taken from anybody during the handshake, believed only if this plane issued
//! them.
//!
//! A handshake that fails tells a client nothing, so every certificate whose key its owner holds is
//! let in, and whoever cannot be believed is answered 401, as upstream does.

use std::sync::Arc;

use ::ring::digest::{SHA256, digest};
use flyball_api::Text;
use flyball_rbac::{AUTHENTICATED, User};
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{ring, verify_tls13_signature_with_raw_key};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme};
use rustls_pki_types::{CertificateDer, SubjectPublicKeyInfoDer, UnixTime};
use x509_parser::prelude::{FromDer, X509Certificate};

#[cfg(test)]
mod tests;

/// The attribute of a subject that is the user's identity.
const UID: &str = "1.3.6.1.4.1.57683.2";

/// Lets in whoever holds the key of any certificate; asks for those that `checks` would believe.
#[derive(Debug)]
pub(crate) struct AnyCertificate {
    checks: Arc<dyn ClientCertVerifier>,
}

impl AnyCertificate {
    pub(crate) fn new(checks: Arc<dyn ClientCertVerifier>) -> Self {
        Self { checks }
    }
}

impl ClientCertVerifier for AnyCertificate {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.checks.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.checks
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        // Certificates of an older make cannot be checked in any other way; whoever holds the key of
        // one is let in and told later.
        let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
            return Err(CertificateError::BadEncoding.into());
        };
        let key = SubjectPublicKeyInfoDer::from(parsed.public_key().raw);
        let algorithms = &ring::default_provider().signature_verification_algorithms;
        verify_tls13_signature_with_raw_key(message, &key, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.checks.supported_verify_schemes()
    }
}

/// Who showed a certificate at the beginning of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// Nobody did.
    Nothing,
    /// This user, until that second since 1970.
    User(Arc<User>, i64),
    /// Somebody who cannot be believed, and why.
    Refused(String),
}

impl Shown {
    /// Checks the certificates that a client showed, its own first.
    pub(crate) fn of(
        checks: &dyn ClientCertVerifier,
        shown: Option<&[CertificateDer<'_>]>,
        now: UnixTime,
    ) -> Self {
        let Some([own, others @ ..]) = shown else {
            return Self::Nothing;
        };
        let refused = |why: &dyn std::fmt::Display| {
            Self::Refused(format!("verifying the client certificate failed: {why}"))
        };
        if let Err(error) = checks.verify_client_cert(own, others, now) {
            return refused(&error);
        }
        let Ok((_, parsed)) = X509Certificate::from_der(own) else {
            return refused(&"it cannot be read");
        };
        match user_of(own, &parsed) {
            Some(user) => Self::User(Arc::new(user), parsed.validity().not_after.timestamp()),
            None => Self::Nothing,
        }
    }
}

/// The user that a certificate names; none without a common name.
fn user_of(raw: &[u8], parsed: &X509Certificate<'_>) -> Option<User> {
    let subject = parsed.subject();
    let names = subject.iter_common_name();
    let name = names.filter_map(|name| name.as_str().ok()).last()?;
    let groups = subject.iter_organization();
    let mut groups: Vec<&str> = groups.filter_map(|group| group.as_str().ok()).collect();
    if !groups.contains(&AUTHENTICATED) {
        groups.push(AUTHENTICATED);
    }
    let attributes = subject.iter_attributes();
    let uid = attributes
        .filter(|one| one.attr_type().to_id_string() == UID)
        .find_map(|one| one.as_str().ok());
    let print = digest(&SHA256, raw);
    let print: String = print
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let credential = Text::from(format!("X509SHA256={print}"));
    Some(User {
        uid: uid.unwrap_or_default().into(),
        extra: [(
            "authentication.kubernetes.io/credential-id".into(),
            vec![credential],
        )]
        .into(),
        ..User::of_groups(name, &groups)
    })
}
