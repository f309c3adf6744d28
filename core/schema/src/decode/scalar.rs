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
        let written = long_amount(text).unwrap_or_else(|| amount.to_string());
        return Read::Value(written.into());
    }
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = number.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let points = number.bytes().filter(|byte| *byte == b'.').count();
    let is_formed = suffix.len() < number.len()
        && points < 2
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    Read::Unreadable(match is_formed {
        true => "unable to parse quantity's suffix".to_owned(),
        false => "quantities must match the regular expression \
                  '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            .to_owned(),
    })
}

/// More digits than a [`Quantity`] has.
const LONG: usize = 39;

/// The canonical form of a whole number with more digits than are counted with: all of them are kept.
fn long_amount(text: &str) -> Option<String> {
    const SUFFIXES: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
    let (sign, number) = match text.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = number.trim_end_matches(|c: char| !c.is_ascii_digit());
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    let suffix = number.get(digits.len()..)?;
    let unit = SUFFIXES.iter().position(|one| *one == suffix)?;
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0').len();
    if !is_whole || significant < LONG {
        return None;
    }
    let thousands = (digits.len() - significant) / 3;
    let suffix = SUFFIXES.get(unit + thousands)?;
    let digits = digits.get(..digits.len() - 3 * thousands)?;
    Some(format!("{sign}{digits}{suffix}"))
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
