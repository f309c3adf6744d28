//! Reading custom objects: fields that their schema does not have are dropped, metadata is read as that
//! of any kind, and everything else is left to validation.
//!
//! Upstream: `unstructuredSchemaCoercer` in
//! `apiextensions-apiserver/pkg/apiserver/customresource_handler.go`,
//! `apiserver/pkg/endpoints/handlers/create.go`.

use flyball_schema::{Decoded, StrictFault, decode_custom, drop_nulls, prune, read_json};
use serde_json::Value;

use super::embedded;
use super::kind::Custom;
use crate::decode::{Wanted, check_head, check_language, head_mistake, tell_strict, unrecognized};
use crate::failure::Failure;
use crate::field_error::FieldError;
use crate::object::Object;
use crate::query::FieldValidation;
use crate::registry::Call;
use crate::request::Method;

/// The custom object that was sent, with what is to be told about it.
pub(crate) fn object(call: &Call<'_>, custom: &Custom) -> Result<(Object, Vec<String>), Failure> {
    check_language(call)?;
    let body = call.request.body;
    let wanted = Wanted::of(call);
    check_head(&wanted, body, body)?;
    let mut decoded = decode_custom(custom.schema(), body)
        .map_err(|error| unhandled(call, &error.to_string()))?;
    decoded.strict = by_its_own_schema(call, custom, decoded.strict, &decoded.value, || {
        read_json(body).unwrap_or_default()
    });
    drop_nulls(custom.schema(), &mut decoded.value);
    if text(&decoded.value, "kind").is_empty() {
        return Err(kindless(call, &wanted, &decoded.value, body));
    }
    if decoded.value.get("apiVersion") == Some(&Value::Null) {
        let kind = text(&decoded.value, "kind");
        return Err(Failure::bad_request(format!(
            "{kind} in version \"\" cannot be handled as a {}: .apiVersion accessor error: <nil> is of the type <nil>, \
             expected string",
            wanted.kind
        )));
    }
    let version = text(&decoded.value, "apiVersion").to_owned();
    let version = version.rsplit('/').next().unwrap_or_default();
    let kind = text(&decoded.value, "kind").to_owned();
    finish(call, custom, decoded, Vec::new(), &|why| {
        // What has been read is named as it names itself.
        let is_read = why.starts_with("strict decoding error");
        if is_read && version.is_empty() {
            let why = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
            return Failure::bad_request(why);
        }
        let of = if is_read { &kind } else { wanted.kind };
        Failure::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {of}: {why}"
        ))
    })
}

/// A body does not say its kind; `sent` is how it was written. Where nobody cares for fields, another decoder finds
/// that out.
pub(crate) fn kindless(
    call: &Call<'_>,
    wanted: &Wanted<'_>,
    value: &Value,
    sent: &[u8],
) -> Failure {
    let is_loose = call.query.field_validation == FieldValidation::Ignore;
    let shown = match is_loose {
        true => call.request.body,
        false => sent,
    };
    let shown = String::from_utf8_lossy(shown);
    let why = format!("Object 'Kind' is missing in '{shown}'");
    if !is_loose {
        return unrecognized(wanted, &why, sent);
    }
    let version = match text(value, "apiVersion").rsplit('/').next() {
        Some("") | None => call.resource.version.as_str(),
        Some(version) => version,
    };
    let kind = wanted.kind;
    Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
    ))
}

/// Makes a custom object of what a patch made; `refused` says what is answered if it cannot be one.
pub(crate) fn check(
    call: &Call<'_>,
    custom: &Custom,
    mut sent: Value,
    told: Vec<String>,
    refused: &dyn Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    if let Some(why) = head_mistake(&sent) {
        return Err(refused(&why));
    }
    let whole = match is_of_path(call, &sent) {
        true => Value::Null,
        false => sent.clone(),
    };
    let strict = prune(custom.schema(), &mut sent);
    let strict = by_its_own_schema(call, custom, strict, &sent, || whole);
    drop_nulls(custom.schema(), &mut sent);
    let decoded = Decoded {
        value: sent,
        strict,
    };
    finish(call, custom, decoded, told, refused)
}

/// Makes a custom object of what applying made. Nobody drops a null from it, which is a mistake where none may be.
pub(crate) fn applied(
    call: &Call<'_>,
    custom: &Custom,
    value: Value,
    refused: &dyn Fn(&str) -> Failure,
) -> Result<(Object, Vec<String>), Failure> {
    let strict = Vec::new();
    finish(call, custom, Decoded { value, strict }, Vec::new(), refused)
}

/// Metadata is read as that of any kind, which cannot hold what is empty.
fn drop_empty(meta: &mut Value) {
    let is_empty = |value: &Value| match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    if let Value::Object(meta) = meta {
        meta.retain(|_, value| !is_empty(value));
    }
}

fn finish(
    call: &Call<'_>,
    custom: &Custom,
    decoded: Decoded,
    mut told: Vec<String>,
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
    let version = text(&value, "apiVersion");
    told.extend(in_order(decoded.strict).iter().map(ToString::to_string));
    let warnings = tell_strict(call, told, refused)?;
    let is_patch = call.request.method == Method::Patch;
    if version != expected && !is_patch {
        let refusal = Failure::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        ));
        return Err(refusal.warned(warnings));
    }
    match value {
        Value::Object(object) => Ok((object, warnings)),
        _ => Err(refused("it is not an object")),
    }
}

/// Whether an object says that it is what the path is about.
fn is_of_path(call: &Call<'_>, value: &Value) -> bool {
    text(value, "kind") == call.resource.kind.as_str()
        && text(value, "apiVersion") == call.resource.api_version()
}

/// What is wrong with the fields of an object by the schema that it says to have: that of another version, or none,
/// where all is wrong but the metadata. Nobody looks at the fields of another kind. `found` is what is wrong by the
/// schema of the path, `sent` gives the object with all its fields.
fn by_its_own_schema(
    call: &Call<'_>,
    custom: &Custom,
    found: Vec<StrictFault>,
    value: &Value,
    sent: impl FnOnce() -> Value,
) -> Vec<StrictFault> {
    if is_of_path(call, value) {
        return found;
    }
    let version = text(value, "apiVersion");
    let (group, version) = version.rsplit_once('/').unwrap_or(("", version));
    let is_double = |fault: &StrictFault| matches!(fault, StrictFault::Duplicate(_));
    let in_metadata = |fault: &StrictFault| match fault {
        StrictFault::Duplicate(_) => false,
        StrictFault::Unknown(path) => path.starts_with("metadata."),
    };
    let is_other_version =
        group == call.resource.group.as_str() && text(value, "kind") == call.resource.kind.as_str();
    let (doubles, mut found): (Vec<_>, Vec<_>) = found.into_iter().partition(is_double);
    match custom.schema_of(version).filter(|_| is_other_version) {
        Some(schema) => found = prune(schema, &mut sent()),
        None => {
            found.retain(in_metadata);
            let sent = sent();
            let fields = sent.as_object().into_iter().flatten();
            let fields = fields.map(|(field, _)| field.as_str());
            let fields = fields.filter(|field| !["apiVersion", "kind", "metadata"].contains(field));
            let unknown = fields.map(|field| StrictFault::Unknown(field.to_owned()));
            found.extend(unknown.filter(|_| is_other_version));
        }
    }
    doubles.into_iter().chain(found).collect()
}

/// What is wrong with what a custom object says that it is. It is validated when everything else is settled, so that
/// a new object has its name by then.
pub(crate) fn type_mistakes(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    let Some(custom) = call.resource.of_definition() else {
        return Vec::new();
    };
    let expected = [
        ("kind", call.resource.kind.to_string()),
        ("apiVersion", call.resource.api_version()),
    ];
    let wrong = expected.into_iter().filter_map(|(field, expected)| {
        let found = object.get(field).and_then(Value::as_str);
        let found = found.unwrap_or_default();
        (found != expected)
            .then(|| FieldError::invalid(field, found, format!("must be {expected}")))
    });
    let mut wrong: Vec<FieldError> = wrong.collect();
    if !wrong.is_empty() {
        // Lists are looked at by the schema of the path whatever the kind.
        wrong.extend(custom.list_mistakes(object));
    }
    wrong
}

/// The group and kind of an object in a refusal: of a custom object as it says them.
pub(crate) fn told_kind(call: &Call<'_>, object: &Object) -> (String, String) {
    let (group, kind) = (call.kept().group.to_string(), call.kept().kind.to_string());
    if call.resource.of_definition().is_none() {
        return (group, kind);
    }
    let text = |field: &str| object.get(field).and_then(Value::as_str);
    let version = text("apiVersion").unwrap_or_default();
    let told = version.rsplit_once('/').map_or("", |(group, _)| group);
    (told.to_owned(), text("kind").unwrap_or_default().to_owned())
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
