//! Values of a custom resource against its schema.
//!
//! Rules in the Common Expression Language are not evaluated here.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::checks::{Faults, ValueFault, whole_of};
use super::{convert, entries, field, texts};
use crate::{ListKind, Rules, Schema, Shape};

/// All that is wrong with a custom resource whose defaults have been applied.
///
/// `matches` says whether a regular expression (the first argument) occurs in a text. Whatever the schema says of
/// metadata is checked; what every metadata must be is not.
pub fn value_faults(
    schema: Schema<'_>,
    value: &Value,
    matches: &dyn Fn(&str, &str) -> bool,
) -> Vec<ValueFault> {
    let mut faults = Faults::new(matches);
    of_type(&mut faults, schema, value, None, "");
    duplicates(&mut faults, schema, value, "");
    faults.found
}

/// What is wrong with the lists of a custom resource whose items must be told apart.
pub fn list_faults(schema: Schema<'_>, value: &Value) -> Vec<ValueFault> {
    let mut faults = Faults::new(&|_, _| true);
    duplicates(&mut faults, schema, value, "");
    faults.found
}

/// All that is wrong with what an update makes of `old`. Values that stay as they are, at a place that can be told
/// from its neighbours, are not looked at: a schema that became stricter must not hold up who changes something else.
pub fn value_faults_of_update(
    schema: Schema<'_>,
    value: &Value,
    old: &Value,
    matches: &dyn Fn(&str, &str) -> bool,
) -> Vec<ValueFault> {
    let mut faults = Faults::new(matches);
    of_type(&mut faults, schema, value, Some(old), "");
    let mut before = Faults::new(matches);
    duplicates(&mut before, schema, old, "");
    if before.found.is_empty() {
        duplicates(&mut faults, schema, value, "");
    }
    faults.found
}

fn of_type(
    faults: &mut Faults<'_>,
    schema: Schema<'_>,
    value: &Value,
    old: Option<&Value>,
    path: &str,
) {
    if old == Some(value) {
        return;
    }
    faults.looked += 1;
    if let Some(rules) = schema.rules() {
        if value.is_null() && (rules.nullable || matches!(schema.shape(), Shape::Any)) {
            return;
        }
        let expected = expected(schema);
        if !is_of(schema, value) {
            faults.wrong_type(path, value, expected, &rules.format);
        }
        combined(faults, rules, value, path);
        faults.check(rules, expected, value, path);
        if rules.embedded_resource {
            for name in ["apiVersion", "kind"] {
                let text = value.get(name).and_then(Value::as_str).unwrap_or_default();
                if value.is_object() && text.is_empty() {
                    faults.required(&below(path, name));
                }
            }
        }
    }
    match (schema.shape(), value) {
        (Shape::Object(object), Value::Object(value)) => {
            for field in &object.fields {
                if let Some(of) = value.get(field.name.as_str()) {
                    let old = old.and_then(|old| old.get(field.name.as_str()));
                    let path = below(path, &field.name);
                    of_type(faults, schema.at(field.of), of, old, &path);
                }
            }
            // What every metadata must have is not the schema's to say.
            let is_missing = |name: &str| !value.contains_key(name);
            let required = object.fields.iter().filter(|field| field.required);
            for field in required.filter(|field| is_missing(&field.name)) {
                if schema.rules().is_some() {
                    faults.required(&below(path, &field.name));
                }
            }
        }
        (Shape::Map { value: of, .. }, Value::Object(value)) => {
            for (key, value) in value {
                let old = old.and_then(|old| old.get(key));
                of_type(faults, schema.at(*of), value, old, &below(path, key));
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                let old = old.and_then(|old| counterpart(&list.kind, item, old));
                let path = format!("{path}[{at}]");
                of_type(faults, schema.at(list.item), item, old, &path);
            }
        }
        _ => {}
    }
}

/// The item that an item of a list has become of, if the list says how to tell.
fn counterpart<'a>(kind: &ListKind, item: &Value, old: &'a Value) -> Option<&'a Value> {
    let ListKind::Map { keys } = kind else {
        return None;
    };
    let is_same = |one: &&Value| {
        keys.iter()
            .all(|key| one.get(key.as_str()) == item.get(key.as_str()))
    };
    old.as_array()?.iter().find(is_same)
}

fn expected(schema: Schema<'_>) -> &'static str {
    match schema.shape() {
        Shape::Object(_) | Shape::Map { .. } => "object",
        Shape::List(_) => "array",
        Shape::Text(_) => "string",
        Shape::Integer { .. } => "integer",
        Shape::Number => "number",
        Shape::Boolean => "boolean",
        Shape::IntOrText => "integer,string",
        Shape::Any => "any",
    }
}

fn is_of(schema: Schema<'_>, value: &Value) -> bool {
    // A number without a fraction is a whole number however it is written.
    let is_whole = || {
        value
            .as_number()
            .is_some_and(|number| whole_of(number).is_some())
    };
    match schema.shape() {
        Shape::Object(_) | Shape::Map { .. } => value.is_object(),
        Shape::List(_) => value.is_array(),
        Shape::Text(_) => value.is_string(),
        Shape::Integer { .. } => is_whole(),
        Shape::Number => value.is_number(),
        Shape::Boolean => value.is_boolean(),
        Shape::IntOrText => value.is_string() || is_whole(),
        Shape::Any => true,
    }
}

/// Checks `anyOf`, `oneOf`, `allOf` and `not`.
fn combined(faults: &mut Faults<'_>, rules: &Rules, value: &Value, path: &str) {
    for (name, schemas) in &rules.junctors {
        let list = match schemas {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let results: Vec<Faults<'_>> = list
            .iter()
            .map(|schema| {
                let mut faults = Faults::new(faults.matches);
                nested(&mut faults, schema, value, path);
                faults
            })
            .collect();
        let valid = results.iter().filter(|one| one.found.is_empty()).count();
        match name.as_str() {
            "allOf" if valid < results.len() => {
                faults
                    .found
                    .extend(results.into_iter().flat_map(|one| one.found));
                faults.combined(path, "must validate all the schemas (allOf)");
            }
            "anyOf" if valid == 0 => {
                faults.combined(path, "must validate at least one schema (anyOf)");
                faults.found.extend(nearest(results));
            }
            "oneOf" if valid == 0 => {
                let what = "must validate one and only one schema (oneOf). Found none valid";
                faults.combined(path, what);
                faults.found.extend(nearest(results));
            }
            "oneOf" if valid > 1 => {
                let what = format!(
                    "must validate one and only one schema (oneOf). Found {valid} valid alternatives"
                );
                faults.combined(path, &what);
            }
            "not" if valid > 0 => faults.combined(path, "must not validate the schema (not)"),
            _ => {}
        }
    }
}

/// The faults of the alternative that had most to say about the value; the first of several.
fn nearest(results: Vec<Faults<'_>>) -> Vec<ValueFault> {
    let best = results
        .into_iter()
        .reduce(|best, next| match next.looked > best.looked {
            true => next,
            false => best,
        });
    best.map(|best| best.found).unwrap_or_default()
}

/// Checks a value against a schema that restricts values without saying what belongs.
fn nested(faults: &mut Faults<'_>, schema: &Value, value: &Value, path: &str) {
    faults.looked += 1;
    let rules = convert::rules(schema);
    combined(faults, &rules, value, path);
    let kind = schema.get("type").and_then(Value::as_str);
    faults.check(&rules, kind.unwrap_or_default(), value, path);
    match value {
        Value::Object(object) => {
            for (name, of) in entries(schema, "properties") {
                if let Some(value) = object.get(name) {
                    nested(faults, of, value, &below(path, name));
                }
            }
            for name in texts(schema.get("required")) {
                if !object.contains_key(name.as_str()) {
                    faults.required(&below(path, &name));
                }
            }
        }
        Value::Array(items) => {
            if let Some(of) = field(schema, "items") {
                for (at, item) in items.iter().enumerate() {
                    nested(faults, of, item, &format!("{path}[{at}]"));
                }
            }
        }
        // The one place where a nested schema names types: an integer or a string.
        value => match schema.get("type").and_then(Value::as_str) {
            Some("integer") if !value.is_number() => faults.wrong_type(path, value, "integer", ""),
            Some("string") if !value.is_string() => faults.wrong_type(path, value, "string", ""),
            _ => {}
        },
    }
}

/// Items that a set or map cannot tell apart.
fn duplicates(faults: &mut Faults<'_>, schema: Schema<'_>, value: &Value, path: &str) {
    match (schema.shape(), value) {
        (Shape::Object(_), Value::Object(object)) => {
            for (name, value) in object {
                if let Some(of) = schema.field(name) {
                    duplicates(faults, of, value, &below(path, name));
                }
            }
        }
        (Shape::Map { value: of, .. }, Value::Object(object)) => {
            for (key, value) in object {
                duplicates(faults, schema.at(*of), value, &format!("{path}[{key}]"));
            }
        }
        (Shape::List(list), Value::Array(items)) => {
            same_items(faults, &list.kind, items, path);
            for (at, item) in items.iter().enumerate() {
                duplicates(faults, schema.at(list.item), item, &format!("{path}[{at}]"));
            }
        }
        _ => {}
    }
}

fn same_items(faults: &mut Faults<'_>, kind: &ListKind, items: &[Value], path: &str) {
    let is_odd = |item: &Value| !item.is_object() && !item.is_null();
    if let (ListKind::Map { .. }, Some(at)) = (kind, items.iter().position(is_odd)) {
        let message = format!(
            "Invalid value: {}: must be an object for an array of list-type map",
            items[at]
        );
        return faults.add(&format!("{path}[{at}]"), "FieldValueInvalid", message);
    }
    // The lists in an object's metadata are no matter of its schema.
    if path.starts_with("metadata.") {
        return;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let identity = match kind {
            ListKind::Atomic => return,
            ListKind::Set => item.clone(),
            ListKind::Map { keys } => {
                let keys = keys
                    .iter()
                    .filter_map(|key| Some((key, item.get(key.as_str())?)));
                let keys = keys.map(|(key, value)| (key.to_string(), value.clone()));
                Value::Object(Map::from_iter(keys))
            }
        };
        let times = seen.entry(identity.to_string()).or_default();
        *times += 1;
        // What is there a third time is not told again.
        if *times == 2 {
            let message = format!("Duplicate value: {identity}");
            faults.add(&format!("{path}[{at}]"), "FieldValueDuplicate", message);
        }
    }
}

fn below(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

#[cfg(test)]
mod tests;
