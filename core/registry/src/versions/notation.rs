//! The notation that annotations of the first version have.
//!
//! Its fields stand in the order in which upstream writes them, because clients compare the text.

use serde_json::{Map, Value};

/// A JSON object with these fields in this order; those without a value are left out.
pub(super) fn object(fields: &[(&str, Option<String>)]) -> String {
    let given = fields
        .iter()
        .filter_map(|(name, value)| Some(format!("{name:?}:{}", value.as_ref()?)));
    format!("{{{}}}", given.collect::<Vec<_>>().join(","))
}

/// A value as JSON, if there is one.
pub(super) fn some(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| value.to_string())
}

/// A value as JSON, null if there is none.
pub(super) fn any(value: &Value) -> Option<String> {
    Some(value.to_string())
}

/// An amount as JSON, zero if there is none.
pub(super) fn amount(value: &Value) -> Option<String> {
    some(value).or_else(|| Some("\"0\"".to_owned()))
}

/// A map with these fields; those without a value are left out.
pub(super) fn map(fields: &[(&str, &Value)]) -> Value {
    let given = fields.iter().filter(|(_, value)| !value.is_null());
    let all: Map<String, Value> = given
        .map(|(name, value)| ((*name).to_owned(), (*value).clone()))
        .collect();
    all.into()
}
