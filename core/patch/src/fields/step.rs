//! A step from a value to something within it.

use std::cmp::Ordering;
use std::fmt;

use flyball_api::Text;
use serde_json::{Map, Number, Value};

/// A step from a value to something within it.
///
/// Steps are ordered by kind, then by content. Numbers are the same if they are as large, however
/// they are written.
#[derive(Clone, Debug)]
pub enum Step {
    /// To the member of this name.
    Field(Text),
    /// To the item of a list that has these values in its key fields.
    Key(Map<String, Value>),
    /// To the item of a set that is this value.
    Value(Value),
    /// To the item at this place.
    Index(i64),
}

impl Step {
    /// To the member of this name.
    pub fn field(name: &str) -> Self {
        Step::Field(name.into())
    }

    fn rank(&self) -> u8 {
        match self {
            Step::Field(_) => 0,
            Step::Key(_) => 1,
            Step::Value(_) => 2,
            Step::Index(_) => 3,
        }
    }
}

impl Ord for Step {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Step::Field(a), Step::Field(b)) => a.cmp(b),
            (Step::Key(a), Step::Key(b)) => compare_members(a, b),
            (Step::Value(a), Step::Value(b)) => compare(a, b),
            (Step::Index(a), Step::Index(b)) => a.cmp(b),
            (a, b) => a.rank().cmp(&b.rank()),
        }
    }
}

impl PartialOrd for Step {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Step {}

impl fmt::Display for Step {
    /// As in messages: `.spec`, `[name="web"]`, `[="x"]`, `[0]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Field(name) => write!(f, ".{name}"),
            Step::Key(key) => {
                f.write_str("[")?;
                for (at, (name, value)) in key.iter().enumerate() {
                    if at > 0 {
                        f.write_str(",")?;
                    }
                    write!(f, "{name}={}", shown(value))?;
                }
                f.write_str("]")
            }
            Step::Value(value) => write!(f, "[={}]", shown(value)),
            Step::Index(at) => write!(f, "[{at}]"),
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(shown).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| format!("{name}={}", shown(member)))
            .collect(),
        other => other.to_string(),
    }
}

/// Whether two values are the same to server-side apply: numbers by amount, the rest as it is.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    compare(a, b) == Ordering::Equal
}

/// A total order of all JSON: numbers, strings, booleans, lists, maps, null.
fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            first_difference(pairs).then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => compare_members(a, b),
        (a, b) => value_rank(a).cmp(&value_rank(b)),
    }
}

fn compare_members(a: &Map<String, Value>, b: &Map<String, Value>) -> Ordering {
    let pairs = a
        .iter()
        .zip(b)
        .map(|((name_a, a), (name_b, b))| name_a.cmp(name_b).then_with(|| compare(a, b)));
    first_difference(pairs).then(a.len().cmp(&b.len()))
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>) -> Ordering {
    pairs
        .find(|order| *order != Ordering::Equal)
        .unwrap_or(Ordering::Equal)
}

fn value_rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        // A number that is not whole differs from every whole one, and where it could be taken for
        // one, both are small enough to be exact.
        _ => {
            let (a, b) = (a.as_f64().unwrap_or(0.0), b.as_f64().unwrap_or(0.0));
            a.total_cmp(&b)
        }
    }
}

/// A whole number, also if it is written with a fraction of zero.
fn whole(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    // Beyond this, an i128 does not hold it; all such numbers are whole and compare as they are.
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
}
