//! Reading what was sent: it must be of the right kind and its fields of the right type.
//!
//! Upstream: `apimachinery/pkg/runtime/serializer`, `apiserver/pkg/endpoints/handlers`.

use flyball_protobuf::is_protobuf;
use flyball_schema::{Decoded, decode, decode_value, strict_message};
use serde_json::Value;

use crate::custom;
use crate::failure::Failure;
use crate::object::Object;
use crate::query::FieldValidation;
use crate::registry::Call;

/// The languages that are spoken here.
const ACCEPTED: &[&str] = &["application/json", "application/vnd.kubernetes.protobuf"];

/// The object that was sent, with what is to be told about it.
pub(crate) fn object(call: &Call<'_>) -> Result<(Object, Vec<String>), Failure> {
    if let Some(custom) = call.resource.of_definition() {
        return custom::object(call, custom);
    }
    if is_protobuf(call.request.content_type) {
        return check(call, any(call)?);
    }
    check_language(call)?;
    let decoded = decode(call.schema(), call.request.body);
    finish(
        call,
        decoded.map_err(|error| unreadable(call, &error.to_string()))?,
    )
}

/// Makes an object of what was read or patched before its type was known.
pub(crate) fn check(call: &Call<'_>, sent: Value) -> Result<(Object, Vec<String>), Failure> {
    if let Some(custom) = call.resource.of_definition() {
        return custom::check(call, custom, sent);
    }
    let decoded = decode_value(call.schema(), sent);
    finish(
        call,
        decoded.map_err(|error| unreadable(call, &error.to_string()))?,
    )
}

/// What was sent as JSON, whatever it is.
pub(crate) fn any(call: &Call<'_>) -> Result<Value, Failure> {
    if is_protobuf(call.request.content_type) {
        let read = flyball_protobuf::decode(call.request.body);
        return read.map_err(|error| unreadable(call, &error.to_string()));
    }
    check_language(call)?;
    let read = serde_json::from_slice(call.request.body);
    read.map_err(|error| unreadable(call, &error.to_string()))
}

pub(crate) fn check_language(call: &Call<'_>) -> Result<(), Failure> {
    let content_type = call.request.content_type.split(';').next();
    match content_type.unwrap_or_default().trim() {
        "" | "application/json" => Ok(()),
        _ => Err(Failure::unsupported_media_type(ACCEPTED)),
    }
}

fn unreadable(call: &Call<'_>, why: &str) -> Failure {
    let (kind, version) = (&call.resource.kind, &call.resource.version);
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
    ))
}

/// The object must be of the kind of its path; fields that its type does not have are dropped, told
/// or refused, as the query says.
fn finish(call: &Call<'_>, decoded: Decoded) -> Result<(Object, Vec<String>), Failure> {
    let (kind, version) = (call.resource.kind.as_str(), call.resource.api_version());
    let Value::Object(mut object) = decoded.value else {
        return Err(unreadable(call, "it is not an object"));
    };
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let (sent_kind, sent_version) = (text("kind"), text("apiVersion"));
    if !sent_version.is_empty() && sent_version != version {
        return Err(Failure::bad_request(format!(
            "the API version in the data ({sent_version}) does not match the expected API version ({version})"
        )));
    }
    if !sent_kind.is_empty() && sent_kind != kind {
        return Err(Failure::bad_request(format!(
            "{sent_kind} in version {:?} cannot be handled as a {kind}: converting ({sent_kind}) to ({kind}) is not \
             possible",
            call.resource.version
        )));
    }
    let warnings = match call.query.field_validation {
        FieldValidation::Strict if !decoded.strict.is_empty() => {
            return Err(unreadable(call, &strict_message(&decoded.strict)));
        }
        FieldValidation::Warn => decoded.strict.iter().map(ToString::to_string).collect(),
        FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
    };
    object.insert("kind".to_owned(), kind.into());
    object.insert("apiVersion".to_owned(), version.into());
    Ok((object, warnings))
}
