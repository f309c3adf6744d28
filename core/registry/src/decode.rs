//! Reading what was sent: it must be of the right kind and its fields of the right type.
//!
//! Upstream: `apimachinery/pkg/runtime/serializer`, `apiserver/pkg/endpoints/handlers`.

mod head;

use flyball_protobuf::is_protobuf;
use flyball_schema::{Decoded, builtin, decode, decode_value, strict_message};
use serde_json::Value;

use self::head::Head;
pub(crate) use self::head::{package, summary};
use crate::custom;
use crate::failure::Failure;
use crate::object::Object;
use crate::query::FieldValidation;
use crate::registry::Call;

/// The languages that are spoken here.
const ACCEPTED: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

/// The object that was sent, with what is to be told about it.
pub(crate) fn object(call: &Call<'_>) -> Result<(Object, Vec<String>), Failure> {
    if let Some(custom) = call.resource.of_definition() {
        return custom::object(call, custom);
    }
    check_language(call)?;
    let body = call.request.body;
    let (head, decoded) = if is_protobuf(call.request.content_type) {
        let sent = any(call)?;
        let head = Head::of(&sent);
        (head.or_default(call), decode_value(call.schema(), sent))
    } else {
        let head = Head::read(body).map_err(|why| head::unrecognized(call, &why))?;
        let head = head.or_default(call);
        head.check_kind(call)?;
        (head, decode(call.schema(), body))
    };
    head.check_kind(call)?;
    let decoded = decoded.map_err(|error| head.unhandled(call, &error.to_string()))?;
    let (object, warnings) = settle(call, decoded, |why| head.unhandled(call, why))?;
    head.check_version(call)?;
    Ok((object, warnings))
}

/// Makes an object of what was read or patched before its type was known; `refused` says what is answered if it
/// cannot be one.
pub(crate) fn check(
    call: &Call<'_>,
    sent: Value,
    refused: impl Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    if let Some(custom) = call.resource.of_definition() {
        return custom::check(call, custom, sent, &refused);
    }
    let head = Head::of(&sent).or_default(call);
    if let Some(why) = head.misfit(call) {
        return Err(refused(&why));
    }
    let decoded = decode_value(call.schema(), sent);
    let decoded = decoded.map_err(|error| refused(&error.to_string()))?;
    settle(call, decoded, refused)
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

/// The options of a delete that were sent.
pub(crate) fn delete_options(call: &Call<'_>) -> Result<Value, Failure> {
    if is_protobuf(call.request.content_type) {
        return any(call);
    }
    let body = call.request.body;
    let head = Head::read(body).map_err(Failure::bad_request)?;
    if let Some(why) = head.no_delete_options() {
        return Err(Failure::bad_request(why));
    }
    let Some(schema) = builtin().kind("", "v1", "DeleteOptions") else {
        return any(call);
    };
    let decoded = decode(schema, body);
    let decoded = decoded.map_err(|error| Failure::bad_request(error.to_string()))?;
    Ok(decoded.value)
}

/// The body must be in a language that is spoken here.
pub(crate) fn check_language(call: &Call<'_>) -> Result<(), Failure> {
    let content_type = call.request.content_type.split(';').next();
    let content_type = content_type.unwrap_or_default().trim();
    match ACCEPTED.contains(&content_type) || content_type.is_empty() {
        true => Ok(()),
        false => Err(Failure::unsupported_media_type(ACCEPTED)),
    }
}

fn unreadable(call: &Call<'_>, why: &str) -> Failure {
    let (kind, version) = (&call.resource.kind, &call.resource.version);
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
    ))
}

/// Fields that the object's type does not have are dropped, told or refused, as the query says.
fn settle(
    call: &Call<'_>,
    decoded: Decoded,
    refused: impl Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    let mut object = match decoded.value {
        Value::Object(object) => object,
        Value::Null => Object::new(),
        _ => return Err(refused("it is not an object")),
    };
    let warnings = match call.query.field_validation {
        FieldValidation::Strict if !decoded.strict.is_empty() => {
            return Err(refused(&strict_message(&decoded.strict)));
        }
        FieldValidation::Warn => decoded.strict.iter().map(ToString::to_string).collect(),
        FieldValidation::Strict | FieldValidation::Ignore => Vec::new(),
    };
    let (kind, version) = (call.resource.kind.as_str(), call.resource.api_version());
    object.insert("kind".to_owned(), kind.into());
    object.insert("apiVersion".to_owned(), version.into());
    Ok((object, warnings))
}
