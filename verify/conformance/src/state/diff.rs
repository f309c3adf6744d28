//! Where two trees of values differ.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

/// One place in which two states differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Keys and indexes from the root, joined by ` / `.
    pub path: String,
    /// The first state's value; `None` if it has none there.
    pub left: Option<Value>,
    /// The second state's value.
    pub right: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| match value {
            Some(value) => value.to_string(),
            None => "(absent)".to_owned(),
        };
        write!(
            formatter,
            "{}: {} | {}",
            self.path,
            show(&self.left),
            show(&self.right)
        )
    }
}

pub(super) fn maps(
    left: &BTreeMap<String, Value>,
    right: &BTreeMap<String, Value>,
) -> Vec<Difference> {
    let mut found = Vec::new();
    let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for key in keys {
        compare(key, left.get(key), right.get(key), &mut found);
    }
    found
}

fn compare(path: &str, left: Option<&Value>, right: Option<&Value>, found: &mut Vec<Difference>) {
    match (left, right) {
        (Some(left), Some(right)) if left == right => {}
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                compare(
                    &format!("{path} / {key}"),
                    left.get(key),
                    right.get(key),
                    found,
                );
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                compare(
                    &format!("{path} / {index}"),
                    left.get(index),
                    right.get(index),
                    found,
                );
            }
        }
        (left, right) => found.push(Difference {
            path: path.to_owned(),
            left: left.cloned(),
            right: right.cloned(),
        }),
    }
}
