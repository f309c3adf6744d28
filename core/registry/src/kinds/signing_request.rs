//! CertificateSigningRequests: what was asked for stays, and who may say what of it.
//!
//! Upstream: `pkg/registry/certificates/certificates/strategy.go`,
//! `pkg/apis/certificates/validation/validation.go`.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flyball_api::Timestamp;
use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, same};
use super::fill::Fill::Empty;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::meta::stamp;
use crate::object::{Object, at};

const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
const CONDITIONS: &str = "status.conditions";

const USAGES: &[&str] = &[
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

pub(super) static SIGNING_REQUEST: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    fresh_status: true,
    update: |new, old| {
        // A request is what it was; whoever wants another makes another.
        for field in ["spec", "status"] {
            match old.get(field) {
                Some(value) => drop(new.insert(field.to_owned(), value.clone())),
                None => drop(new.remove(field)),
            }
        }
    },
    update_part: prepare_part,
    check_create: |request, errors| check(request, None, errors),
    check_update: |new, old, errors| check(new, Some(old), errors),
    check_part,
    fields: &["spec.signerName"],
    names: NameRule::PathSegment,
    ..Sheet::PLAIN
};

fn conditions(request: &Object) -> &[Value] {
    at(request, CONDITIONS)
        .as_array()
        .map_or(&[][..], Vec::as_slice)
}

fn of_kind<'a>(request: &'a Object, kind: &str) -> Vec<&'a Value> {
    let all = conditions(request).iter();
    all.filter(|one| one["type"] == kind).collect()
}

/// The status says what was issued, the approval what was decided; neither can say the other's.
fn prepare_part(part: &str, new: &mut Object, old: &Object, now: Timestamp) {
    if let Some(spec) = old.get("spec") {
        new.insert("spec".to_owned(), spec.clone());
    }
    let mut all = conditions(new).to_vec();
    if part == "status" {
        for kind in ["Approved", "Denied"] {
            let before = of_kind(old, kind);
            let places: Vec<usize> = (0..all.len())
                .filter(|place| all[*place]["type"] == kind)
                .collect();
            if before.len() == places.len() {
                for (place, before) in places.into_iter().zip(before) {
                    all[place] = before.clone();
                }
            }
        }
    }
    for condition in &mut all {
        if condition["lastUpdateTime"].is_null() {
            condition["lastUpdateTime"] = stamp(now);
        }
        if condition["lastTransitionTime"].is_null() {
            let same = conditions(old).iter().find(|one| {
                one["type"] == condition["type"]
                    && one["status"] == condition["status"]
                    && !one["lastTransitionTime"].is_null()
            });
            let since = same.map(|one| one["lastTransitionTime"].clone());
            condition["lastTransitionTime"] = since.unwrap_or_else(|| stamp(now));
        }
    }
    if part == "approval" {
        let status = old.get("status").cloned().unwrap_or_else(|| json!({}));
        new.insert("status".to_owned(), status);
    }
    if let Some(Value::Object(status)) = new.get_mut("status") {
        match all.is_empty() {
            true => drop(status.remove("conditions")),
            false => drop(status.insert("conditions".to_owned(), all.into())),
        }
    }
}

/// The mistakes in a request; what an older one has already is left to it.
fn check(request: &Object, old: Option<&Object>, errors: &mut Errors) {
    let spec = Spot::of(request, "spec");
    if let Some(why) = request_mistake(spec.get("request").text()) {
        errors.push(spec.get("request").invalid(why));
    }
    let usages = spec.get("usages");
    checks::required(&usages, errors);
    if old.is_none() {
        for usage in usages.items() {
            if !USAGES.contains(&usage.text()) {
                errors.push(usage.not_supported(USAGES));
            }
        }
        let mut seen = BTreeSet::new();
        for usage in usages.items() {
            if !seen.insert(usage.text()) {
                errors.push(usage.duplicate());
            }
        }
    }
    let signer = spec.get("signerName");
    if signer.text() == LEGACY_SIGNER {
        if old.is_none() {
            errors
                .push(signer.invalid("the legacy signerName is not allowed via this API version"));
        }
    } else {
        checks::signer_name(&signer, errors);
    }
    let seconds = spec.get("expirationSeconds");
    if seconds.int().is_some_and(|seconds| seconds < 600) {
        let why = "may not specify a duration less than 600 seconds (10 minutes)";
        errors.push(seconds.invalid(why));
    }
    check_conditions(request, old, errors);
    let certificate = at(request, "status.certificate")
        .as_str()
        .unwrap_or_default();
    let is_kept = old.is_some_and(|old| same(at(old, "status.certificate"), &json!(certificate)));
    if !is_kept && let Some(why) = certificate_mistake(certificate) {
        let told = "<certificate data>";
        errors.push(FieldError::invalid("status.certificate", told, why));
    }
}

fn check_conditions(request: &Object, old: Option<&Object>, errors: &mut Errors) {
    let status = Spot::of(request, "status");
    let all = status.get("conditions");
    let both =
        |one: &Object| !of_kind(one, "Approved").is_empty() && !of_kind(one, "Denied").is_empty();
    let may_be_both = old.is_some_and(both);
    let (mut seen, mut decided) = (BTreeSet::new(), BTreeSet::new());
    for condition in all.items() {
        let kind = condition.get("type");
        if kind.is_empty() {
            errors.push(kind.required(""));
        }
        let is_final = ["Approved", "Denied", "Failed"].contains(&kind.text());
        let known: &[&str] = match is_final {
            true => &["True"],
            false => &["False", "True", "Unknown"],
        };
        checks::one_of(&condition.get("status"), known, errors);
        if ["Approved", "Denied"].contains(&kind.text()) && !may_be_both {
            decided.insert(kind.text());
            if decided.len() > 1 {
                let why = "Approved and Denied conditions are mutually exclusive";
                errors.push(FieldError::invalid(CONDITIONS, kind.text(), why));
            }
        }
        if !seen.insert(kind.text()) {
            errors.push(kind.duplicate());
        }
    }
}

/// What a change through a part may not do.
fn check_part(part: &str, new: &Object, old: &Object, errors: &mut Errors) {
    check(new, Some(old), errors);
    let forbidden = |why: String| FieldError::forbidden(CONDITIONS, why);
    for kind in ["Approved", "Denied", "Failed"] {
        if of_kind(new, kind).len() < of_kind(old, kind).len() {
            let why = format!("updates may not remove a condition of type {kind:?}");
            errors.push(forbidden(why));
        }
    }
    if part == "status" {
        for kind in ["Approved", "Denied"] {
            if of_kind(new, kind).len() > of_kind(old, kind).len() {
                let why = format!("updates may not add a condition of type {kind:?}");
                errors.push(forbidden(why));
            }
        }
    }
    let certificate = |request: &Object| at(request, "status.certificate").clone();
    if part == "status"
        && !same(&certificate(new), &certificate(old))
        && !same(&certificate(old), &Value::Null)
    {
        let why = "updates may not modify existing certificate content";
        errors.push(FieldError::forbidden("status.certificate", why));
    }
}

/// The types of the PEM blocks in a text that is written in base 64.
fn blocks(encoded: &str) -> Vec<String> {
    let bytes = STANDARD.decode(encoded).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let mut found = Vec::new();
    let mut rest = text.as_ref();
    while let Some((_, after)) = rest.split_once("-----BEGIN ") {
        let Some((kind, after)) = after.split_once("-----") else {
            break;
        };
        let end = format!("-----END {kind}-----");
        let Some((body, after)) = after.split_once(end.as_str()) else {
            break;
        };
        let body: String = body.split_whitespace().collect();
        if !STANDARD.decode(body).is_ok_and(|bytes| !bytes.is_empty()) {
            break;
        }
        found.push(kind.to_owned());
        rest = after;
    }
    found
}

/// What is wrong with a request. Its signature is left to whoever signs.
fn request_mistake(encoded: &str) -> Option<&'static str> {
    let found = blocks(encoded);
    let first = found.first().map(String::as_str);
    (first != Some("CERTIFICATE REQUEST")).then_some("PEM block type must be CERTIFICATE REQUEST")
}

fn certificate_mistake(encoded: &str) -> Option<String> {
    if encoded.is_empty() {
        return None;
    }
    let found = blocks(encoded);
    match found.iter().find(|kind| *kind != "CERTIFICATE") {
        Some(other) => Some(format!(
            "only CERTIFICATE PEM blocks are allowed, found {other:?}"
        )),
        None if found.is_empty() => {
            Some("must contain at least one CERTIFICATE PEM block".to_owned())
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pem(kind: &str) -> String {
        STANDARD.encode(format!(
            "-----BEGIN {kind}-----\nAAAA\n-----END {kind}-----\n"
        ))
    }

    #[test]
    fn requests_and_certificates_are_pem() {
        assert_eq!(request_mistake(&pem("CERTIFICATE REQUEST")), None);
        assert!(request_mistake(&pem("CERTIFICATE")).is_some());
        assert!(request_mistake("eA==").is_some());
        assert_eq!(certificate_mistake(&pem("CERTIFICATE")), None);
        assert_eq!(certificate_mistake(""), None);
        assert!(certificate_mistake("eA==").is_some());
        assert!(certificate_mistake(&pem("RSA PRIVATE KEY")).is_some());
    }

    #[test]
    fn an_approval_brings_conditions_and_their_times_only() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let old = object(json!({"spec": {"usages": ["any"]}, "status": {}}));
        let mut new = object(json!({"spec": {}, "status": {
            "certificate": "x",
            "conditions": [{"type": "Approved", "status": "True"}],
        }}));
        prepare_part("approval", &mut new, &old, Timestamp::UNIX_EPOCH);
        assert_eq!(new["spec"], old["spec"]);
        assert!(new["status"]["certificate"].is_null());
        let time = "1970-01-01T00:00:00Z";
        assert_eq!(new["status"]["conditions"][0]["lastUpdateTime"], time);
    }
}
