//! What goes wrong when an object is read.

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
