//! CertificateApproval, CertificateSigning and CertificateSubjectRestriction: who may approve and
//! sign for a signer, and what nobody may ask of one.
//!
//! Upstream: `plugin/pkg/admission/certificates`, `pkg/certauthorization`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use der_parser::ber::BerObject;
use der_parser::der::parse_der;
use der_parser::error::BerError;
use flyball_rbac::{Attributes, Resource, Target};
use serde_json::Value;

use super::{Effects, Operation, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Object, at};

const GROUP: &str = "certificates.k8s.io";
const REQUESTS: &str = "certificatesigningrequests";
/// The identity of the field for an organization, 2.5.4.10.
const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";

/// Lets only those approve requests who may do so for their signer.
pub(super) struct CertificateApproval;

impl Plugin for CertificateApproval {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        match review.old {
            Some(old) if review.is_of(GROUP, REQUESTS) && review.subresource == "approval" => {
                check(review, object, old, "approve")
            }
            _ => Ok(()),
        }
    }
}

/// Lets only those write certificates and conditions who may sign for the signer.
pub(super) struct CertificateSigning;

impl Plugin for CertificateSigning {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let Some(old) = review.old else {
            return Ok(());
        };
        if !review.is_of(GROUP, REQUESTS) || review.subresource != "status" {
            return Ok(());
        }
        let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
        let same = |path: &str| {
            let (new, old) = (at(object, path), at(old, path));
            new == old || (is_empty(new) && is_empty(old) && !new.is_string() && !old.is_string())
        };
        if same("status.certificate") && same("status.conditions") {
            return Ok(());
        }
        check(review, object, old, "sign")
    }
}

/// Whether whoever asks may do this for the signer, or for all of its domain.
fn check(review: &Review<'_>, object: &Object, old: &Object, verb: &str) -> Result<(), Failure> {
    let signer = at(old, "spec.signerName").as_str().unwrap_or_default();
    let domain = signer.split('/').next().unwrap_or_default();
    let allowed = [signer, &format!("{domain}/*")].into_iter().any(|name| {
        let target = Target::Resource(Resource {
            group: GROUP,
            resource: "signers",
            name,
            ..Resource::default()
        });
        let attributes = Attributes {
            user: review.user,
            verb,
            target,
        };
        flyball_rbac::authorize(&attributes, review.registry.roles()).allowed
    });
    if allowed {
        return Ok(());
    }
    let why = format!("user not permitted to {verb} requests with signerName {signer:?}");
    Err(review.forbidden(Some(object), why))
}

/// Refuses requests for a certificate of somebody who may do anything.
pub(super) struct CertificateSubjectRestriction;

impl Plugin for CertificateSubjectRestriction {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        _: &mut Effects,
    ) -> Result<(), Failure> {
        let is_new = review.is_about(GROUP, REQUESTS) && review.operation == Operation::Create;
        if !is_new || at(object, "spec.signerName") != CLIENT_SIGNER {
            return Ok(());
        }
        let request = at(object, "spec.request").as_str().unwrap_or_default();
        match organizations(request) {
            Ok(all) if all.iter().any(|one| one == flyball_rbac::MASTERS) => {
                let why = format!(
                    "use of {CLIENT_SIGNER} signer with system:masters group is not allowed"
                );
                Err(review.forbidden(Some(object), why))
            }
            Ok(_) => Ok(()),
            Err(why) => Err(review.forbidden(Some(object), format!("failed to parse CSR: {why}"))),
        }
    }
}

/// The organizations of the subject of a request, which is PEM in base64.
fn organizations(request: &str) -> Result<Vec<String>, String> {
    let not_pem = || "PEM block type must be CERTIFICATE REQUEST".to_owned();
    let text = STANDARD
        .decode(request)
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8(text).map_err(|_| not_pem())?;
    let body = text.split_once("-----BEGIN CERTIFICATE REQUEST-----");
    let body = body.and_then(|(_, rest)| rest.split_once("-----END CERTIFICATE REQUEST-----"));
    let (body, _) = body.ok_or_else(not_pem)?;
    let body: String = body.split_whitespace().collect();
    let der = STANDARD.decode(body).map_err(|error| error.to_string())?;
    let (_, parsed) = parse_der(&der).map_err(|error| error.to_string())?;
    subject_organizations(&parsed).map_err(|error| error.to_string())
}

/// Those parts of a request's subject that name an organization.
fn subject_organizations(request: &BerObject<'_>) -> Result<Vec<String>, BerError> {
    // A request is its content and a signature; its content is a version, the subject, a key.
    let subject = part(part(request, 0)?, 1)?;
    let mut found = Vec::new();
    for names in subject.as_sequence()? {
        for name in names.as_set()? {
            let (kind, value) = (part(name, 0)?, part(name, 1)?);
            if kind.as_oid()?.as_bytes() == ORGANIZATION {
                found.push(String::from_utf8_lossy(value.as_slice()?).into_owned());
            }
        }
    }
    Ok(found)
}

/// One part of a sequence.
fn part<'o, 'a>(object: &'o BerObject<'a>, at: usize) -> Result<&'o BerObject<'a>, BerError> {
    let parts = object.as_sequence()?;
    parts.get(at).ok_or(BerError::BerValueError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_an_error() {
        let pem = |body: &str| {
            let text = format!(
                "-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n"
            );
            STANDARD.encode(text)
        };
        for request in [
            "",
            "!",
            &STANDARD.encode("text"),
            &pem(""),
            &pem("AAAA"),
            // A sequence in a sequence, empty; and one that is longer than it is.
            &pem("MAIwAA=="),
            &pem("MIIF"),
        ] {
            assert!(organizations(request).is_err(), "{request}");
        }
    }
}
