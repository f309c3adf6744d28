//! JSON into messages, as Go writes them.
//!
//! As Go does, a field that is no pointer is written also if it is zero, one that is a pointer only if it is there, and
//! all of them in order of their numbers: so what is written is what upstream writes, byte for byte.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flyball_api::{MicroTime, Timestamp};
use serde_json::{Map, Value};

use crate::envelope::PREFIX;
use crate::message::DEPTH_MAX;
use crate::table::{Arity, Field, Form, Kind, Message, Table, table};
use crate::writer::{bytes, double, message, whole};

type Fields = Map<String, Value>;

/// A body with an object of a built-in kind. There is none for other kinds, and for values that protobuf cannot say
/// because they are not of their types; fields that the kind does not have are left out.
pub fn encode(object: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    write_body(&mut out, object)?;
    Some(out)
}

/// A body with a list of this kind: its metadata, then its items, of which one at a time is looked at. They need not
/// say what they are.
pub fn encode_list(
    api_version: &str,
    kind: &str,
    meta: &Value,
    items: impl IntoIterator<Item = Fields>,
) -> Option<Vec<u8>> {
    let table = table();
    let list = table.kind(api_version, kind)?;
    let field = |name: &str| list.fields.iter().find(|field| field.name == name);
    let (meta_field, items_field) = (field("metadata")?, field("items")?);
    let Kind::Message(place) = items_field.of else {
        return None;
    };
    let of = table.message(place);
    let mut out = Vec::new();
    enveloped(&mut out, api_version, kind, |out| {
        one(table, meta_field, meta, out, 0)?;
        for item in items {
            message(out, items_field.number, |out| {
                write_fields(table, of, &item, out, 1)
            })?;
        }
        Some(())
    })?;
    Some(out)
}

/// Appends a change of an object to a stream: the length of what follows, in four bytes, then what happened and a body
/// with the object.
pub fn encode_event(out: &mut Vec<u8>, kind: &str, object: &Value) -> Option<()> {
    let start = out.len();
    out.extend_from_slice(&[0; FRAME_LENGTH_BYTES]);
    bytes(out, 1, kind.as_bytes());
    // What is raw is a message of its own.
    let written = message(out, 2, |out| message(out, 1, |out| write_body(out, object)));
    let length = out.len() - start - FRAME_LENGTH_BYTES;
    match (written, u32::try_from(length)) {
        (Some(()), Ok(length)) => {
            let head = out.get_mut(start..start + FRAME_LENGTH_BYTES)?;
            head.copy_from_slice(&length.to_be_bytes());
            Some(())
        }
        _ => {
            out.truncate(start);
            None
        }
    }
}

/// The bytes that say how long an event of a stream is.
pub(crate) const FRAME_LENGTH_BYTES: usize = 4;

fn write_body(out: &mut Vec<u8>, object: &Value) -> Option<()> {
    let text = |name: &str| object.get(name).map_or(Some(""), Value::as_str);
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    let table = table();
    let of = table.kind(api_version, kind)?;
    let object = object.as_object()?;
    enveloped(out, api_version, kind, |out| {
        write_fields(table, of, object, out, 0)
    })
}

/// Appends an envelope that says what it holds, with what `write` appends.
fn enveloped(
    out: &mut Vec<u8>,
    api_version: &str,
    kind: &str,
    write: impl FnOnce(&mut Vec<u8>) -> Option<()>,
) -> Option<()> {
    out.extend_from_slice(PREFIX);
    message(out, 1, |out| {
        bytes(out, 1, api_version.as_bytes());
        bytes(out, 2, kind.as_bytes());
        Some(())
    })?;
    message(out, 2, write)?;
    bytes(out, 3, b"");
    bytes(out, 4, b"");
    Some(())
}

fn write_fields(
    table: &Table<'_>,
    of: &Message<'_>,
    object: &Fields,
    out: &mut Vec<u8>,
    depth: usize,
) -> Option<()> {
    if depth > DEPTH_MAX {
        return None;
    }
    for field in &of.fields {
        let value = match (field.name, field.of) {
            ("", Kind::Message(place)) => {
                message(out, field.number, |out| {
                    write_fields(table, table.message(place), object, out, depth + 1)
                })?;
                continue;
            }
            (name, _) => object.get(name).filter(|value| !value.is_null()),
        };
        match (field.arity, value) {
            (Arity::One, Some(value)) => one(table, field, value, out, depth)?,
            (Arity::One, None) if field.by_value => unset(table, field, out, depth)?,
            (_, None) => {}
            (Arity::Many, Some(items)) => {
                for item in items.as_array()? {
                    present(table, field, item, out, depth)?;
                }
            }
            (Arity::Map, Some(members)) => {
                for (key, value) in members.as_object()? {
                    message(out, field.number, |out| {
                        bytes(out, 1, key.as_bytes());
                        let of = Field {
                            number: 2,
                            ..*field
                        };
                        present(table, &of, value, out, depth)
                    })?;
                }
            }
        }
    }
    Some(())
}

/// An item of a list or a map, which is there even if JSON has null in its place.
fn present(
    table: &Table<'_>,
    field: &Field<'_>,
    value: &Value,
    out: &mut Vec<u8>,
    depth: usize,
) -> Option<()> {
    match value {
        Value::Null => unset(table, field, out, depth),
        value => one(table, field, value, out, depth),
    }
}

/// What is written for a value that is there, but not in JSON.
fn unset(table: &Table<'_>, field: &Field<'_>, out: &mut Vec<u8>, depth: usize) -> Option<()> {
    let number = field.number;
    match field.of {
        Kind::Text => bytes(out, number, b""),
        Kind::Bool | Kind::Int32 | Kind::Int64 => whole(out, number, 0),
        Kind::Double => double(out, number, 0.0),
        // No bytes are none in Go too.
        Kind::Bytes | Kind::Json => {}
        Kind::Message(place) => {
            let of = table.message(place);
            match of.form {
                Form::Object => message(out, number, |out| {
                    write_fields(table, of, &Fields::new(), out, depth + 1)
                })?,
                Form::Quantity => one(table, field, &Value::from("0"), out, depth)?,
                Form::IntOrString => one(table, field, &Value::from(0), out, depth)?,
                // No list is none in Go too.
                Form::Value if of.fields.iter().any(|field| field.arity == Arity::Many) => {}
                Form::Value | Form::Last | Form::Time | Form::MicroTime => bytes(out, number, b""),
            }
        }
    }
    Some(())
}

fn one(
    table: &Table<'_>,
    field: &Field<'_>,
    value: &Value,
    out: &mut Vec<u8>,
    depth: usize,
) -> Option<()> {
    let number = field.number;
    match field.of {
        Kind::Text => bytes(out, number, value.as_str()?.as_bytes()),
        Kind::Bytes => bytes(out, number, &STANDARD.decode(value.as_str()?).ok()?),
        Kind::Json => bytes(out, number, value.to_string().as_bytes()),
        Kind::Bool => whole(out, number, value.as_bool()?.into()),
        Kind::Int32 => whole(out, number, i32::try_from(value.as_i64()?).ok()?.into()),
        Kind::Int64 => whole(out, number, value.as_i64()?),
        Kind::Double => double(out, number, value.as_f64()?),
        Kind::Message(place) => message(out, number, |out| {
            shaped(table, table.message(place), value, out, depth + 1)
        })?,
    }
    Some(())
}

/// A message that may be something else than an object in JSON.
fn shaped(
    table: &Table<'_>,
    of: &Message<'_>,
    value: &Value,
    out: &mut Vec<u8>,
    depth: usize,
) -> Option<()> {
    match of.form {
        Form::Object => write_fields(table, of, value.as_object()?, out, depth)?,
        Form::Value => {
            let field = of.fields.first()?;
            let items = match (field.arity, value) {
                (Arity::Many, Value::Array(items)) => items.as_slice(),
                (Arity::One, value) => std::slice::from_ref(value),
                _ => return None,
            };
            for item in items {
                one(table, field, item, out, depth)?;
            }
        }
        Form::Last => one_of(table, of, value, out, depth)?,
        Form::Quantity => bytes(out, 1, value.as_str()?.as_bytes()),
        Form::IntOrString => {
            let number = value.as_i64().map(i32::try_from);
            let number = number.transpose().ok()?;
            whole(out, 1, i64::from(number.is_none()));
            whole(out, 2, number.unwrap_or_default().into());
            let text = match number {
                Some(_) => "",
                None => value.as_str()?,
            };
            bytes(out, 3, text.as_bytes());
        }
        Form::Time => {
            let at: Timestamp = value.as_str()?.parse().ok()?;
            whole(out, 1, at.unix_seconds());
            whole(out, 2, 0);
        }
        Form::MicroTime => {
            let at: MicroTime = value.as_str()?.parse().ok()?;
            let micros = at.0.unix_micros();
            whole(out, 1, micros.div_euclid(1_000_000));
            whole(out, 2, micros.rem_euclid(1_000_000) * 1_000);
        }
    }
    Some(())
}

/// One of several things, of which parts of the schemas of custom resources are made: the type of the value tells which.
fn one_of(
    table: &Table<'_>,
    of: &Message<'_>,
    value: &Value,
    out: &mut Vec<u8>,
    depth: usize,
) -> Option<()> {
    let takes = |field: &Field<'_>| {
        matches!(
            (value, field.of, field.arity),
            (Value::Array(_), _, Arity::Many)
                | (Value::Object(_), Kind::Message(_), Arity::One)
                | (Value::Bool(_), Kind::Bool, _)
        )
    };
    for field in &of.fields {
        match (value, field.of) {
            (Value::Array(items), _) if takes(field) => {
                for item in items {
                    one(table, field, item, out, depth)?;
                }
            }
            _ if takes(field) => one(table, field, value, out, depth)?,
            // What may be forbidden and has a form is not forbidden.
            (_, Kind::Bool) => whole(out, field.number, 1),
            _ => {}
        }
    }
    of.fields.iter().any(takes).then_some(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::decode;

    #[test]
    fn what_is_written_is_read_again() {
        for object in [
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": "a", "labels": {"a": "b", "c": ""}, "creationTimestamp": "2026-01-01T00:00:00Z"},
                "spec": {
                    "replicas": 0, "selector": {"matchLabels": {"a": "b"}},
                    "strategy": {"rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 1}},
                    "template": {"metadata": {}, "spec": {
                        "containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}],
                        "terminationGracePeriodSeconds": -1,
                    }},
                },
                "status": {},
            }),
            json!({
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"},
                "data": {"a": "AAE="}, "immutable": false,
            }),
            json!({
                "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "a"},
                "spec": {"acquireTime": "2026-01-01T00:00:00.000005Z", "leaseTransitions": 3},
            }),
        ] {
            let body = encode(&object).unwrap();
            let read = decode(&body).unwrap();
            assert_eq!(read, object);
        }
    }

    #[test]
    fn what_protobuf_cannot_say_is_not_written() {
        for object in [
            json!({"apiVersion": "v1", "kind": "Secret", "data": {"a": "%"}}),
            json!({"apiVersion": "v1", "kind": "Pod", "spec": {"containers": {}}}),
            json!({"apiVersion": "example.com/v1", "kind": "Widget"}),
            json!({"kind": "Pod"}),
            json!([]),
        ] {
            assert_eq!(encode(&object), None);
        }
    }
}
