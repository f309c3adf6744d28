//! How k8s-openapi merges each list and map, found out by merging.
//!
//! Its types do not say which lists are sets or maps, but its `DeepMerge` acts on it. So two objects are made that
//! differ in one list only, and the merged one shows what kind of list it is. What lies below an atomic list cannot be
//! reached this way, and need not be: nothing is merged there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use crate::kinds::{Kind, Merge};

/// How a list or map is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Merged {
    /// As a whole.
    Atomic,
    /// A list by the values of its items.
    Set,
    /// A list by these fields of its items.
    By(Vec<String>),
    /// A map by its keys.
    Granular,
}

/// What was found, by name of the type and of the field.
pub(crate) type Findings = BTreeMap<(String, String), Merged>;

/// A step from an object to a part of it.
#[derive(Clone)]
enum Step {
    Field(String),
    /// The only item of a list, which has these fields besides the part.
    Item(Map<String, Value>),
}

/// A type that was reached and the way to it.
struct Place {
    type_name: String,
    way: Vec<Step>,
    merge: Merge,
}

impl Place {
    fn below(&self, type_name: &str, steps: Vec<Step>) -> Self {
        let mut way = self.way.clone();
        way.extend(steps);
        Self {
            type_name: type_name.to_owned(),
            way,
            merge: self.merge,
        }
    }

    /// Merges two values of a field, both inside otherwise equal objects.
    fn merged(&self, field: &str, one: Value, other: Value) -> Option<Value> {
        let inside = |value: Value| {
            let mut value = json!({ field: value });
            for step in self.way.iter().rev() {
                value = match step {
                    Step::Field(name) => json!({ name.as_str(): value }),
                    Step::Item(identity) => {
                        let mut item = identity.clone();
                        item.extend(value.as_object().cloned().unwrap_or_default());
                        json!([item])
                    }
                };
            }
            value
        };
        let mut merged = (self.merge)(inside(one), inside(other))?;
        for step in &self.way {
            merged = match step {
                Step::Field(name) => merged.get_mut(name)?.take(),
                Step::Item(_) => merged.get_mut(0)?.take(),
            };
        }
        Some(merged.get_mut(field)?.take())
    }
}

/// Merges objects of all kinds until every reachable list and map is known.
pub(crate) fn probe(kinds: &[Kind], schemas: &Map<String, Value>) -> Findings {
    let mut findings = Findings::new();
    let mut seen = BTreeSet::new();
    let mut open: VecDeque<Place> = kinds
        .iter()
        .map(|kind| Place {
            type_name: kind.type_name.clone(),
            way: Vec::new(),
            merge: kind.merge,
        })
        .collect();
    while let Some(place) = open.pop_front() {
        if !seen.insert(place.type_name.clone()) {
            continue;
        }
        for (field, schema) in properties(schemas, &place.type_name) {
            let step = Step::Field(field.clone());
            if let Some(name) = reference(schema) {
                open.push_back(place.below(name, vec![step]));
                continue;
            }
            let found = if let Some(item) = schema.get("items") {
                let found = list(schemas, &place, field, item).unwrap_or(Merged::Atomic);
                if let (Some(name), Merged::By(keys)) = (reference(item), &found) {
                    let sample = sample(schemas, item, 1).unwrap_or_default();
                    let identity = keys.iter().map(|key| (key.clone(), sample[key].clone()));
                    let item = Step::Item(identity.collect());
                    open.push_back(place.below(name, vec![step, item]));
                }
                found
            } else if let Some(value) = schema.get("additionalProperties") {
                let found = map(schemas, &place, field, value).unwrap_or(Merged::Granular);
                if let (Some(name), Merged::Granular) = (reference(value), &found) {
                    let key = Step::Field("key".to_owned());
                    open.push_back(place.below(name, vec![step, key]));
                }
                found
            } else {
                continue;
            };
            findings.insert((place.type_name.clone(), field.clone()), found);
        }
    }
    findings
}

fn list(schemas: &Map<String, Value>, place: &Place, field: &str, item: &Value) -> Option<Merged> {
    let one = sample(schemas, item, 1)?;
    let other = sample(schemas, item, 2)?;
    let length = |other: &Value| {
        let merged = place.merged(field, json!([one]), json!([other]))?;
        merged.as_array().map(Vec::len)
    };
    if length(&other)? == 1 {
        return Some(Merged::Atomic);
    }
    let Some(fields) = one.as_object() else {
        return Some(Merged::Set);
    };
    // Items that differ in one field stay apart only if that field tells them apart.
    let mut keys = Vec::new();
    for name in fields.keys() {
        let mut near = one.clone();
        near[name] = other[name].clone();
        if length(&near)? == 2 {
            keys.push(name.clone());
        }
    }
    Some(Merged::By(keys))
}

fn map(schemas: &Map<String, Value>, place: &Place, field: &str, value: &Value) -> Option<Merged> {
    let value = sample(schemas, value, 1)?;
    let merged = place.merged(field, json!({ "one": value }), json!({ "other": value }))?;
    match merged.as_object()?.len() {
        1 => Some(Merged::Atomic),
        _ => Some(Merged::Granular),
    }
}

/// One of two different values of a type: a scalar, or an object with its scalar fields.
fn sample(schemas: &Map<String, Value>, schema: &Value, which: u8) -> Option<Value> {
    if schema.get("items").is_some() {
        return Some(json!([]));
    }
    let scalar = scalar(schemas, schema, which);
    scalar.or_else(|| {
        let name = reference(schema)?;
        let fields = properties(schemas, name);
        let fields =
            fields.filter_map(|(name, of)| Some((name.clone(), self::scalar(schemas, of, which)?)));
        Some(Value::Object(fields.collect()))
    })
}

fn scalar(schemas: &Map<String, Value>, schema: &Value, which: u8) -> Option<Value> {
    let schema = match reference(schema) {
        Some(name) => schemas.get(name)?,
        None => schema,
    };
    if schema.get("x-kubernetes-int-or-string").is_some() {
        return Some(json!(which.to_string()));
    }
    match (schema.get("type")?.as_str()?, text(schema, "format")) {
        ("string", "byte") => Some(json!(["", "YQ==", "Yg=="][usize::from(which)])),
        ("string", "date-time") => Some(json!(format!("2000-01-01T00:00:0{which}Z"))),
        ("string", _) => Some(json!(which.to_string())),
        ("integer", _) => Some(json!(which)),
        ("number", _) => Some(json!(f64::from(which))),
        ("boolean", _) => Some(json!(which == 1)),
        _ => None,
    }
}

/// The fields of a named type.
pub(crate) fn properties<'a>(
    schemas: &'a Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let schema = schemas
        .get(name)
        .and_then(|schema| schema.get("properties"));
    schema.and_then(Value::as_object).into_iter().flatten()
}

/// The name of the type that a schema refers to.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// A text of a schema; empty if there is none.
pub(crate) fn text<'a>(schema: &'a Value, name: &str) -> &'a str {
    schema.get(name).and_then(Value::as_str).unwrap_or_default()
}
