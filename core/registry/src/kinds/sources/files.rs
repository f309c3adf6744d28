//! Volumes whose files the server fills: secrets, config maps, fields of the pod, and several of them in one.

use std::collections::BTreeSet;

use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::labels;
use crate::kinds::pod::field_refs;
use crate::kinds::spot::{Errors, Spot};

const KEY_TYPES: &[&str] = &[
    "RSA3072",
    "RSA4096",
    "ECDSAP256",
    "ECDSAP384",
    "ECDSAP521",
    "ED25519",
];
const TOKEN_SECONDS_MIN: i64 = 600;
const TOKEN_SECONDS_MAX: i64 = 1 << 32;
const CERTIFICATE_SECONDS_MIN: i64 = 3600;
const CERTIFICATE_SECONDS_MAX: i64 = 7_862_400;
const KUBERNETES_CERTIFICATE_SECONDS_MAX: i64 = 86_400;

/// The mistakes in a source of files.
pub(super) fn check(field: &str, source: &Spot, errors: &mut Errors) {
    match field {
        "secret" => checks::required(&source.get("secretName"), errors),
        "configMap" => checks::required(&source.get("name"), errors),
        _ => true,
    };
    checks::file_mode(&source.get("defaultMode"), errors);
    let items = source.get("items");
    match field {
        "projected" => check_projected(source, errors),
        "downwardAPI" => {
            for item in items.items() {
                // Upstream does not say which item it is.
                field_refs::check_file(&item, source, errors);
            }
        }
        _ => items.items().for_each(|item| check_key(&item, errors)),
    }
}

/// A key and the path of its file.
fn check_key(item: &Spot, errors: &mut Errors) {
    checks::required(&item.get("key"), errors);
    let path = item.get("path");
    checks::required(&path, errors);
    checks::local_path(&path, errors);
    checks::file_mode(&item.get("mode"), errors);
}

fn check_projected(source: &Spot, errors: &mut Errors) {
    let mut paths = BTreeSet::new();
    let mut take = |path: &str, told: &str, errors: &mut Errors| {
        if !path.is_empty() && !paths.insert(path.to_owned()) {
            let why = "conflicting duplicate paths";
            errors.push(FieldError::invalid(source.path(), told, why));
        }
    };
    let sources = source.get("sources");
    for part in sources.items() {
        for field in ["secret", "configMap"] {
            let keys = part.get(field);
            if !keys.is_set() {
                continue;
            }
            let name = keys.get("name");
            checks::required(&name, errors);
            let items = keys.get("items");
            for item in items.items() {
                check_key(&item, errors);
                take(item.get("path").text(), name.text(), errors);
            }
        }
        let fields = part.get("downwardAPI");
        let items = fields.get("items");
        for item in items.items() {
            field_refs::check_file(&item, &fields, errors);
            take(item.get("path").text(), item.get("path").text(), errors);
        }
        let token = part.get("serviceAccountToken");
        if token.is_set() {
            check_token(&token, source, errors);
        }
        let bundle = part.get("clusterTrustBundle");
        if bundle.is_set() {
            check_bundle(&bundle, errors);
            take(bundle.get("path").text(), bundle.get("path").text(), errors);
        }
        let certificate = part.get("podCertificate");
        if certificate.is_set() {
            check_certificate(&certificate, errors);
            let fields = ["credentialBundlePath", "keyPath", "certificateChainPath"];
            let given = fields.map(|field| certificate.get(field));
            for path in given.iter().filter(|path| !path.is_empty()) {
                checks::local_path(path, errors);
                take(path.text(), path.text(), errors);
            }
            if given.iter().all(Spot::is_empty) {
                errors.push(certificate.required(
                    "specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
                ));
            }
        }
        if part.entries().filter(|(_, value)| !value.is_null()).count() > 1 {
            errors.push(part.forbidden("may not specify more than 1 volume type per source"));
        }
    }
}

fn check_token<'v>(token: &Spot<'_, 'v>, source: &Spot<'_, 'v>, errors: &mut Errors) {
    let seconds = token.get("expirationSeconds");
    if seconds.number() < TOKEN_SECONDS_MIN {
        errors.push(seconds.invalid_number("may not specify a duration less than 10 minutes"));
    }
    if seconds.number() > TOKEN_SECONDS_MAX {
        errors.push(seconds.invalid_number("may not specify a duration larger than 2^32 seconds"));
    }
    // Upstream tells of it as if it were a field of the whole volume.
    let path = source.told_as("path", token.get("path").value());
    if checks::required(&path, errors) {
        checks::local_path(&path, errors);
    }
}

fn check_bundle(bundle: &Spot, errors: &mut Errors) {
    let (name, signer, selector) = (
        bundle.get("name"),
        bundle.get("signerName"),
        bundle.get("labelSelector"),
    );
    match (name.is_set(), signer.is_set()) {
        (true, true) => {
            errors.push(bundle.invalid("only one of name and signerName may be used"));
        }
        (true, false) => {
            if name.is_empty() {
                errors.push(name.required("must be a valid object name"));
            }
            let wrong = crate::names::mistakes(NameRule::Subdomain, name.text(), false);
            let told = |why: String| format!("not a valid clustertrustbundlename: {why}");
            errors.extend(wrong.into_iter().map(|why| name.invalid(told(why))));
            if selector.is_set() {
                errors.push(selector.invalid("labelSelector must be unset if name is specified"));
            }
        }
        (false, true) => {
            if signer.is_empty() {
                errors.push(signer.required("must be a valid signer name"));
            }
            checks::signer_name(&signer, errors);
            labels::check_selector(&selector, errors);
        }
        (false, false) => {
            errors.push(bundle.required("either name or signerName must be specified"));
        }
    }
    let path = bundle.get("path");
    checks::required(&path, errors);
    checks::local_path(&path, errors);
}

fn check_certificate(certificate: &Spot, errors: &mut Errors) {
    let signer = certificate.get("signerName");
    checks::signer_name(&signer, errors);
    let kind = certificate.get("keyType");
    if !KEY_TYPES.contains(&kind.text()) {
        errors.push(kind.not_supported(KEY_TYPES));
    }
    let seconds = certificate.get("maxExpirationSeconds");
    let Some(number) = seconds.int() else { return };
    if number < CERTIFICATE_SECONDS_MIN {
        let why = "if provided, maxExpirationSeconds must be >= 3600";
        errors.push(seconds.invalid(why));
    }
    let most = match signer.text().starts_with("kubernetes.io/") {
        true => KUBERNETES_CERTIFICATE_SECONDS_MAX,
        false => CERTIFICATE_SECONDS_MAX,
    };
    if number > most {
        let why = format!("if provided, maxExpirationSeconds must be <= {most}");
        errors.push(seconds.invalid(why));
    }
}
