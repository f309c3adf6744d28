//! Reading an object for its cells. What is missing or of another type reads as empty.

use flyball_api::{LabelSelector, Quantity, Timestamp};
use serde_json::Value;

use super::age;
use crate::object::{Meta as _, Object, at};

/// An object that becomes a row.
pub(super) struct Row<'a> {
    pub(super) object: &'a Object,
    pub(super) now: Timestamp,
}

impl<'a> Row<'a> {
    /// The value at a path such as `spec.nodeName`; null if there is none.
    pub(super) fn at(&self, path: &str) -> &'a Value {
        at(self.object, path)
    }

    pub(super) fn name(&self) -> &'a str {
        self.text("metadata.name")
    }

    /// How long ago the object was created.
    pub(super) fn age(&self) -> String {
        self.since("metadata.creationTimestamp")
    }

    /// How long ago the time at this path was.
    pub(super) fn since(&self, path: &str) -> String {
        age::since(self.at(path), self.now)
    }

    pub(super) fn is_deleting(&self) -> bool {
        self.object.is_deleting()
    }

    pub(super) fn text(&self, path: &str) -> &'a str {
        text(self.at(path))
    }

    /// The text at a path, or this one if there is none.
    pub(super) fn text_or(&self, path: &str, other: &'a str) -> &'a str {
        self.at(path).as_str().unwrap_or(other)
    }

    /// The text at a path, or this one if there is none or it is empty.
    pub(super) fn filled_or(&self, path: &str, other: &'a str) -> &'a str {
        Some(self.text(path))
            .filter(|text| !text.is_empty())
            .unwrap_or(other)
    }

    pub(super) fn number(&self, path: &str) -> i64 {
        number(self.at(path))
    }

    pub(super) fn flag(&self, path: &str) -> bool {
        self.at(path).as_bool().unwrap_or_default()
    }

    pub(super) fn list(&self, path: &str) -> &'a [Value] {
        list(self.at(path))
    }

    /// How many entries the list or map at a path has.
    pub(super) fn count(&self, path: &str) -> i64 {
        let count = match self.at(path) {
            Value::Array(list) => list.len(),
            Value::Object(map) => map.len(),
            _ => 0,
        };
        i64::try_from(count).unwrap_or(i64::MAX)
    }

    /// The value of an annotation. Its name may contain dots, so it is no path.
    pub(super) fn annotation(&self, name: &str) -> Option<&'a str> {
        self.object.meta().get("annotations")?.get(name)?.as_str()
    }

    /// The condition of this type among those in the status.
    pub(super) fn condition(&self, of: &str) -> Option<&'a Value> {
        self.list("status.conditions")
            .iter()
            .find(|one| one["type"] == of)
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a list, with this between them.
pub(super) fn joined<'v>(texts: impl IntoIterator<Item = &'v str>, between: &str) -> String {
    texts.into_iter().collect::<Vec<_>>().join(between)
}

/// At most so many texts, and how many more there are.
pub(super) fn shortened(texts: &[String], most: usize, between: &str) -> String {
    let shown = texts
        .get(..most.min(texts.len()))
        .unwrap_or_default()
        .join(between);
    match texts.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} + {more} more..."),
    }
}

/// The names and the images of the containers at a path.
pub(super) fn containers(of: &Value) -> [String; 2] {
    ["name", "image"].map(|field| joined(list(of).iter().map(|one| text(&one[field])), ","))
}

/// Labels as a selector that demands them all.
pub(super) fn labels(of: &Value) -> String {
    let pairs = of.as_object().into_iter().flatten();
    let mut pairs: Vec<String> = pairs
        .map(|(key, value)| format!("{key}={}", text(value)))
        .collect();
    if pairs.is_empty() {
        return "<none>".into();
    }
    // Upstream sorts the whole pairs, which differs from sorting keys: `a-b=1` is before `a=1`.
    pairs.sort();
    pairs.join(",")
}

/// A label selector in the notation of queries; nothing if it makes no sense.
pub(super) fn selector(of: &Value) -> Option<String> {
    if of.is_null() {
        return Some(String::new());
    }
    let selector: LabelSelector = serde_json::from_value(of.clone()).ok()?;
    Some(selector.compile().ok()?.to_string())
}

/// A label selector, where an empty one reads `<none>`.
pub(super) fn selector_or_none(of: &Value) -> String {
    match selector(of) {
        Some(text) if text.is_empty() => "<none>".into(),
        Some(text) => text,
        None => "<error>".into(),
    }
}

/// A quantity in its canonical notation; one that is missing is zero.
pub(super) fn quantity(of: &Value) -> String {
    let written = match of {
        Value::Null => return "0".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let read: Result<Quantity, _> = written.parse();
    read.map_or(written, |quantity| quantity.to_string())
}
