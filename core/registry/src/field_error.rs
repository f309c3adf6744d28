//! What is wrong with a field, in upstream's words.
//!
//! Upstream: `apimachinery/pkg/util/validation/field/errors.go`.

use std::fmt;

use flyball_api::StatusCause;
use flyball_schema::go_json;
use serde_json::Value;

use crate::quoted::quoted;

/// One mistake in an object.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// Where, such as `spec.containers[0].name`.
    pub field: String,
    /// What kind of mistake.
    pub mistake: Mistake,
    /// More about it; may be empty.
    pub detail: String,
}

/// The kinds of mistakes.
#[derive(Clone, Debug, PartialEq)]
pub enum Mistake {
    /// A value is missing.
    Required,
    /// The value is not allowed.
    Invalid(Value),
    /// The value is not allowed, and is shown by this text.
    InvalidShown(String),
    /// The value is not one of those that are known.
    NotSupported(Value),
    /// The value stands somewhere else already.
    Duplicate(Value),
    /// The value names something that is not there.
    NotFound(Value),
    /// The field may not be set here.
    Forbidden,
    /// The value is too long.
    TooLong,
    /// There are so many values, which are too many.
    TooMany(usize),
    /// What a schema says of the value, in words that have been found already.
    Told {
        /// The reason of the cause, such as `FieldValueTypeInvalid`.
        reason: &'static str,
        /// The whole message.
        message: String,
    },
}

/// The entries that errors which show a whole list show in all, unless a single error shows more.
const ENTRIES_SHOWN_MAX: usize = 1_000;

/// A bound on errors that each show the list in which they were found. Upstream has none, so that the answer to a list of
/// wrong entries grows with its square.
pub(crate) struct ListErrors {
    left: usize,
}

impl ListErrors {
    /// The bound for a list of so many entries.
    pub(crate) fn of(entries: usize) -> Self {
        let left = (ENTRIES_SHOWN_MAX / entries.max(1)).max(1);
        Self { left }
    }

    /// Whether one more error may show the list.
    pub(crate) fn take(&mut self) -> bool {
        let left = self.left.checked_sub(1);
        self.left = left.unwrap_or_default();
        left.is_some()
    }
}

impl FieldError {
    /// A missing value.
    pub fn required(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::of(field, Mistake::Required, detail)
    }

    /// A value that is not allowed.
    pub fn invalid(
        field: impl Into<String>,
        value: impl Into<Value>,
        detail: impl Into<String>,
    ) -> Self {
        Self::of(field, Mistake::Invalid(value.into()), detail)
    }

    /// A value that is not allowed and that upstream shows in another order of members than JSON values here have.
    pub(crate) fn shown(
        field: impl Into<String>,
        shown: String,
        detail: impl Into<String>,
    ) -> Self {
        Self::of(field, Mistake::InvalidShown(shown), detail)
    }

    /// A field that may not be set or changed here.
    pub fn forbidden(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::of(field, Mistake::Forbidden, detail)
    }

    /// A value that is too long.
    pub fn too_long(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::of(field, Mistake::TooLong, detail)
    }

    /// A value beside those that are known.
    pub fn not_supported(
        field: impl Into<String>,
        value: impl Into<Value>,
        known: &[&str],
    ) -> Self {
        let quoted: Vec<String> = known.iter().map(|one| format!("{one:?}")).collect();
        let detail = format!("supported values: {}", quoted.join(", "));
        Self::of(field, Mistake::NotSupported(value.into()), detail)
    }

    /// More values than there may be.
    pub fn too_many(field: impl Into<String>, count: usize, max: usize) -> Self {
        let noun = if max == 1 { "item" } else { "items" };
        let detail = format!("must have at most {max} {noun}");
        Self::of(field, Mistake::TooMany(count), detail)
    }

    fn of(field: impl Into<String>, mistake: Mistake, detail: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            mistake,
            detail: detail.into(),
        }
    }

    /// What kind of mistake it is, for people.
    fn words(&self) -> &str {
        match &self.mistake {
            Mistake::Required => "Required value",
            Mistake::Invalid(_) | Mistake::InvalidShown(_) => "Invalid value",
            Mistake::NotSupported(_) => "Unsupported value",
            Mistake::Duplicate(_) => "Duplicate value",
            Mistake::NotFound(_) => "Not found",
            Mistake::Forbidden => "Forbidden",
            Mistake::TooLong => "Too long",
            Mistake::TooMany(_) => "Too many",
            Mistake::Told { message, .. } => message,
        }
    }

    /// The mistake without its place, as causes tell it.
    fn body(&self) -> String {
        let mut text = self.words().to_owned();
        if let Some(value) = self.value() {
            text.push_str(": ");
            text.push_str(&match value {
                Value::String(value) => quoted(value),
                value => go_json(value),
            });
        }
        if let Mistake::TooMany(count) = self.mistake {
            text.push_str(&format!(": {count}"));
        }
        if let Mistake::InvalidShown(shown) = &self.mistake {
            text.push_str(": ");
            text.push_str(shown);
        }
        if !self.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&self.detail);
        }
        text
    }

    /// The value that is shown, if one is.
    pub(crate) fn value(&self) -> Option<&Value> {
        match &self.mistake {
            Mistake::Invalid(value)
            | Mistake::NotSupported(value)
            | Mistake::Duplicate(value)
            | Mistake::NotFound(value) => Some(value),
            _ => None,
        }
    }

    /// The same mistake with its value shown by this text.
    pub(crate) fn with_shown(self, text: &str) -> Self {
        let words = self.words();
        let colon = if self.detail.is_empty() { "" } else { ": " };
        let message = format!("{words}: {text}{colon}{}", self.detail);
        let reason = self.reason();
        let mistake = Mistake::Told { reason, message };
        Self::of(self.field, mistake, "")
    }

    /// The mistake as a cause of a Status.
    pub fn cause(&self) -> StatusCause {
        StatusCause {
            cause_type: self.reason().into(),
            message: self.body().into(),
            field: self.field.as_str().into(),
        }
    }

    fn reason(&self) -> &'static str {
        match self.mistake {
            Mistake::Required => "FieldValueRequired",
            Mistake::Invalid(_) | Mistake::InvalidShown(_) => "FieldValueInvalid",
            Mistake::NotSupported(_) => "FieldValueNotSupported",
            Mistake::Duplicate(_) => "FieldValueDuplicate",
            Mistake::NotFound(_) => "FieldValueNotFound",
            Mistake::Forbidden => "FieldValueForbidden",
            Mistake::TooLong => "FieldValueTooLong",
            Mistake::TooMany(_) => "FieldValueTooMany",
            Mistake::Told { reason, .. } => reason,
        }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.body())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_are_told_as_upstream_tells_them() {
        for (error, text) in [
            (
                FieldError::required("metadata.name", "name or generateName is required"),
                "metadata.name: Required value: name or generateName is required",
            ),
            (
                FieldError::invalid("spec.replicas", -1, "must be greater than or equal to 0"),
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            ),
            (
                FieldError::not_supported("spec.type", "Odd", &["A", "B"]),
                "spec.type: Unsupported value: \"Odd\": supported values: \"A\", \"B\"",
            ),
            (
                FieldError::forbidden("spec", "may not change"),
                "spec: Forbidden: may not change",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }
}
