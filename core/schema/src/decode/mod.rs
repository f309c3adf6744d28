//! From JSON to a value of a type, as upstream's decoder does it.
//!
//! Built-in kinds are decoded strictly by type: a string where a number belongs is an error in the words of Go's
//! decoder, quantities and times take their canonical form, and a null is what Go makes of it: nothing in a field,
//! an empty value in a list or map. Custom resources are only pruned; their values are a matter of validation.
//!
//! Fields that the type does not have, and fields that are there twice, are dropped and reported. Whether the report
//! is an error, a warning or nothing is the caller's decision (`fieldValidation`).

pub(crate) mod base64;
mod convert;
mod fault;
mod head;
mod place;
mod scalar;
mod seed;
mod syntax;

pub use syntax::json_mistake;
mod time;

use serde::de::DeserializeSeed;
use serde_json::Value;

use crate::Schema;
use seed::{Seed, State};

pub use convert::{Declared, convert};
pub use fault::{DecodeFailed, StrictFault, strict_message};
pub use head::{head_of, read_head, read_json, read_json_strict};

/// What was decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The value without what does not belong to its type.
    pub value: Value,
    /// What was dropped, in order of appearance: at most a hundred different faults, as upstream.
    pub strict: Vec<StrictFault>,
}

/// Decodes the text of an object of a built-in kind.
pub fn decode(schema: Schema<'_>, text: &[u8]) -> Result<Decoded, DecodeFailed> {
    read(schema, true, text)
}

/// Decodes an object of a built-in kind that was read or patched before its type was known.
pub fn decode_value(schema: Schema<'_>, value: Value) -> Result<Decoded, DecodeFailed> {
    let mut state = State::new(true);
    let value = Seed::new(schema, &mut state).deserialize(value);
    state.finish(value.map_err(|error| error.to_string()))
}

/// Reads the text of a custom resource and drops the fields that its type does not have.
pub fn decode_custom(schema: Schema<'_>, text: &[u8]) -> Result<Decoded, DecodeFailed> {
    read(schema, false, text)
}

fn read(schema: Schema<'_>, typed: bool, text: &[u8]) -> Result<Decoded, DecodeFailed> {
    let mut state = State::new(typed);
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = Seed::new(schema, &mut state).deserialize(&mut json);
    let value = value.and_then(|value| json.end().map(|()| value));
    state.finish(value.map_err(|error| syntax::message(text, &error)))
}

/// Drops the fields that the type of a custom resource does not have, and says which.
pub fn prune(schema: Schema<'_>, value: &mut Value) -> Vec<StrictFault> {
    let mut state = State::new(false);
    // What is JSON already can always be read as JSON.
    if let Ok(pruned) = Seed::new(schema, &mut state).deserialize(value.take()) {
        *value = pruned;
    }
    state.strict
}

#[cfg(test)]
mod tests;
