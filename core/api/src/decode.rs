//! How a view is read from JSON, and what goes wrong.

use serde::{Deserialize, Deserializer};

/// An object could not be read from JSON; says what was wrong and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot decode: {0}")]
pub struct DecodeError(String);

impl DecodeError {
    /// Wraps the reason.
    pub fn new(reason: impl std::fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

/// Reads a view from JSON, skipping what it does not hold.
pub fn decode<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, DecodeError> {
    serde_json::from_slice(json).map_err(DecodeError::new)
}

/// Reads null as the default, as the server does: for `#[serde(deserialize_with)]`.
pub fn null_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
