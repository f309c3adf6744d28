//! What is asked of the defaults in a schema: each must be what its own schema asks for.
//!
//! Upstream: `apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go`.

use flyball_schema::{ValueFault, prune, value_faults, value_type};
use serde_json::Value;

use crate::custom::patterns::Patterns;
use crate::field_error::{FieldError, Mistake};

/// Adds the mistakes in the defaults of a schema.
pub(super) fn check(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if !schema["default"].is_null() {
        of_one(schema, &format!("{path}.default"), errors);
    }
    if schema["items"].is_object() {
        check(&schema["items"], &format!("{path}.items"), errors);
    }
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        check(of, &format!("{path}.properties[{name}]"), errors);
    }
}

fn of_one(schema: &Value, place: &str, errors: &mut Vec<FieldError>) {
    let default = &schema["default"];
    let (types, of) = value_type(schema);
    let mut pruned = default.clone();
    let dropped = prune(types.schema(of), &mut pruned);
    // What is unknown in the metadata of an object is dropped without a word.
    let unknown = |path: &str| !path.starts_with("metadata.") && !path.contains(".metadata.");
    if dropped.iter().any(|fault| unknown(fault.path())) {
        let detail = "must not have unknown fields";
        errors.push(FieldError::invalid(place, default.clone(), detail));
    }
    errors.extend(unknown_type(schema).map(|fault| told(fault, place)));
    let patterns = Patterns::of(&types);
    let faults = value_faults(types.schema(of), default, &|pattern, text| {
        patterns.matches(pattern, text)
    });
    let faults = faults
        .into_iter()
        .filter(|fault| fault.reason != "FieldValueDuplicate");
    errors.extend(faults.map(|fault| told(fault, place)));
}

/// No value is of a type that nobody knows.
fn unknown_type(schema: &Value) -> Option<ValueFault> {
    let expected = schema["type"].as_str().unwrap_or_default();
    let known = [
        "", "array", "boolean", "integer", "number", "object", "string",
    ];
    let found = match &schema["default"] {
        Value::Number(number) if number.is_i64() => "integer",
        Value::Bool(_) => "boolean",
        other => flyball_patch::go_name(other),
    };
    (!known.contains(&expected)).then(|| ValueFault {
        path: String::new(),
        reason: "FieldValueTypeInvalid",
        message: format!(
            "Invalid value: {found:?}:  in body must be of type {expected}: {found:?}"
        ),
    })
}

fn told(fault: ValueFault, place: &str) -> FieldError {
    let field = match fault.path.as_str() {
        "" | "<nil>" => place.to_owned(),
        path if path.starts_with('[') => format!("{place}{path}"),
        path => format!("{place}.{path}"),
    };
    FieldError {
        field,
        mistake: Mistake::Told {
            reason: fault.reason,
            message: fault.message,
        },
        detail: String::new(),
    }
}
