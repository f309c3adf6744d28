//! Objects within objects (`x-kubernetes-embedded-resource`): they say what they are, and their metadata
//! is metadata.
//!
//! Upstream: `apiextensions-apiserver/pkg/apiserver/schema/objectmeta`.

use flyball_schema::{Schema, Shape, builtin, decode_value};
use serde_json::Value;

use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::kinds::labels::{key_mistakes, value_mistakes};
use crate::names;
use crate::object::Object;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The mistakes in the objects that an object holds; the object itself is none of them.
pub(super) fn mistakes(schema: Schema<'_>, object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let value = Value::Object(object.clone());
    walk(schema, &value, "", &mut |path, embedded| {
        errors.extend(of_embedded(path, embedded));
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap_or_else(|never| match never {});
    errors
}

/// Why the metadata of an object that an object holds cannot be read, if so. Before a default has been
/// stored or a value validated, nothing else is asked of it.
pub(super) fn unreadable(schema: Schema<'_>, object: &Value) -> Option<String> {
    walk(schema, object, "", &mut |path, embedded| {
        for field in ["apiVersion", "kind"] {
            match &embedded[field] {
                Value::Null | Value::String(_) => {}
                other => {
                    return Err(format!(
                        "{path}.{field}: Invalid value: {other}: must be a string"
                    ));
                }
            }
        }
        let sent = &embedded["metadata"];
        match typed(sent) {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("{path}.metadata: Invalid value: {sent}: {why}")),
        }
    })
    .err()
}

/// Metadata as it is read, or why it cannot be.
pub(super) fn typed(sent: &Value) -> Result<Value, String> {
    let Some(schema) = builtin().named(OBJECT_META) else {
        return Ok(sent.clone());
    };
    match sent {
        Value::Null => Ok(Value::Null),
        Value::Object(_) => match decode_value(schema, sent.clone()) {
            Ok(decoded) => Ok(decoded.value),
            Err(why) => Err(why.to_string()),
        },
        other => {
            let noun = match other {
                Value::Bool(_) => "bool",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                _ => "array",
            };
            Err(format!(
                "json: cannot unmarshal {noun} into Go value of type v1.ObjectMeta"
            ))
        }
    }
}

/// Visits every object within a value, from the outside in.
fn walk<E>(
    schema: Schema<'_>,
    value: &Value,
    path: &str,
    visit: &mut dyn FnMut(&str, &Value) -> Result<(), E>,
) -> Result<(), E> {
    let is_embedded = schema.rules().is_some_and(|rules| rules.embedded_resource);
    if is_embedded && value.is_object() {
        visit(path, value)?;
    }
    match (schema.shape(), value) {
        (Shape::Object(_), Value::Object(fields)) => {
            for (name, of) in fields {
                if let Some(field) = schema.field(name) {
                    let below = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    walk(field, of, &below, visit)?;
                }
            }
        }
        (Shape::Map { value: of, .. }, Value::Object(fields)) => {
            for (key, value) in fields {
                walk(schema.at(*of), value, &format!("{path}[{key}]"), visit)?;
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                walk(schema.at(list.item), item, &format!("{path}[{at}]"), visit)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn of_embedded(path: &str, embedded: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let place = |field: &str| format!("{path}.{field}");
    // Whether they are there at all is asked with the other rules of the schema.
    match embedded["apiVersion"].as_str() {
        Some("") => errors.push(FieldError::invalid(
            place("apiVersion"),
            "",
            "must not be empty",
        )),
        Some(version) if version.matches('/').count() > 1 => {
            let why = format!("unexpected GroupVersion string: {version}");
            errors.push(FieldError::invalid(place("apiVersion"), version, why));
        }
        _ => {}
    }
    match embedded["kind"].as_str() {
        Some("") => errors.push(FieldError::invalid(place("kind"), "", "must not be empty")),
        Some(kind) => {
            let wrong = names::mistakes(NameRule::Label1035, &kind.to_lowercase(), false);
            if !wrong.is_empty() {
                let why = format!(
                    "may have mixed case, but should otherwise match: {}",
                    wrong.join(",")
                );
                errors.push(FieldError::invalid(place("kind"), kind, why));
            }
        }
        None => {}
    }
    let meta = &embedded["metadata"];
    let place = |field: &str| format!("{path}.metadata.{field}");
    let text = |field: &str| meta[field].as_str().unwrap_or_default();
    for (field, is_prefix) in [("generateName", true), ("name", false)] {
        for why in names::mistakes(NameRule::PathSegment, text(field), is_prefix) {
            errors.push(FieldError::invalid(place(field), text(field), why));
        }
    }
    for (key, value) in meta["labels"].as_object().into_iter().flatten() {
        for why in key_mistakes(key) {
            errors.push(FieldError::invalid(place("labels"), key.as_str(), why));
        }
        let value = value.as_str().unwrap_or_default();
        for why in value_mistakes(value) {
            errors.push(FieldError::invalid(place("labels"), value, why));
        }
    }
    for (key, _) in meta["annotations"].as_object().into_iter().flatten() {
        for why in key_mistakes(&key.to_lowercase()) {
            errors.push(FieldError::invalid(place("annotations"), key.as_str(), why));
        }
    }
    errors
}
