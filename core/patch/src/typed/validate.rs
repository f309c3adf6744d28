//! Whether a value is of its type.
//!
//! The mistakes are told in upstream's words (`validate.go` of structured-merge-diff), each with the
//! path that leads to it.

use serde_json::Value;

use super::{Atom, ListAtom, ListOwners, MapAtom, Scalar, TypeRef};
use crate::fields::Step;
use crate::wording;

/// Whether a list may have several items with the same key or value.
///
/// Objects that are stored may, because that was not always checked; what is applied may not,
/// because its owner could not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Duplicates {
    Allowed,
    Refused,
}

/// A value that is not of its type: what is wrong, and where.
#[derive(Debug, Default)]
struct Mistakes(Vec<String>);

/// Checks that a value is of its type.
pub(crate) fn validate(
    of: TypeRef<'_>,
    value: &Value,
    duplicates: Duplicates,
) -> Result<(), String> {
    let mut mistakes = Mistakes::default();
    mistakes.check(of, value, duplicates, &mut String::new());
    match mistakes.0.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        many => Err(format!("errors:\n  {}", many.join("\n  "))),
    }
}

impl Mistakes {
    fn add(&mut self, path: &str, what: impl AsRef<str>) {
        let what = what.as_ref();
        self.0.push(match path {
            "" => what.to_owned(),
            path => format!("{path}: {what}"),
        });
    }

    fn check(&mut self, of: TypeRef<'_>, value: &Value, dup: Duplicates, path: &mut String) {
        match of.atom(Some(value)) {
            Atom::Scalar(scalar) => {
                if let Some(mistake) = scalar_mistake(scalar, value) {
                    self.add(path, mistake);
                }
            }
            Atom::List(list) => self.check_list(list, value, dup, path),
            Atom::Map(map) => self.check_map(map, value, dup, path),
        }
    }

    fn check_list(&mut self, of: ListAtom<'_>, value: &Value, dup: Duplicates, path: &mut String) {
        let items = match value {
            Value::Null => return,
            Value::Array(items) => items,
            other => return self.add(path, format!("expected list, got {}", boxed(other))),
        };
        let mut seen = std::collections::BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            let step = match of.kind {
                ListOwners::Atomic => Step::Index(i64::try_from(at).unwrap_or(i64::MAX)),
                _ => match of.step(item) {
                    Ok(step) => step,
                    // Nothing can be said of what cannot be named.
                    Err(why) => return self.add(path, format!("element {at}: {why}")),
                },
            };
            let length = path.len();
            path.push_str(&step.to_string());
            if !seen.insert(step) && dup == Duplicates::Refused {
                let what = format!("duplicate entries for key {}", &path[length..]);
                self.add(&path[..length], what);
            }
            self.check(of.item, item, dup, path);
            path.truncate(length);
        }
    }

    fn check_map(&mut self, of: MapAtom<'_>, value: &Value, dup: Duplicates, path: &mut String) {
        let members = match value {
            Value::Null => return,
            Value::Object(members) => members,
            other => return self.add(path, format!("expected map, got {}", boxed(other))),
        };
        for (name, member) in members {
            let length = path.len();
            path.push('.');
            path.push_str(name);
            match of.member(name) {
                Some(of) => self.check(of, member, dup, path),
                None => self.add(path, "field not declared in schema"),
            }
            path.truncate(length);
        }
    }
}

fn scalar_mistake(of: Scalar, value: &Value) -> Option<String> {
    match (of, value) {
        (_, Value::Null)
        | (Scalar::Number, Value::Number(_))
        | (Scalar::Text, Value::String(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Any, Value::Number(_) | Value::String(_) | Value::Bool(_)) => None,
        (Scalar::Number, other) => Some(format!(
            "expected numeric (int or float), got {}",
            wording::type_name(other)
        )),
        (Scalar::Text, other) => Some(format!(
            "expected string, got &value.valueUnstructured{{Value:{}}}",
            wording::source(other)
        )),
        (Scalar::Boolean, other) => Some(format!("expected boolean, got {}", boxed(other))),
        (Scalar::Any, other) => Some(format!("expected any scalar, got {}", boxed(other))),
    }
}

/// Upstream prints the box in which it keeps the value.
fn boxed(value: &Value) -> String {
    format!("&{{{}}}", wording::plain(value))
}
