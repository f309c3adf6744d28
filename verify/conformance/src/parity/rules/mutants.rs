//! One wrong value at a time.

use serde_json::{Value, json};

/// A place of an object and what to put there; nothing takes it away.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mutant {
    /// A JSON pointer.
    pub(crate) at: String,
    pub(crate) set: Option<Value>,
}

/// Which values to put in the place of others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values {
    texts: &'static [&'static str],
    numbers: &'static [i64],
    /// Whether texts and numbers are also changed a little.
    nudges: bool,
}

/// For objects that are new.
pub(crate) const FOR_CREATE: Values = Values {
    texts: &["", "Not Valid!"],
    numbers: &[0, -1, 70_000],
    nudges: false,
};

/// For objects that are there already.
pub(crate) const FOR_UPDATE: Values = Values {
    texts: &["Not Valid!"],
    numbers: &[-1],
    nudges: true,
};

/// Longer than labels and names may be.
const LONG: usize = 254;

/// Maps whose keys are not the names of fields.
const MAPS: &[&str] = &[
    "labels",
    "matchLabels",
    "nodeSelector",
    "limits",
    "requests",
    "hard",
    "capacity",
    "allocatable",
    "data",
    "binaryData",
    "parameters",
    "podFixed",
];

/// Everything that can be done to one value of an object, its head and metadata apart.
pub(crate) fn mutants(object: &Value, values: Values) -> Vec<Mutant> {
    let mut found = Vec::new();
    for (key, value) in object.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
            visit(
                &format!("/{}", escaped(key)),
                key,
                value,
                values,
                &mut found,
            );
        }
    }
    found
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn visit(place: &str, key: &str, value: &Value, values: Values, found: &mut Vec<Mutant>) {
    let mut put = |set: Option<Value>| {
        found.push(Mutant {
            at: place.to_owned(),
            set,
        });
    };
    put(None);
    match value {
        Value::String(text) => {
            let words = values.texts.iter().map(|word| json!(word));
            words.for_each(|word| put(Some(word)));
            if values.nudges {
                put(Some(format!("{text}x").into()));
            } else {
                put(Some("a".repeat(LONG).into()));
            }
        }
        Value::Number(number) => {
            let numbers = values.numbers.iter().map(|number| json!(number));
            numbers.for_each(|number| put(Some(number)));
            if values.nudges {
                put(number.as_i64().map(|number| json!(number + 1)));
            }
        }
        Value::Bool(flag) => put(Some(json!(!flag))),
        Value::Array(items) => {
            put(Some(json!([])));
            if let Some(first) = items.first() {
                let mut twice = items.clone();
                twice.push(first.clone());
                put(Some(twice.into()));
            }
        }
        Value::Object(fields) => {
            put(Some(json!({})));
            if MAPS.contains(&key) {
                let mut more = fields.clone();
                let sample = fields.values().next().cloned().unwrap_or(json!("1"));
                more.insert("Not Valid!".to_owned(), sample);
                put(Some(more.into()));
            }
        }
        Value::Null => {}
    }
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                visit(&format!("{place}/{at}"), "", item, values, found);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let place = format!("{place}/{}", escaped(key));
                visit(&place, key, value, values, found);
            }
        }
        _ => {}
    }
}

impl Mutant {
    /// The object with the wrong value; none if it has no such place.
    pub(crate) fn applied(&self, object: &Value) -> Option<Value> {
        let mut object = object.clone();
        let (parent, key) = self.at.rsplit_once('/')?;
        let key = key.replace("~1", "/").replace("~0", "~");
        match (object.pointer_mut(parent)?, &self.set) {
            (Value::Object(fields), Some(value)) => drop(fields.insert(key, value.clone())),
            (Value::Object(fields), None) => drop(fields.remove(&key)?),
            (Value::Array(items), Some(value)) => {
                *items.get_mut(key.parse::<usize>().ok()?)? = value.clone();
            }
            (Value::Array(items), None) => {
                let at = key.parse::<usize>().ok()?;
                if at >= items.len() {
                    return None;
                }
                items.remove(at);
            }
            _ => return None,
        }
        Some(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_below_the_head_is_spoilt_in_several_ways() {
        let object = json!({"kind": "X", "metadata": {"name": "a"}, "spec": {"names": ["b"], "labels": {"a/b": "c"}}});
        let all = mutants(&object, FOR_CREATE);
        let places: Vec<&str> = all.iter().map(|mutant| mutant.at.as_str()).collect();
        for place in ["/spec", "/spec/names", "/spec/names/0", "/spec/labels/a~1b"] {
            assert!(places.contains(&place), "{place}");
        }
        assert!(!places.iter().any(|place| place.starts_with("/metadata")));
        for mutant in &all {
            assert_ne!(mutant.applied(&object), Some(object.clone()), "{mutant:?}");
            assert!(mutant.applied(&object).is_some(), "{mutant:?}");
        }
    }

    #[test]
    fn a_place_that_is_not_there_cannot_be_spoilt() {
        let mutant = Mutant {
            at: "/spec/a/b".to_owned(),
            set: None,
        };
        assert_eq!(mutant.applied(&json!({"spec": {}})), None);
    }
}
