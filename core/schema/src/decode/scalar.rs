//! Scalars: what a type makes of a JSON value that is not an object or a list.

use flyball_api::{MicroTime, Quantity, Timestamp};
use serde_json::Value;

use super::base64;
use super::time;
use crate::{Schema, Shape, TextFormat};

/// What became of a value.
pub(super) enum Read {
    /// It belongs to the type, in this form.
    Value(Value),
    /// It is of another type.
    WrongType,
    /// It is not base 64 from this byte on.
    NotBytes(usize),
    /// It is of another type than the plain one in which the type is written.
    NotPlain {
        found: String,
        expected: &'static str,
    },
    /// The type's own notation does not allow it.
    Unreadable(String),
}

/// Reads a scalar.
pub(super) fn read(schema: Schema<'_>, value: Value) -> Read {
    match (schema.shape(), value) {
        (Shape::Any, value) => Read::Value(value),
        (Shape::Boolean, value @ Value::Bool(_)) => Read::Value(value),
        (Shape::Integer { bits }, Value::Number(number)) => {
            let fits = |number: i64| *bits != 32 || i32::try_from(number).is_ok();
            match number.as_i64() {
                Some(whole) if fits(whole) => Read::Value(whole.into()),
                _ => Read::WrongType,
            }
        }
        (Shape::Number, value @ Value::Number(_)) => Read::Value(value),
        (Shape::IntOrText, value) => int_or_text(value),
        (Shape::Text(format), value) => text(*format, value),
        _ => Read::WrongType,
    }
}

fn int_or_text(value: Value) -> Read {
    let found = match &value {
        Value::String(_) => return Read::Value(value),
        Value::Number(number) => match number.as_i64().map(i32::try_from) {
            Some(Ok(whole)) => return Read::Value(whole.into()),
            _ => format!("number {number}"),
        },
        other => noun(other).to_owned(),
    };
    Read::NotPlain {
        found,
        expected: "int32",
    }
}

fn text(format: TextFormat, value: Value) -> Read {
    match (format, value) {
        (TextFormat::Plain, value @ Value::String(_)) => Read::Value(value),
        (TextFormat::Bytes, Value::String(text)) => match base64::illegal_at(&text) {
            None => Read::Value(base64::canonical(text).into()),
            Some(at) => Read::NotBytes(at),
        },
        (TextFormat::Time, Value::String(text)) => match text.parse::<Timestamp>() {
            Ok(moment) => Read::Value(moment.to_string().into()),
            Err(_) => Read::Unreadable(time::message(&text, false)),
        },
        (TextFormat::MicroTime, Value::String(text)) => match text.parse::<MicroTime>() {
            Ok(moment) if time::has_micros(&text) => Read::Value(moment.to_string().into()),
            _ => Read::Unreadable(time::message(&text, true)),
        },
        (TextFormat::Time | TextFormat::MicroTime, other) => Read::NotPlain {
            found: noun(&other).to_owned(),
            expected: "string",
        },
        (TextFormat::Quantity, Value::String(text)) => quantity(text.trim()),
        (TextFormat::Quantity, other) => quantity(&other.to_string()),
        _ => Read::WrongType,
    }
}

fn quantity(text: &str) -> Read {
    if let Ok(amount) = text.parse::<Quantity>() {
        return Read::Value(amount.to_string().into());
    }
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_formed = suffix.len() < number.len() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Read::Unreadable(match is_formed {
        true => "unable to parse quantity's suffix".to_owned(),
        false => "quantities must match the regular expression \
                  '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            .to_owned(),
    })
}

/// The empty value of a type, which is what a null in a list or map becomes.
pub(super) fn empty(schema: Schema<'_>) -> Value {
    match schema.shape() {
        Shape::Object(_) => Value::Object(Default::default()),
        Shape::Boolean => false.into(),
        Shape::Integer { .. } | Shape::Number | Shape::IntOrText => 0.into(),
        Shape::Text(TextFormat::Plain | TextFormat::Bytes) => "".into(),
        Shape::Text(TextFormat::Quantity) => "0".into(),
        Shape::Text(_) | Shape::Map { .. } | Shape::List(_) | Shape::Any => Value::Null,
    }
}

/// What Go's decoder calls a JSON value.
pub(super) fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
