//! Regular expressions of a schema, compiled once.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use flyball_schema::Types;
use regex::Regex;
use serde_json::Value;

/// The expressions of one schema. Each is compiled when the first value is compared with it.
#[derive(Debug, Default)]
pub(crate) struct Patterns(BTreeMap<Box<str>, OnceLock<Option<Regex>>>);

impl Patterns {
    /// The expressions of these types, also of schemas that are combined.
    pub(super) fn of(types: &Types) -> Self {
        let mut all = BTreeMap::new();
        for (id, _) in types.iter() {
            let Some(rules) = types.rules(id) else {
                continue;
            };
            if let Some(pattern) = &rules.pattern {
                all.insert(pattern.clone(), OnceLock::new());
            }
            for (_, nested) in &rules.junctors {
                collect(nested, &mut all);
            }
        }
        Self(all)
    }

    /// Whether an expression of the schema occurs in a text. One that cannot be read occurs nowhere;
    /// definitions with such expressions are refused.
    pub(super) fn matches(&self, pattern: &str, text: &str) -> bool {
        let Some(place) = self.0.get(pattern) else {
            return false;
        };
        let regex = place.get_or_init(|| Regex::new(pattern).ok());
        regex.as_ref().is_some_and(|regex| regex.is_match(text))
    }
}

fn collect(schema: &Value, all: &mut BTreeMap<Box<str>, OnceLock<Option<Regex>>>) {
    match schema {
        Value::Array(list) => list.iter().for_each(|one| collect(one, all)),
        Value::Object(object) => {
            for (name, value) in object {
                match value {
                    Value::String(pattern) if name == "pattern" => {
                        all.insert(pattern.as_str().into(), OnceLock::new());
                    }
                    value => collect(value, all),
                }
            }
        }
        _ => {}
    }
}
