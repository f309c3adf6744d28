//! Reading what was sent: it must be of the right kind and its fields of the right type.
//!
//! Upstream: `apimachinery/pkg/runtime/serializer`, `apiserver/pkg/endpoints/handlers`.

mod conversion;
mod head;
mod wanted;

use flyball_protobuf::is_protobuf;
use flyball_schema::{Decoded, convert, decode, decode_value, read_json};
use serde_json::Value;

pub(crate) use self::conversion::unconvertible;
use self::head::Head;
pub(crate) use self::head::{check_head, package, unrecognized};
pub(crate) use self::wanted::Wanted;
use crate::failure::Failure;
use crate::object::Object;
use crate::query::FieldValidation;
use crate::registry::Call;
use crate::{custom, path_lengths};

/// The languages that are spoken here.
const ACCEPTED: &[&str] = &[
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
];

/// The object that was sent, with what is to be told about it.
pub(crate) fn object(call: &Call<'_>) -> Result<(Object, Vec<String>), Failure> {
    if let Some(custom) = call.resource.of_definition()
        && call.path.subresource != "scale"
    {
        return custom::object(call, custom);
    }
    check_language(call)?;
    let body = call.request.body;
    let wanted = Wanted::of(call);
    let unrecognized = |why: String| unrecognized(&wanted, &why, body);
    let sent = match is_protobuf(call.request.content_type) {
        true => Some(protobuf(&wanted, body)?),
        false => None,
    };
    let head = match &sent {
        Some(sent) => Head::of(sent),
        None => Head::read(body),
    };
    let head = head.map_err(unrecognized)?.or_default(&wanted);
    let refused = |why: &str| head.unhandled(&wanted, why);
    // A body of another kind must be one of that kind before it is the wrong one.
    let schema = head.schema(&wanted).map_err(|why| refused(&why))?;
    let decoded = match sent {
        Some(sent) => decode_value(schema, sent),
        None => decode(schema, body),
    };
    let decoded = decoded.map_err(|error| refused(&error.to_string()))?;
    let why = head.misfit(&wanted);
    if let Some(why) = why.or_else(|| unconvertible(&wanted, &decoded.value)) {
        return Err(refused(&why));
    }
    let (object, warnings) = settle(call, &wanted, decoded, Vec::new(), refused)?;
    match head.check_version(&wanted) {
        Ok(()) => Ok((object, warnings)),
        Err(refusal) => Err(refusal.warned(warnings)),
    }
}

/// Makes an object of what was patched as text. `told` is what was found wrong with the patch itself; `refused` says
/// what is answered if there can be no object.
pub(crate) fn check(
    call: &Call<'_>,
    patched: Value,
    told: Vec<String>,
    refused: impl Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    if let Some(custom) = call.resource.of_definition()
        && call.path.subresource != "scale"
    {
        return custom::check(call, custom, patched, told, &refused);
    }
    let wanted = Wanted::of(call);
    let head = Head::of(&patched).map_err(|why| refused(&why))?;
    let head = head.or_default(&wanted);
    let schema = head.schema(&wanted).map_err(|why| refused(&why))?;
    let decoded = decode_value(schema, patched);
    let decoded = decoded.map_err(|error| refused(&error.to_string()))?;
    let why = head.misfit(&wanted);
    if let Some(why) = why.or_else(|| unconvertible(&wanted, &decoded.value)) {
        return Err(refused(&why));
    }
    settle(call, &wanted, decoded, told, refused)
}

/// Makes an object of what was merged with a structure, whatever that says that it is; `unconverted` says what is
/// answered if it has no form to be kept in.
pub(crate) fn merged(
    call: &Call<'_>,
    merged: Value,
    told: Vec<String>,
    refused: impl Fn(&str) -> Failure,
    unconverted: impl Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    let wanted = Wanted::of(call);
    let converted = convert(wanted.schema, merged, &flyball_protobuf::declared_fields);
    let converted = converted.map_err(|error| refused(&error.to_string()))?;
    if let Some(why) = unconvertible(&wanted, &converted.value) {
        return Err(unconverted(&why));
    }
    settle(call, &wanted, converted, told, refused)
}

/// Why it cannot be read what a value says that it is: that is not a text.
pub(crate) fn head_mistake(value: &Value) -> Option<String> {
    let is_odd = |field: &str| !matches!(value[field], Value::Null | Value::String(_));
    (is_odd("kind") || is_odd("apiVersion")).then(|| Head::of(value).err())?
}

/// Whether a body does not say which version it is in.
pub(crate) fn says_no_version(body: &[u8]) -> bool {
    Head::read(body).is_ok_and(|head| head.api_version().is_empty())
}

/// The options of a delete that were sent.
pub(crate) fn delete_options(call: &Call<'_>) -> Result<Value, Failure> {
    let body = call.request.body;
    if is_protobuf(call.request.content_type) {
        return protobuf(&Wanted::of(call), body);
    }
    let head = Head::read(body).map_err(Failure::bad_request)?;
    if let Some(why) = head.no_delete_options() {
        return Err(Failure::bad_request(why));
    }
    read_json(body).map_err(Failure::bad_request)
}

fn protobuf(wanted: &Wanted<'_>, body: &[u8]) -> Result<Value, Failure> {
    let decoded = flyball_protobuf::decode(body).map_err(|error| {
        let (kind, version) = (wanted.kind, wanted.version);
        Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {error}"
        ))
    })?;
    if path_lengths::may_exceed(body) {
        path_lengths::check(decoded.to_string().as_bytes())?;
    }
    Ok(decoded)
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

/// Tells or refuses what is wrong with a text and yet can be read, as the query says.
pub(crate) fn tell_strict(
    call: &Call<'_>,
    faults: Vec<String>,
    refused: impl Fn(&str) -> Failure,
) -> Result<Vec<String>, Failure> {
    match call.query.field_validation {
        FieldValidation::Strict if !faults.is_empty() => Err(refused(&format!(
            "strict decoding error: {}",
            faults.join(", ")
        ))),
        FieldValidation::Warn => Ok(faults),
        FieldValidation::Strict | FieldValidation::Ignore => Ok(Vec::new()),
    }
}

/// Fields that the object's type does not have are dropped, told or refused, as the query says.
fn settle(
    call: &Call<'_>,
    wanted: &Wanted<'_>,
    decoded: Decoded,
    mut told: Vec<String>,
    refused: impl Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    let mut object = match decoded.value {
        Value::Object(object) => object,
        Value::Null => Object::new(),
        _ => return Err(refused("it is not an object")),
    };
    told.extend(decoded.strict.iter().map(ToString::to_string));
    let warnings = tell_strict(call, told, refused)?;
    object.insert("kind".to_owned(), wanted.kind.into());
    object.insert("apiVersion".to_owned(), wanted.api_version().into());
    Ok((object, warnings))
}
