//! Reading custom objects: fields that their schema does not have are dropped, metadata is read as that
//! of any kind, and everything else is left to validation.
//!
//! Upstream: `unstructuredSchemaCoercer` in
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`,
//! `apiserver/pkg/endpoints/handlers/create.go`.

use flyball_schema::{DecodeFailed, Decoded, StrictFault, decode_custom, prune, strict_message};
use serde_json::Value;

use super::embedded;
use super::kind::Custom;
use crate::decode::check_language;
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::object::Object;
use crate::query::FieldValidation;
use crate::registry::Call;

/// How much of a body that cannot be read is told back.
const TOLD_BYTES_MAX: usize = 30;

/// The custom object that was sent, with what is to be told about it.
pub(crate) fn object(call: &Call<'_>, custom: &Custom) -> Result<(Object, Vec<String>), Failure> {
    check_language(call)?;
    let body = call.request.body;
    let parse = |why: &str| {
        unrecognized(
            call,
            &format!("couldn't get version/kind; json parse error: {why}"),
        )
    };
    let decoded = match decode_custom(custom.schema(), body) {
        Ok(decoded) => decoded,
        Err(DecodeFailed::Syntax(why)) => return Err(parse(&why)),
        Err(other) => return Err(unhandled(call, &other.to_string())),
    };
    let noun = match &decoded.value {
        Value::Object(_) => "",
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
    };
    if !noun.is_empty() && noun != "null" {
        return Err(parse(&format!(
            "json: cannot unmarshal {noun} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}"
        )));
    }
    let version = text(&decoded.value, "apiVersion");
    if version.matches('/').count() > 1 {
        let why = format!("unexpected GroupVersion string: {version}");
        return Err(unrecognized(call, &why));
    }
    if text(&decoded.value, "kind").is_empty() {
        let body = String::from_utf8_lossy(body);
        return Err(unrecognized(
            call,
            &format!("Object 'Kind' is missing in '{body}'"),
        ));
    }
    finish(call, custom, decoded, &|why| unhandled(call, why))
}

/// Makes a custom object of what a patch made; `refused` says what is answered if it cannot be one.
pub(crate) fn check(
    call: &Call<'_>,
    custom: &Custom,
    mut sent: Value,
    refused: &dyn Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    let expected = call.resource.api_version();
    let version = text(&sent, "apiVersion");
    if version != expected {
        let error = FieldError::invalid("apiVersion", version, format!("must be {expected}"));
        let (group, kind) = (&call.resource.group, &call.resource.kind);
        let name = sent["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Failure::invalid(group, kind, name, &[error]));
    }
    let strict = prune(custom.schema(), &mut sent);
    let decoded = Decoded {
        value: sent,
        strict,
    };
    finish(call, custom, decoded, refused)
}

/// Metadata is read as that of any kind, which cannot hold what is empty. Owners that are none are a wish.
fn drop_empty(meta: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if let Value::Object(meta) = meta {
        meta.retain(|field, value| field == "managedFields" || !is_empty(value));
    }
}

fn finish(
    call: &Call<'_>,
    custom: &Custom,
    decoded: Decoded,
    refused: &dyn Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    let mut value = decoded.value;
    match embedded::typed(&value["metadata"]) {
        Ok(Value::Null) => {}
        Ok(mut meta) => {
            drop_empty(&mut meta);
            value["metadata"] = meta;
        }
        Err(why) => return Err(refused(&why)),
    }
    if let Some(why) = embedded::unreadable(custom.schema(), &value) {
        return Err(refused(&why));
    }
    let expected = call.resource.api_version();
    let (kind, version) = (text(&value, "kind"), text(&value, "apiVersion"));
    if version != expected {
        return Err(Failure::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        )));
    }
    if kind != call.resource.kind.as_str() {
        let must = format!("must be {}", call.resource.kind);
        let error = FieldError::invalid("kind", kind, must);
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        return Err(Failure::invalid(&call.resource.group, kind, name, &[error]));
    }
    let strict = in_order(decoded.strict);
    let warnings = match call.query.field_validation {
        FieldValidation::Strict if !strict.is_empty() => {
            return Err(refused(&strict_message(&strict)));
        }
        FieldValidation::Warn => strict.iter().map(ToString::to_string).collect(),
        FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
    };
    match value {
        Value::Object(object) => Ok((object, warnings)),
        _ => Err(refused("it is not an object")),
    }
}

/// Faults in the order in which upstream tells them: doubles as they were read, then what is unknown in
/// the metadata, elsewhere, and in the metadata of objects within the object.
fn in_order(mut faults: Vec<StrictFault>) -> Vec<StrictFault> {
    faults.sort_by_cached_key(|fault| match fault {
        StrictFault::Duplicate(_) => (0, String::new()),
        StrictFault::Unknown(path) if path.starts_with("metadata.") => (1, String::new()),
        StrictFault::Unknown(path) if path.contains(".metadata.") => (3, path.clone()),
        StrictFault::Unknown(path) => (2, path.clone()),
    });
    faults
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

fn unhandled(call: &Call<'_>, why: &str) -> Failure {
    let (kind, version) = (&call.resource.kind, &call.resource.version);
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
    ))
}

/// What was sent says not even what it is.
fn unrecognized(call: &Call<'_>, why: &str) -> Failure {
    let body = call.request.body;
    let told = match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => {
            let all = String::from_utf8_lossy(body);
            match all.char_indices().nth(TOLD_BYTES_MAX) {
                Some((end, _)) => format!("{} ...", &all[..end]),
                None => all.into_owned(),
            }
        }
        Some(_) => {
            let shown = body
                .iter()
                .take(TOLD_BYTES_MAX)
                .map(|byte| format!("{byte:02x}"));
            let shown: String = shown.collect();
            match body.len() > TOLD_BYTES_MAX {
                true => format!("{shown} ..."),
                false => shown,
            }
        }
    };
    Failure::bad_request(format!(
        "the object provided is unrecognized (must be of type {}): {why} ({told})",
        call.resource.kind
    ))
}
