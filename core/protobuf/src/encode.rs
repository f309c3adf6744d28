//! JSON into messages, as a Go client writes them: for whoever wants to send what [`crate::decode`] reads.
//!
//! No server here writes protobuf; this is how tests send it. As Go does, a field that is no pointer is written also if
//! it is zero, and one that is a pointer only if it is there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flyball_api::{MicroTime, Timestamp};
use serde_json::{Map, Value};

use crate::envelope::PREFIX;
use crate::message::DEPTH_MAX;
use crate::table::{Arity, Field, Form, Kind, Message, Table, table};
use crate::wire::Wire;

/// A body with an object of a built-in kind. There is none for other kinds, and for values that protobuf cannot say
/// because they are not of their types; fields that the kind does not have are left out.
pub fn encode(object: &Value) -> Option<Vec<u8>> {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    let (api_version, kind) = (text("apiVersion")?, text("kind")?);
    let of = table().kind(api_version, kind)?;
    let raw = message(table(), of, object.as_object()?, 0)?;
    let mut type_meta = Vec::new();
    bytes(&mut type_meta, 1, api_version.as_bytes());
    bytes(&mut type_meta, 2, kind.as_bytes());
    let mut body = PREFIX.to_vec();
    bytes(&mut body, 1, &type_meta);
    bytes(&mut body, 2, &raw);
    bytes(&mut body, 3, b"");
    bytes(&mut body, 4, b"");
    Some(body)
}

fn message(
    table: &Table<'_>,
    of: &Message<'_>,
    object: &Map<String, Value>,
    depth: usize,
) -> Option<Vec<u8>> {
    if depth > DEPTH_MAX {
        return None;
    }
    let mut out = Vec::new();
    for field in &of.fields {
        let value = match (field.name, field.of) {
            ("", Kind::Message(place)) => {
                let inner = message(table, table.message(place), object, depth + 1)?;
                bytes(&mut out, field.number, &inner);
                continue;
            }
            (name, _) => object.get(name).filter(|value| !value.is_null()),
        };
        match (field.arity, value) {
            (Arity::One, Some(value)) => one(table, field, value, &mut out, depth)?,
            (Arity::One, None) => unset(table, field, &mut out, depth)?,
            (_, None) => {}
            (Arity::Many, Some(items)) => {
                for item in items.as_array()? {
                    one(table, field, item, &mut out, depth)?;
                }
            }
            (Arity::Map, Some(members)) => {
                for (key, value) in members.as_object()? {
                    let mut entry = Vec::new();
                    bytes(&mut entry, 1, key.as_bytes());
                    let of = Field {
                        number: 2,
                        ..*field
                    };
                    one(table, &of, value, &mut entry, depth)?;
                    bytes(&mut out, field.number, &entry);
                }
            }
        }
    }
    Some(out)
}

/// What is written for a field that is not there.
fn unset(table: &Table<'_>, field: &Field<'_>, out: &mut Vec<u8>, depth: usize) -> Option<()> {
    if !field.always && !field.zero_is_absent {
        return Some(());
    }
    let zero = match field.of {
        Kind::Text => Value::from(""),
        Kind::Bool => Value::from(false),
        Kind::Int32 | Kind::Int64 => Value::from(0),
        Kind::Message(place) if table.message(place).form == Form::Object => {
            Value::Object(Map::new())
        }
        _ => return Some(()),
    };
    one(table, field, &zero, out, depth)
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
        Kind::Double => {
            tag(out, number, Wire::Fixed64);
            out.extend(value.as_f64()?.to_le_bytes());
        }
        Kind::Message(place) => {
            let of = table.message(place);
            bytes(out, number, &shaped(table, of, value, depth + 1)?);
        }
    }
    Some(())
}

/// A message that may be something else than an object in JSON.
fn shaped(table: &Table<'_>, of: &Message<'_>, value: &Value, depth: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match of.form {
        Form::Object => return message(table, of, value.as_object()?, depth),
        Form::Value => {
            let field = of.fields.first()?;
            let items = match (field.arity, value) {
                (Arity::Many, Value::Array(items)) => items.as_slice(),
                (Arity::One, value) => std::slice::from_ref(value),
                _ => return None,
            };
            for item in items {
                one(table, field, item, &mut out, depth)?;
            }
        }
        // Which of several things it is, a schema of a custom resource would have to tell.
        Form::Last => return None,
        Form::Quantity => bytes(&mut out, 1, value.as_str()?.as_bytes()),
        Form::IntOrString => {
            let number = value.as_i64().map(i32::try_from);
            let number = number.transpose().ok()?;
            whole(&mut out, 1, i64::from(number.is_none()));
            whole(&mut out, 2, number.unwrap_or_default().into());
            let text = match number {
                Some(_) => "",
                None => value.as_str()?,
            };
            bytes(&mut out, 3, text.as_bytes());
        }
        Form::Time => {
            let at: Timestamp = value.as_str()?.parse().ok()?;
            whole(&mut out, 1, at.unix_seconds());
            whole(&mut out, 2, 0);
        }
        Form::MicroTime => {
            let at: MicroTime = value.as_str()?.parse().ok()?;
            let micros = at.0.unix_micros();
            whole(&mut out, 1, micros.div_euclid(1_000_000));
            whole(&mut out, 2, micros.rem_euclid(1_000_000) * 1_000);
        }
    }
    Some(out)
}

fn tag(out: &mut Vec<u8>, number: u32, wire: Wire) {
    varint(out, u64::from(number) << 3 | u64::from(wire.number()));
}

fn bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    tag(out, number, Wire::Length);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn whole(out: &mut Vec<u8>, number: u32, value: i64) {
    tag(out, number, Wire::Varint);
    // Negative numbers are written with all 64 bits.
    varint(out, value as u64);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
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
