//! Messages that JSON writes as something else than an object.

use flyball_api::Timestamp;
use serde_json::{Map, Value};

use crate::error::ProtobufFault;
use crate::table::{Arity, Form, Kind, Message};

/// What a message with these fields is in JSON; `null` if it stands for nothing.
///
/// `fields` are those that the message has on the wire, by their names in the table.
pub(crate) fn shape(
    of: &Message<'_>,
    mut fields: Map<String, Value>,
) -> Result<Value, ProtobufFault> {
    Ok(match of.form {
        Form::Object => Value::Object(fields),
        Form::Value | Form::Last => {
            let last = of.fields.iter().rev();
            let value = last.filter_map(|field| fields.remove(field.name)).next();
            value.unwrap_or_else(|| nothing(of))
        }
        // A quantity of nothing is zero, and upstream writes it out.
        Form::Quantity => fields
            .remove("string")
            .unwrap_or_else(|| Value::String("0".to_owned())),
        Form::IntOrString => match integer(&fields, "type") {
            0 => Value::from(integer(&fields, "intVal")),
            1 => fields
                .remove("strVal")
                .unwrap_or_else(|| Value::String(String::new())),
            _ => return Err(ProtobufFault::NeitherIntNorString),
        },
        Form::Time | Form::MicroTime => time(of.form, &fields)?,
    })
}

/// What is in JSON where a message has no field at all.
fn nothing(of: &Message<'_>) -> Value {
    let has = |kind| of.fields.iter().any(|field| field.of == kind);
    if of.fields.iter().all(|field| field.arity == Arity::Many) {
        Value::Array(Vec::new())
    } else if has(Kind::Bool) {
        Value::Bool(false)
    } else {
        Value::Null
    }
}

/// A moment: to the second, or to the microsecond. Finer parts are cut off, as upstream cuts them.
fn time(form: Form, fields: &Map<String, Value>) -> Result<Value, ProtobufFault> {
    if fields.is_empty() {
        return Ok(Value::Null);
    }
    let seconds = integer(fields, "seconds");
    let first = Timestamp::MIN.unix_seconds();
    if !(first..=Timestamp::MAX.unix_seconds()).contains(&seconds) {
        return Err(ProtobufFault::TimeOutOfRange(seconds));
    }
    let micros = match form {
        Form::MicroTime => integer(fields, "nanos") / 1_000,
        _ => 0,
    };
    let at = Timestamp::from_unix_micros(seconds * 1_000_000 + micros);
    Ok(if at == Timestamp::GO_ZERO {
        Value::Null
    } else if form == Form::MicroTime {
        Value::String(at.micro().to_string())
    } else {
        Value::String(at.to_string())
    })
}

fn integer(fields: &Map<String, Value>, name: &str) -> i64 {
    fields.get(name).and_then(Value::as_i64).unwrap_or(0)
}
