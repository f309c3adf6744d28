//! Mistakes: in one place of an object, or in its text.

use serde_json::{Map, Value, json};

use crate::parity::chance::Chance;
use crate::parity::rules::mutants::{FOR_CREATE, mutants};

/// Words that are wrong in most places.
pub(crate) const WORDS: &[&str] = &[
    "",
    "x",
    "Not Valid!",
    "-1",
    "1e3",
    "100%",
    "0",
    "true",
    "10.0.0.0/8",
    "Always",
    "ü",
];

/// An object with `change` merged into it, as a merge patch would.
pub(super) fn merged(mut object: Value, change: &Value) -> Value {
    merge(&mut object, change);
    object
}

fn merge(into: &mut Value, change: &Value) {
    let Value::Object(change) = change else {
        *into = change.clone();
        return;
    };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    for (key, value) in change {
        if value.is_null() {
            into.as_object_mut().map(|into| into.remove(key));
        } else {
            merge(&mut into[key], value);
        }
    }
}

/// The object with a mistake in one place, seldom two.
pub(super) fn mutated(mut object: Value, chance: &mut Chance) -> Value {
    let times = if chance.percent(80) { 1 } else { 2 };
    for _ in 0..times {
        let places = places(&object);
        let Some(place) = chance.one(&places).cloned() else {
            break;
        };
        // Values that are wrong by the rules of their field, or by their type.
        let wrong = mutants(&object, FOR_CREATE);
        let wrong = chance
            .one(&wrong)
            .and_then(|mutant| mutant.applied(&object));
        match wrong.filter(|_| chance.percent(60)) {
            Some(wrong) => object = wrong,
            None => spoil(&mut object, &place, chance),
        }
    }
    object
}

/// The places of all values below the top, as JSON pointers; what the server keeps in its books is left alone.
fn places(object: &Value) -> Vec<String> {
    let mut places = Vec::new();
    collect("", object, &mut places);
    places
}

fn collect(place: &str, value: &Value, places: &mut Vec<String>) {
    let mut visit = |key: &str, value: &Value| {
        if key == "managedFields" {
            return;
        }
        let place = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
        places.push(place.clone());
        collect(&place, value, places);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| visit(key, value)),
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            numbered.for_each(|(at, value)| visit(&at.to_string(), value));
        }
        _ => {}
    }
}

fn spoil(object: &mut Value, place: &str, chance: &mut Chance) {
    let (parent, key) = place.rsplit_once('/').unwrap_or_default();
    let key = key.replace("~1", "/").replace("~0", "~");
    let kind = chance.below(12);
    let word = chance.word(WORDS);
    let Some(parent) = object.pointer_mut(parent) else {
        return;
    };
    if kind < 3 {
        match parent {
            Value::Object(members) => drop(members.remove(&key)),
            Value::Array(items) => {
                let at = key.parse().unwrap_or(0);
                if kind == 0 && at < items.len() {
                    items.push(items[at].clone());
                } else if at < items.len() {
                    items.remove(at);
                }
            }
            _ => {}
        }
        return;
    }
    if kind == 3 {
        if let Value::Object(members) = parent {
            members.insert(format!("{key}Odd"), json!(1));
        }
        return;
    }
    let value = match parent {
        Value::Object(members) => members.get_mut(&key),
        Value::Array(items) => key.parse().ok().and_then(|at: usize| items.get_mut(at)),
        _ => None,
    };
    let Some(value) = value else { return };
    *value = match (kind, &*value) {
        (4, _) => Value::Null,
        (5, Value::Object(_)) => json!([]),
        (5, Value::Array(_)) => json!({}),
        (5, Value::Number(number)) => number.to_string().into(),
        (5, _) => json!(7),
        (6, Value::Object(_)) => json!({}),
        (6, Value::Array(_)) => json!([]),
        (6, Value::Number(_)) => json!(-1),
        (6, Value::Bool(flag)) => json!(!flag),
        (7, Value::Number(_)) => json!(1.5),
        (7, Value::Object(_)) => "text".into(),
        (7, Value::Array(_)) => "text".into(),
        (8, Value::Number(_)) => json!(70_000),
        (8, Value::String(text)) => text.repeat(70).into(),
        (8, Value::Bool(_)) => "yes".into(),
        (9, Value::Number(_)) => json!(0),
        (9, Value::String(text)) => text.to_uppercase().into(),
        (_, Value::String(_)) => word.into(),
        (_, Value::Number(_)) => json!(99_999_999_999_u64),
        (_, other) => other.clone(),
    };
}

/// The text of an object with a mistake that is none of JSON's, or of JSON's.
pub(super) fn broken(body: &str, chance: &mut Chance) -> String {
    match chance.below(10) {
        0 => body.get(..body.len() / 2).unwrap_or_default().to_owned(),
        1 => String::new(),
        2 => "null".to_owned(),
        3 => "[]".to_owned(),
        4 => "\"text\"".to_owned(),
        5 => format!("{body}{body}"),
        6 => format!("{body} x"),
        7 => body.replacen("\"metadata\":{", "\"metadata\":{\"name\":\"twice\",", 1),
        8 => body.replacen("\"kind\":\"", "\"kind\":\"Odd", 1),
        _ => body.replacen("\"apiVersion\":\"", "\"apiVersion\":\"odd/", 1),
    }
}
