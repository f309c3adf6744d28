//! Bodies as everybody else here reads them: as JSON, and as text.
//!
//! YAML becomes JSON before anything looks at it, as upstream does. Bytes that are no text become
//! marks, which is what Go's decoder makes of them, and so do halves of UTF-16 pairs.
//!
//! Upstream: `apimachinery/pkg/runtime/serializer/json/json.go`.

use std::borrow::Cow;

use crate::custom;
use crate::decode::{Wanted, check_head, unrecognized};
use crate::failure::Failure;
use crate::path_lengths;
use crate::query::FieldValidation;
use crate::registry::Call;
use crate::request::Method;
use crate::surrogates;

/// What was sent, as JSON.
pub(crate) struct Sent<'a> {
    /// The body.
    pub(crate) body: Cow<'a, [u8]>,
    /// What it is written in now.
    pub(crate) content_type: &'a str,
    /// What is to be told about it.
    pub(crate) warnings: Vec<String>,
    /// The keys that something applied names twice.
    pub(crate) doubles: Vec<String>,
}

/// Reads the body of a call.
pub(crate) fn read<'a>(call: &Call<'a>) -> Result<Sent<'a>, Failure> {
    let (body, content_type) = (call.request.body, call.request.content_type);
    let language = content_type.split(';').next().unwrap_or_default().trim();
    let is_yaml = language == "application/yaml";
    let is_applied = language == "application/apply-patch+yaml";
    let is_text = language.is_empty() || language.ends_with("json") || is_applied;
    let mended = match is_text {
        true => surrogates::mended(body),
        false => Cow::Borrowed(body),
    };
    // What is JSON is read as such: it is YAML as well, but not to every parser.
    if is_yaml || (is_applied && !is_json(&mended)) {
        let text = String::from_utf8_lossy(body);
        let found = flyball_yaml::read(&text).map_err(|error| unreadable(call, is_yaml, &error))?;
        let mut warnings = Vec::new();
        let mut doubles = Vec::new();
        match call.query.field_validation {
            // What is applied is applied before its keys are looked at.
            _ if is_applied => doubles = found.duplicates,
            FieldValidation::Strict if !found.duplicates.is_empty() => {
                return Err(twice(call, &found.duplicates));
            }
            FieldValidation::Warn => warnings = found.duplicates,
            FieldValidation::Strict | FieldValidation::Ignore => {}
        }
        let is_object = matches!(call.request.method, Method::Post | Method::Put);
        let json = found.value.to_string().into_bytes();
        path_lengths::check(&json)?;
        if is_yaml && is_object {
            let wanted = Wanted::of(call);
            check_head(&wanted, &json, body)?;
            let has_kind = found.value["kind"]
                .as_str()
                .is_some_and(|kind| !kind.is_empty());
            let is_loose = call.query.field_validation == FieldValidation::Ignore;
            let is_custom = call.resource.of_definition().is_some();
            if is_custom && !has_kind && !is_loose && call.path.subresource != "scale" {
                return Err(custom::kindless(call, &wanted, &found.value, body));
            }
        }
        return Ok(Sent {
            body: json.into(),
            content_type: if is_yaml {
                "application/json"
            } else {
                content_type
            },
            warnings,
            doubles,
        });
    }
    let starts = body.iter().find(|byte| !byte.is_ascii_whitespace());
    let body = match std::str::from_utf8(&mended) {
        Err(_) if is_text && matches!(starts, Some(b'{' | b'[')) => {
            let text = String::from_utf8_lossy(&mended);
            text.into_owned().into_bytes().into()
        }
        _ => mended,
    };
    if is_text {
        path_lengths::check(&body)?;
    }
    let doubles = match is_applied {
        true => doubles(&body),
        false => Vec::new(),
    };
    Ok(Sent {
        body,
        content_type,
        warnings: Vec::new(),
        doubles,
    })
}

/// The keys that JSON names twice, as who reads YAML tells them.
fn doubles(body: &[u8]) -> Vec<String> {
    match flyball_schema::read_json_strict(body) {
        Ok((_, twice)) if !twice.is_empty() => {
            let read = flyball_yaml::read(&String::from_utf8_lossy(body));
            read.map(|read| read.duplicates).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

fn unreadable(call: &Call<'_>, is_yaml: bool, error: &flyball_yaml::ReadFailed) -> Failure {
    match is_yaml {
        true => unrecognized(&Wanted::of(call), &error.to_string(), call.request.body),
        false => Failure::bad_request(format!(
            "error decoding YAML: error converting YAML to JSON: {error}"
        )),
    }
}

/// Keys that are there twice, where that is not allowed.
fn twice(call: &Call<'_>, duplicates: &[String]) -> Failure {
    let (kind, version) = (&call.resource.kind, &call.resource.version);
    let told = duplicates.join("\n  ");
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: yaml: unmarshal \
         errors:\n  {told}"
    ))
}
