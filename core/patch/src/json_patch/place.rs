//! Where an operation acts: the object or list that a path leads to, and the key within it.

use serde_json::Value;

/// The value that holds what a path names, and the last part of the path.
///
/// `None` if the path has no slash, or if something on the way is missing or has no parts.
pub(super) fn find<'v>(document: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let (_, parts) = path.split_once('/')?;
    let (way, last) = match parts.rsplit_once('/') {
        Some((way, last)) => (Some(way), last),
        None => (None, parts),
    };
    let mut at = document;
    for part in way.into_iter().flat_map(|way| way.split('/')) {
        at = get_mut(at, &unescaped(part)).ok()??;
    }
    (at.is_array() || at.is_object()).then(|| (at, unescaped(last)))
}

/// `~1` stands for a slash and `~0` for a tilde.
fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// What is at a key. A member that is not there is none; an index that is not there is an error.
pub(super) fn get<'v>(holder: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    match holder {
        Value::Array(items) => {
            let at = index(key, items.len())?;
            items.get(at).map(Some).ok_or_else(|| invalid_index(key))
        }
        Value::Object(members) => Ok(members.get(key).filter(|member| !member.is_null())),
        _ => Ok(None),
    }
}

fn get_mut<'v>(holder: &'v mut Value, key: &str) -> Result<Option<&'v mut Value>, String> {
    match holder {
        Value::Array(items) => {
            let at = index(key, items.len())?;
            items
                .get_mut(at)
                .map(Some)
                .ok_or_else(|| invalid_index(key))
        }
        Value::Object(members) => Ok(members.get_mut(key)),
        _ => Ok(None),
    }
}

/// Puts a value to a key: over a member, before an item, or behind the last one (`-`).
pub(super) fn add(holder: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match holder {
        Value::Array(items) if key == "-" => items.push(value),
        Value::Array(items) => {
            let number = number(key)
                .map_err(|error| format!("value was not a proper array index: '{key}': {error}"))?;
            let at = place(number, key, items.len() + 1)?;
            if at > items.len() {
                return Err(invalid_index(key));
            }
            items.insert(at, value);
        }
        Value::Object(members) => {
            members.insert(key.to_owned(), value);
        }
        _ => {}
    }
    Ok(())
}

/// Puts a value over what is at a key.
pub(super) fn set(holder: &mut Value, key: &str, value: Value) -> Result<(), String> {
    match holder {
        Value::Array(items) => {
            let at = index(key, items.len())?;
            *items.get_mut(at).ok_or_else(|| invalid_index(key))? = value;
        }
        Value::Object(members) => {
            members.insert(key.to_owned(), value);
        }
        _ => {}
    }
    Ok(())
}

/// Takes away what is at a key.
pub(super) fn remove(holder: &mut Value, key: &str) -> Result<Value, String> {
    match holder {
        Value::Array(items) => {
            let at = index(key, items.len())?;
            if at >= items.len() {
                return Err(invalid_index(key));
            }
            Ok(items.remove(at))
        }
        Value::Object(members) => members
            .remove(key)
            .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: missing value")),
        _ => Ok(Value::Null),
    }
}

/// The place that an index means in a list with this many places; negative ones count from its end.
fn index(key: &str, places: usize) -> Result<usize, String> {
    place(number(key)?, key, places)
}

fn number(key: &str) -> Result<i64, String> {
    key.parse()
        .map_err(|_| format!("strconv.Atoi: parsing {key:?}: invalid syntax"))
}

fn place(number: i64, key: &str, places: usize) -> Result<usize, String> {
    if let Ok(at) = usize::try_from(number) {
        return Ok(at);
    }
    let from_end = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    places
        .checked_sub(from_end)
        .ok_or_else(|| invalid_index(key))
}

fn invalid_index(key: &str) -> String {
    format!("Unable to access invalid index: {key}: invalid index referenced")
}
