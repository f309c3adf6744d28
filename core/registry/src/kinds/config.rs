//! ConfigMaps, Secrets and ServiceAccounts.
//!
//! Upstream: `pkg/apis/core/v1/{defaults,conversion}.go`, `ValidateConfigMap` and `ValidateSecret` in
//! `pkg/apis/core/validation/validation.go`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::checks;
use super::fill::Fill::Text;
use super::fill::map_in;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Meta, Object};

/// The most bytes that all values of one object may have.
const SIZE_MAX: usize = 1 << 20;
const FROZEN: &str = "field is immutable when `immutable` is set";

pub(super) static CONFIG_MAP: Sheet = Sheet {
    check: check_config_map,
    check_whole_update: Some(|new, old, errors| {
        check_frozen(new, old, &["data", "binaryData"], errors);
        check_config_map(new, errors);
    }),
    // Data that are not there are filled in as empty, so that nothing has changed if they are sent so.
    check_emptied: |emptied, old, errors| {
        check_emptied(emptied, old, &["binaryData"], errors);
    },
    ..Sheet::PLAIN
};

pub(super) static SECRET: Sheet = Sheet {
    defaults: &[("type", Text("Opaque"))],
    default: encode_texts,
    check: check_secret,
    check_whole_update: Some(|new, old, errors| {
        let kind = Spot::of(new, "type");
        checks::immutable(&kind, old.get("type").unwrap_or(&Value::Null), errors);
        check_frozen(new, old, &["data"], errors);
        check_secret(new, errors);
    }),
    check_emptied: |emptied, old, errors| check_emptied(emptied, old, &["data"], errors),
    fields: &["type"],
    ..Sheet::PLAIN
};

pub(super) static SERVICE_ACCOUNT: Sheet = Sheet {
    create: |account, _| keep_secret_names(account),
    update: |new, _| keep_secret_names(new),
    ..Sheet::PLAIN
};

/// Of a referenced secret only the name counts.
fn keep_secret_names(account: &mut Object) {
    if let Some(Value::Array(secrets)) = account.get_mut("secrets") {
        for secret in secrets.iter_mut().filter_map(Value::as_object_mut) {
            secret.retain(|field, _| field == "name");
        }
    }
}

/// Texts are only a way of writing; what is kept is data.
fn encode_texts(secret: &mut Object) {
    let Some(Value::Object(texts)) = secret.remove("stringData") else {
        return;
    };
    if let Some(data) = map_in(secret, "data").filter(|_| !texts.is_empty()) {
        for (key, text) in texts {
            let text = text.as_str().unwrap_or_default();
            data.insert(key, STANDARD.encode(text).into());
        }
    }
}

/// How many bytes a base64 text stands for.
pub(super) fn decoded_len(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}

fn check_frozen(new: &Object, old: &Object, fields: &[&'static str], errors: &mut Errors) {
    if old.get("immutable") != Some(&Value::Bool(true)) {
        return;
    }
    if new.get("immutable") != Some(&Value::Bool(true)) {
        errors.push(FieldError::forbidden("immutable", FROZEN));
    }
    for field in fields {
        let entries = |object: &Object| match object.get(*field) {
            Some(Value::Object(entries)) if !entries.is_empty() => Some(entries.clone()),
            _ => None,
        };
        if entries(new) != entries(old) {
            errors.push(FieldError::forbidden(*field, FROZEN));
        }
    }
}

/// What has nothing in it is a change of what is not there.
fn check_emptied(emptied: &[String], old: &Object, fields: &[&'static str], errors: &mut Errors) {
    if old.get("immutable") != Some(&Value::Bool(true)) {
        return;
    }
    for field in fields {
        if old.get(*field).is_none() && emptied.iter().any(|place| place == field) {
            errors.push(FieldError::forbidden(*field, FROZEN));
        }
    }
}

fn check_config_map(object: &Object, errors: &mut Errors) {
    let (data, binary) = (Spot::of(object, "data"), Spot::of(object, "binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        let spot = data.key(key);
        checks::config_key(&spot, key, errors);
        if binary.value().get(key).is_some() {
            let why = "duplicate of key present in binaryData";
            errors.push(FieldError::invalid(spot.path(), key.as_str(), why));
        }
        size += value.as_str().unwrap_or_default().len();
    }
    for (key, value) in binary.entries() {
        checks::config_key(&binary.key(key), key, errors);
        size += decoded_len(value.as_str().unwrap_or_default());
    }
    if size > SIZE_MAX {
        errors.push(Spot::root("", &Value::Null).too_long(SIZE_MAX));
    }
}

fn check_secret(secret: &Object, errors: &mut Errors) {
    let data = Spot::of(secret, "data");
    let mut size = 0;
    for (key, value) in data.entries() {
        checks::config_key(&data.key(key), key, errors);
        size += decoded_len(value.as_str().unwrap_or_default());
    }
    if size > SIZE_MAX {
        errors.push(data.too_long(SIZE_MAX));
    }
    let no_data = Map::new();
    let given = data.value().as_object().unwrap_or(&no_data);
    let mut require = |keys: &[&str]| {
        for key in keys.iter().filter(|key| !given.contains_key(**key)) {
            errors.push(FieldError::required(format!("data[{key}]"), ""));
        }
    };
    match secret
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
    {
        "kubernetes.io/service-account-token" => {
            let key = "kubernetes.io/service-account.name";
            let name = secret.meta()["annotations"][key]
                .as_str()
                .unwrap_or_default();
            if name.is_empty() {
                errors.push(FieldError::required(
                    format!("metadata.annotations[{key}]"),
                    "",
                ));
            }
        }
        "kubernetes.io/dockercfg" => {
            require(&[".dockercfg"]);
            check_json(&data, ".dockercfg", errors);
        }
        "kubernetes.io/dockerconfigjson" => {
            require(&[".dockerconfigjson"]);
            check_json(&data, ".dockerconfigjson", errors);
        }
        // One of the two is enough.
        "kubernetes.io/basic-auth"
            if !given.contains_key("username") && !given.contains_key("password") =>
        {
            require(&["username", "password"]);
        }
        "kubernetes.io/ssh-auth" if data.key("ssh-privatekey").is_empty() => {
            errors.push(FieldError::required("data[ssh-privatekey]", ""));
        }
        "kubernetes.io/tls" => require(&["tls.crt", "tls.key"]),
        _ => {}
    }
}

/// A value that must be JSON, which is not shown.
fn check_json(data: &Spot, key: &'static str, errors: &mut Errors) {
    let value = data.key(key);
    let Some(text) = value.value().as_str() else {
        return;
    };
    let bytes = STANDARD.decode(text).unwrap_or_default();
    if let Some(why) = flyball_schema::json_mistake(&bytes) {
        let told = "<secret contents redacted>";
        errors.push(FieldError::invalid(value.path(), told, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn four_letters_stand_for_three_bytes() {
        for (length, text) in [
            (0, ""),
            (1, "Zg=="),
            (2, "Zm8="),
            (3, "Zm9v"),
            (4, "Zm9vYg=="),
        ] {
            assert_eq!(decoded_len(text), length, "{text}");
        }
    }

    #[test]
    fn texts_of_a_secret_win_over_its_data() {
        let mut secret = json!({"data": {"a": "eA=="}, "stringData": {"a": "f", "b": "fo"}});
        encode_texts(secret.as_object_mut().unwrap());
        assert_eq!(secret, json!({"data": {"a": "Zg==", "b": "Zm8="}}));
    }

    #[test]
    fn an_object_holds_a_mebibyte() {
        for (size, fits) in [(SIZE_MAX, true), (SIZE_MAX + 1, false)] {
            let object = json!({"data": {"a": "x".repeat(size)}});
            let mut errors = Vec::new();
            check_config_map(object.as_object().unwrap(), &mut errors);
            assert_eq!(errors.is_empty(), fits, "{size}");
        }
    }
}
