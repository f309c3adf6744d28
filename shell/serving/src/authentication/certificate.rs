//! A client certificate: the common name is the user, the organizations are its groups.

use rustls_pki_types::CertificateDer;
use x509_parser::oid_registry::{Oid, asn1_rs::oid};
use x509_parser::prelude::{FromDer, X509Certificate};

use super::{Objection, Opinion, User};
use crate::digest::{hex, sha256};
use crate::trust::Trust;

/// Upstream's name part for a user's UID (`apimachinery/pkg/apis/asn1/oid.go`).
const USER_UID: Oid<'static> = oid!(1.3.6.1.4.1.57683.2);
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// What the parts of a certificate's subject mean.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) common_name: String,
    organizations: Vec<String>,
    uids: Vec<String>,
}

impl Subject {
    pub(super) fn read(certificate: &CertificateDer<'_>) -> Result<Self, Objection> {
        let (_, parsed) = X509Certificate::from_der(certificate)
            .map_err(|error| Objection(format!("reading the client certificate: {error}")))?;
        let mut subject = Self::default();
        for part in parsed.subject().iter_attributes() {
            let text = part.as_str().map(str::to_owned);
            if *part.attr_type() == x509_parser::oid_registry::OID_X509_COMMON_NAME {
                subject.common_name = text.unwrap_or_default();
            } else if *part.attr_type() == x509_parser::oid_registry::OID_X509_ORGANIZATION_NAME {
                subject.organizations.extend(text);
            } else if *part.attr_type() == USER_UID {
                let unreadable = |_| Objection("unable to parse UID into a string".to_owned());
                subject.uids.push(text.map_err(unreadable)?);
            }
        }
        Ok(subject)
    }
}

/// The user of a certificate that the client CA signed. Without a CA there is no opinion; a certificate of another CA
/// is objected to.
pub(super) fn opinion(trust: &Trust, peer: &[CertificateDer<'static>]) -> Opinion {
    let (Some(authority), [leaf, intermediates @ ..]) = (&trust.client_ca, peer) else {
        return Ok(None);
    };
    authority
        .verify(leaf, intermediates)
        .map_err(|error| Objection(format!("verifying the client certificate: {error}")))?;
    let subject = Subject::read(leaf)?;
    if subject.common_name.is_empty() {
        return Ok(None);
    }
    let uid = match subject.uids.as_slice() {
        [] => String::new(),
        [uid] if !uid.is_empty() => uid.clone(),
        _ => {
            return Err(Objection(
                "the certificate must have one UID, not empty".to_owned(),
            ));
        }
    };
    let credential = format!("X509SHA256={}", hex(&sha256(&[leaf])));
    Ok(Some(User {
        name: subject.common_name,
        uid,
        groups: subject.organizations,
        extra: [(CREDENTIAL_ID.to_owned(), vec![credential])].into(),
    }))
}
