//! How deep objects are nested: what is kept can be read.
//!
//! Clients and the readers of this program follow [`READ_BY_CLIENTS`] levels of JSON. An object is measured where it is
//! written, with its managedFields, which repeat its fields four levels further down. An object that was written before
//! there was a bound is read all the same.

use serde::Deserialize;
use serde_json::{Deserializer, Value};

use crate::failure::Failure;
use crate::object::Object;
use crate::registry::Call;

/// The levels of JSON that usual readers follow.
const READ_BY_CLIENTS: usize = 127;
/// The levels around an object in a watch event that shows a Table: event, table, rows, row.
const AROUND: usize = 4;
/// The levels that an object may have when it is written.
pub(crate) const WRITTEN_MAX: usize = READ_BY_CLIENTS - AROUND - 3;
/// The levels that are read of an object that is kept already: more than could ever be written.
const READ_MAX: usize = 512;

/// Refuses an object that is nested too deeply, unless it was so before and is no deeper now.
pub(crate) fn check(call: &Call<'_>, new: &Object, old: Option<&Object>) -> Result<(), Failure> {
    let depth = depth(new);
    if depth <= WRITTEN_MAX || old.is_some_and(|old| depth <= self::depth(old)) {
        return Ok(());
    }
    let (kind, version) = (&call.resource.kind, &call.resource.version);
    Err(Failure::bad_request(format!(
        "{kind} in version {version:?} cannot be handled as a {kind}: exceeded max depth of {WRITTEN_MAX}: the object has \
         {depth} levels of nesting with its managedFields"
    )))
}

/// The levels of nesting of an object; 1 if it has only scalars.
fn depth(object: &Object) -> usize {
    1 + object.values().map(levels).max().unwrap_or_default()
}

fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(members) => depth(members),
        _ => 0,
    }
}

/// Reads the text of an object, deeper than any is written.
pub(crate) fn read(text: &[u8]) -> Result<Object, serde_json::Error> {
    serde_json::from_slice(text).or_else(|error| {
        if !(READ_BY_CLIENTS..=READ_MAX).contains(&text_depth(text)) {
            return Err(error);
        }
        let mut reader = Deserializer::from_slice(text);
        reader.disable_recursion_limit();
        let object = Object::deserialize(&mut reader)?;
        reader.end()?;
        Ok(object)
    })
}

/// Reads the text of an object that is kept.
pub(crate) fn read_kept(text: &[u8]) -> Object {
    match read(text) {
        Ok(object) => object,
        // It was read when the store was opened, or measured before it was written. An empty object in its place would
        // be written back.
        Err(error) => unreachable!("a kept object cannot be read: {error}"),
    }
}

/// The levels of nesting of a text of JSON.
fn text_depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for byte in text {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}0{}", r#"{"a\"{[":"#.repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn more_is_read_than_is_written() {
        for levels in [1, WRITTEN_MAX, 127, 128, 132, 300, READ_MAX] {
            let text = nested(levels);
            assert_eq!(text_depth(text.as_bytes()), levels);
            let object = read(text.as_bytes()).unwrap();
            assert_eq!(depth(&object), levels);
            assert_eq!(serde_json::to_string(&object).unwrap(), text);
        }
        assert!(read(nested(READ_MAX + 1).as_bytes()).is_err());
        assert!(read(format!("{}x", nested(200)).as_bytes()).is_err());
    }
}
