//! Defaults of custom resources, and nulls where none may be.

use serde_json::{Map, Value};

use crate::{Schema, Shape};

/// Puts default values where fields are missing.
///
/// A null where the schema does not allow one gives way to the default; without one it stays for validation to find,
/// unless it was dropped before ([`drop_nulls`]).
pub fn apply_defaults(schema: Schema<'_>, value: &mut Value) {
    match (schema.shape(), value) {
        (Shape::Object(object), Value::Object(value)) => {
            for field in &object.fields {
                settle(schema.at(field.of), value, &field.name, true);
            }
        }
        (Shape::Map { value: of, .. }, Value::Object(value)) => {
            let keys: Vec<String> = value.keys().cloned().collect();
            for key in keys {
                settle(schema.at(*of), value, &key, false);
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            let of = schema.at(list.item);
            for item in items {
                if item.is_null() && !is_nullable(of) {
                    *item = default(of).cloned().unwrap_or_default();
                }
                apply_defaults(of, item);
            }
        }
        _ => {}
    }
}

/// Takes out the nulls where the schema allows none and has no default: upstream does so with whatever is read as
/// text. In lists, where nothing can go missing, they stay.
pub fn drop_nulls(schema: Schema<'_>, value: &mut Value) {
    match (schema.shape(), value) {
        (Shape::Object(object), Value::Object(value)) => {
            for field in &object.fields {
                drop_null(schema.at(field.of), value, &field.name);
            }
        }
        (Shape::Map { value: of, .. }, Value::Object(value)) => {
            let keys: Vec<String> = value.keys().cloned().collect();
            for key in keys {
                drop_null(schema.at(*of), value, &key);
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for item in items {
                drop_nulls(schema.at(list.item), item);
            }
        }
        _ => {}
    }
}

fn drop_null(of: Schema<'_>, object: &mut Map<String, Value>, name: &str) {
    match object.get_mut(name) {
        Some(Value::Null) if !is_nullable(of) && default(of).is_none() => {
            object.remove(name);
        }
        Some(value) => drop_nulls(of, value),
        None => {}
    }
}

/// Settles one entry of an object: what is missing or must not be null gets its default, if there is one.
fn settle(of: Schema<'_>, object: &mut Map<String, Value>, name: &str, may_be_added: bool) {
    let is_missing = match object.get(name) {
        None => may_be_added,
        Some(value) => value.is_null() && !is_nullable(of),
    };
    if is_missing && let Some(default) = default(of) {
        object.insert(name.to_owned(), default.clone());
    }
    if let Some(value) = object.get_mut(name) {
        apply_defaults(of, value);
    }
}

fn default(schema: Schema<'_>) -> Option<&Value> {
    schema.rules()?.default.as_ref()
}

/// Types without rules are not the schema's own, and nulls in them are not its business.
fn is_nullable(schema: Schema<'_>) -> bool {
    schema.rules().is_none_or(|rules| rules.nullable)
}
