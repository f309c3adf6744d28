//! Following paths.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Comparison, Filter, PathAmiss, Slice, Step};

/// So many values at once are enough for any column; a path that leads to more leads nowhere.
const FOUND_MAX: usize = 10_000;

/// Where these steps lead from these values.
pub(super) fn follow<'v>(
    steps: &'v [Step],
    from: Vec<&'v Value>,
) -> Result<Vec<&'v Value>, PathAmiss> {
    steps.iter().try_fold(from, |values, step| {
        let found = take(step, values)?;
        if found.len() > FOUND_MAX {
            Err(PathAmiss)
        } else {
            Ok(found)
        }
    })
}

fn take<'v>(step: &'v Step, values: Vec<&'v Value>) -> Result<Vec<&'v Value>, PathAmiss> {
    match step {
        Step::Field(name) => Ok(values
            .into_iter()
            .filter_map(|one| field(one, name))
            .collect()),
        Step::Every => Ok(values.into_iter().flat_map(inner).collect()),
        Step::Deep => {
            let mut found = Vec::new();
            values
                .into_iter()
                .try_for_each(|one| descend(one, &mut found))?;
            Ok(found)
        }
        Step::Slice(slice) => sliced(slice, values),
        Step::Union(paths) => {
            let mut found = Vec::new();
            for path in paths {
                found.extend(follow(path, values.clone())?);
            }
            Ok(found)
        }
        Step::Filter(filter) => filtered(filter, values),
        // Text is there once, numbers once for each value: so does upstream.
        Step::Literal(text @ Value::String(_)) => Ok(vec![text]),
        Step::Literal(literal) => Ok(values.iter().map(|_| literal).collect()),
        Step::Word => Err(PathAmiss),
    }
}

fn field<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.as_object()?.get(name)
}

/// What is in a list or map.
fn inner(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(list) => list.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

/// The lists and maps within a value, itself first.
fn descend<'v>(value: &'v Value, found: &mut Vec<&'v Value>) -> Result<(), PathAmiss> {
    let within = inner(value);
    if within.is_empty() {
        return Ok(());
    }
    if found.len() > FOUND_MAX {
        return Err(PathAmiss);
    }
    found.push(value);
    within.into_iter().try_for_each(|one| descend(one, found))
}

fn sliced<'v>(slice: &Slice, values: Vec<&'v Value>) -> Result<Vec<&'v Value>, PathAmiss> {
    let mut found = Vec::new();
    for value in values {
        let list = match value {
            Value::Null => continue,
            Value::Array(list) => list,
            _ => return Err(PathAmiss),
        };
        let length = i64::try_from(list.len()).map_err(|_| PathAmiss)?;
        let from_end = |at: i64| {
            if at < 0 {
                at.saturating_add(length)
            } else {
                at
            }
        };
        let from = from_end(slice.from.unwrap_or_default());
        let to = match slice.to {
            // The last entry is `[-1]`, whose end is 0: the end of the list.
            Some(0) if slice.single => length,
            Some(to) => from_end(to),
            None => length,
        };
        if from == to {
            return Ok(found);
        }
        let step = match slice.step {
            None => 1,
            Some(step) => usize::try_from(step)
                .ok()
                .filter(|step| *step > 0)
                .ok_or(PathAmiss)?,
        };
        let range = usize::try_from(from).ok().zip(usize::try_from(to).ok());
        let (from, to) = range.ok_or(PathAmiss)?;
        if from >= list.len() {
            return Err(PathAmiss);
        }
        let entries = list.get(from..to).ok_or(PathAmiss)?;
        found.extend(entries.iter().step_by(step));
    }
    Ok(found)
}

fn filtered<'v>(filter: &'v Filter, values: Vec<&'v Value>) -> Result<Vec<&'v Value>, PathAmiss> {
    let mut found = Vec::new();
    for value in values {
        let list = value.as_array().ok_or(PathAmiss)?;
        for entry in list {
            if holds(filter, entry)? {
                found.push(entry);
            }
        }
    }
    Ok(found)
}

fn holds<'v>(filter: &'v Filter, entry: &'v Value) -> Result<bool, PathAmiss> {
    let left = follow(&filter.left, vec![entry]);
    let Some((comparison, right)) = &filter.compared else {
        return Ok(left.is_ok_and(|found| !found.is_empty()));
    };
    let left = left?;
    if left.is_empty() {
        return Ok(false);
    }
    match (left.as_slice(), follow(right, vec![entry])?.as_slice()) {
        ([left], [right]) => compare(*comparison, left, right),
        ([_], []) => Ok(false),
        _ => Err(PathAmiss),
    }
}

/// Only scalars of one type can be compared, and truth has no order.
fn compare(comparison: Comparison, left: &Value, right: &Value) -> Result<bool, PathAmiss> {
    let order = match (left, right) {
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => {
            return match comparison {
                Comparison::Equal => Ok(left == right),
                Comparison::NotEqual => Ok(left != right),
                _ => Err(PathAmiss),
            };
        }
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => {
                let floats = left.as_f64().zip(right.as_f64());
                let order = floats.and_then(|(left, right)| left.partial_cmp(&right));
                order.ok_or(PathAmiss)?
            }
            _ => return Err(PathAmiss),
        },
        _ => return Err(PathAmiss),
    };
    Ok(match comparison {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
        Comparison::Unknown => return Err(PathAmiss),
    })
}
