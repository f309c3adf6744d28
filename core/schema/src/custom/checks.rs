//! Checks of one value against rules, in the words of upstream's validator.

use serde_json::{Number, Value};

use super::{formats, go_number};
use crate::{Bound, Rules};

/// What is wrong with a value of a custom resource.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ValueFault {
    /// Where, such as `spec.list[0]`; upstream has no path for schemas that are combined, and says `<nil>`.
    pub path: String,
    /// The reason of the cause in a status, such as `FieldValueRequired`.
    pub reason: &'static str,
    /// What is wrong.
    pub message: String,
}

/// What the faults of a walk are collected in.
pub(super) struct Faults<'a> {
    /// Whether a regular expression occurs in a text.
    pub(super) matches: &'a dyn Fn(&str, &str) -> bool,
    pub(super) found: Vec<ValueFault>,
    /// How many values were looked at.
    pub(super) looked: usize,
}

impl<'a> Faults<'a> {
    pub(super) fn new(matches: &'a dyn Fn(&str, &str) -> bool) -> Self {
        Self {
            matches,
            found: Vec::new(),
            looked: 0,
        }
    }

    pub(super) fn add(&mut self, path: &str, reason: &'static str, message: String) {
        self.found.push(ValueFault {
            path: path.to_owned(),
            reason,
            message,
        });
    }

    pub(super) fn required(&mut self, path: &str) {
        self.add(path, "FieldValueRequired", "Required value".to_owned());
    }

    /// A fault of schemas that are combined.
    pub(super) fn combined(&mut self, path: &str, what: &str) {
        let message = format!("Invalid value: \"\": {path:?} {what}");
        self.add("<nil>", "FieldValueInvalid", message);
    }

    /// A value is of another type than the schema names, or than its format does.
    pub(super) fn wrong_type(&mut self, path: &str, found: &Value, expected: &str, format: &str) {
        let is_plain = matches!(found, Value::String(_) | Value::Array(_) | Value::Null);
        let (found, expected) = match format {
            "" => (noun(found), expected),
            _ if is_plain => (noun(found), expected),
            format => (go_format(found), format),
        };
        let message = format!(
            "Invalid value: {found:?}: {path} in body must be of type {expected}: {found:?}"
        );
        self.add(path, "FieldValueTypeInvalid", message);
    }

    fn invalid(&mut self, path: &str, value: &Value, what: &str) {
        let value = match value {
            Value::Number(number) => go_number(number),
            value => value.to_string(),
        };
        let message = format!("Invalid value: {value}: {path} in body {what}");
        self.add(path, "FieldValueInvalid", message);
    }

    fn too_many(&mut self, path: &str, count: u64, max: u64) {
        let items = if max == 1 { "item" } else { "items" };
        let message = format!("Too many: {count}: must have at most {max} {items}");
        self.add(path, "FieldValueTooMany", message);
    }

    /// Checks a value, but not what is in it.
    ///
    /// `kind` is the type that the schema names, which may be empty.
    pub(super) fn check(&mut self, rules: &Rules, kind: &str, value: &Value, path: &str) {
        match value {
            Value::String(text) => self.text(rules, value, text, path),
            Value::Number(number) => {
                self.range(&rules.format, kind, number, path);
                if let Some(float) = number.as_f64() {
                    self.number(rules, value, float, path);
                }
            }
            Value::Array(items) => {
                let count = items.len() as u64;
                if let Some(min) = rules.items.min.filter(|min| count < *min) {
                    let what = format!("should have at least {min} items");
                    self.invalid(path, &count.into(), &what);
                }
                if let Some(max) = rules.items.max.filter(|max| count > *max) {
                    self.too_many(path, count, max);
                }
            }
            Value::Object(object) => {
                let count = object.len() as u64;
                if let Some(min) = rules.properties.min.filter(|min| count < *min) {
                    let what = format!("should have at least {min} properties");
                    self.invalid(path, &count.into(), &what);
                }
                if let Some(max) = rules.properties.max.filter(|max| count > *max) {
                    self.too_many(path, count, max);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
        if !rules.allowed.is_empty() && !rules.allowed.iter().any(|one| is_same(one, value)) {
            let allowed = rules.allowed.iter().map(|one| match one {
                Value::String(text) => format!("{text:?}"),
                other => format!("{:?}", other.to_string()),
            });
            let allowed: Vec<String> = allowed.collect();
            let message = format!(
                "Unsupported value: {value}: supported values: {}",
                allowed.join(", ")
            );
            self.add(path, "FieldValueNotSupported", message);
        }
    }

    fn text(&mut self, rules: &Rules, value: &Value, text: &str, path: &str) {
        let length = text.chars().count() as u64;
        // Of these three, upstream tells the first that is not kept.
        if let Some(max) = rules.length.max.filter(|max| length > *max) {
            let bytes = if max == 1 { "byte" } else { "bytes" };
            let message = format!("Too long: may not be more than {max} {bytes}");
            self.add(path, "FieldValueTooLong", message);
        } else if let Some(min) = rules.length.min.filter(|min| length < *min) {
            self.invalid(path, value, &format!("should be at least {min} chars long"));
        } else if let Some(pattern) = &rules.pattern
            && !(self.matches)(pattern, text)
        {
            self.invalid(path, value, &format!("should match '{pattern}'"));
        }
        if !formats::is_of(&rules.format, text) {
            let format = &rules.format;
            let message =
                format!("Invalid value: {value}: {path} in body must be of type {format}: {value}");
            self.add(path, "FieldValueTypeInvalid", message);
        }
    }

    /// Checks that a number fits the type and the format that its schema names.
    fn range(&mut self, format: &str, kind: &str, number: &Number, path: &str) {
        let whole: Option<i128> = go_number(number).parse().ok();
        let within = |min: i128, max: i128| whole.is_some_and(|whole| (min..=max).contains(&whole));
        let fits = match (kind, format) {
            ("integer", "int32") => within(i32::MIN.into(), i32::MAX.into()),
            ("integer", "uint32") => within(0, u32::MAX.into()),
            ("integer", "uint64") => within(0, u64::MAX.into()),
            ("integer", _) => whole_of(number).is_some(),
            (_, "float" | "float32") => {
                let float = number.as_f64().unwrap_or_default();
                float.abs() <= f64::from(f32::MAX)
            }
            _ => true,
        };
        if !fits {
            let kind = if kind.is_empty() { "number" } else { kind };
            let of = match format {
                "" => format!("{kind} (default format)"),
                format => format!("{kind} with format {format}"),
            };
            let message =
                format!("Invalid value: \"\": Checked value must be of type {of} in {path}");
            self.add("<nil>", "FieldValueInvalid", message);
        }
    }

    fn number(&mut self, rules: &Rules, value: &Value, number: f64, path: &str) {
        let is_whole = value.is_i64();
        if let Some(factor) = rules.multiple_of {
            // A whole number is compared with the factor without its fraction.
            let factor = if is_whole { factor.trunc() } else { factor };
            if factor <= 0.0 {
                let message = format!(
                    "Invalid value: {factor}: factor MultipleOf declared for {path} must be positive: {factor}"
                );
                self.add(path, "FieldValueInvalid", message);
            } else if (number / factor).fract() != 0.0 {
                self.invalid(path, value, &format!("should be a multiple of {factor}"));
            }
        }
        let is_beyond = |bound: &Bound, distance: f64| match bound.exclusive {
            true => distance >= 0.0,
            false => distance > 0.0,
        };
        if let Some(max) = rules.maximum.filter(|max| is_beyond(max, number - max.at)) {
            let or_equal = if max.exclusive { "" } else { " or equal to" };
            self.invalid(
                path,
                value,
                &format!("should be less than{or_equal} {}", max.at),
            );
        }
        if let Some(min) = rules.minimum.filter(|min| is_beyond(min, min.at - number)) {
            let or_equal = if min.exclusive { "" } else { " or equal to" };
            self.invalid(
                path,
                value,
                &format!("should be greater than{or_equal} {}", min.at),
            );
        }
    }
}

/// Whether two values are the same, 1 and 1.0 included.
fn is_same(one: &Value, other: &Value) -> bool {
    one == other || one.is_number() && one.as_f64() == other.as_f64()
}

/// The whole number that a number is, however it is written, if it fits 64 bits.
pub(super) fn whole_of(number: &Number) -> Option<i64> {
    let float = number.as_f64()?;
    let is_small = float.fract() == 0.0 && float.abs() < 9.2e18;
    number.as_i64().or_else(|| is_small.then_some(float as i64))
}

/// What a schema calls the type of a value.
/// The format that Go's types give a value.
fn go_format(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        _ => "",
    }
}

fn noun(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() && whole_of(number).is_none() => "number",
        Value::Number(number) if number.is_u64() && !number.is_i64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
