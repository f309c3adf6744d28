//! Field sets on the wire: `fieldsV1`.
//!
//! A step is written as a letter, a colon and its content; `.` stands for the value itself where
//! both it and something within it is in the set. Letters from the future are skipped, as upstream
//! does (`serialize.go` of structured-merge-diff).

use serde_json::{Map, Value};

use super::{FieldSet, Step};
use crate::wording;

/// The value is not a `fieldsV1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FieldsUnreadable(String);

impl FieldSet {
    /// Reads `fieldsV1`.
    pub fn from_fields_v1(value: &Value) -> Result<Self, FieldsUnreadable> {
        Ok(read(value)?.0)
    }

    /// Writes `fieldsV1`.
    pub fn to_fields_v1(&self) -> Value {
        Value::Object(write(self))
    }
}

/// The fields within a value, and whether the value itself is one.
fn read(value: &Value) -> Result<(FieldSet, bool), FieldsUnreadable> {
    let mut set = FieldSet::new();
    let mut is_member = false;
    let members = match value {
        Value::Object(members) => members,
        Value::Null => return Ok((set, true)),
        other => {
            let name = wording::json_name(other);
            return Err(FieldsUnreadable(format!(
                "expect {{ or n, but found {name}"
            )));
        }
    };
    for (name, value) in members {
        if name == "." {
            is_member = true;
            continue;
        }
        let Some(step) = read_step(name)? else {
            continue;
        };
        let (within, child_is_member) = read(value)?;
        if child_is_member {
            set.insert_step(step.clone());
        }
        set.insert_within(step, within);
    }
    let is_member = is_member || set.is_empty();
    Ok((set, is_member))
}

fn read_step(name: &str) -> Result<Option<Step>, FieldsUnreadable> {
    let unreadable =
        |why: String| FieldsUnreadable(format!("parsing key as path element: {why}: {name:?}"));
    let mut letters = name.chars();
    let (Some(letter), Some(colon)) = (letters.next(), letters.next()) else {
        return Err(unreadable("key must be 2 characters long".to_owned()));
    };
    if colon != ':' {
        return Err(unreadable("missing colon".to_owned()));
    }
    let content = letters.as_str();
    let json = || serde_json::from_str(content).map_err(|error| unreadable(error.to_string()));
    let step = match letter {
        'f' => Step::field(content),
        'v' => Step::Value(json()?),
        'k' => match json()? {
            Value::Object(key) => Step::Key(key),
            _ => return Err(unreadable("expect { or n".to_owned())),
        },
        'i' => {
            let at = content.parse();
            Step::Index(at.map_err(|_| unreadable("invalid index".to_owned()))?)
        }
        _ => return Ok(None),
    };
    Ok(Some(step))
}

fn write(set: &FieldSet) -> Map<String, Value> {
    let mut members: Map<String, Value> = set
        .members()
        .iter()
        .map(|step| (written(step), Value::Object(Map::new())))
        .collect();
    for (step, child) in set.children() {
        let mut within = write(child);
        if set.has_step(step) {
            within.insert(".".to_owned(), Value::Object(Map::new()));
        }
        members.insert(written(step), Value::Object(within));
    }
    members
}

fn written(step: &Step) -> String {
    match step {
        Step::Field(name) => format!("f:{name}"),
        Step::Key(key) => format!("k:{}", flyball_schema::go_json(&Value::Object(key.clone()))),
        Step::Value(value) => format!("v:{}", flyball_schema::go_json(value)),
        Step::Index(at) => format!("i:{at}"),
    }
}
