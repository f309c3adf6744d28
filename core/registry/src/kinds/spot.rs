//! A value together with its place, for saying what is wrong with it.
//!
//! Validation walks an object by [`Spot`]s. Each knows the one it was reached from, so that the text
//! of a path is only made for a mistake.

use std::fmt::Write;

use serde_json::Value;

use crate::field_error::{FieldError, Mistake};
use crate::object::Object;

/// What validation has found so far.
pub(super) type Errors = Vec<FieldError>;

/// A value and the way to it. Of a field that is not there the value is null.
#[derive(Clone, Copy)]
pub(super) struct Spot<'p, 'v> {
    parent: Option<&'p Spot<'p, 'v>>,
    step: Step<'v>,
    value: &'v Value,
}

#[derive(Clone, Copy)]
enum Step<'v> {
    Field(&'v str),
    Item(usize),
    Key(&'v str),
}

static NOTHING: Value = Value::Null;

impl<'p, 'v> Spot<'p, 'v> {
    /// A top-level field of an object.
    pub(super) fn of(object: &'v Object, field: &'static str) -> Self {
        Self::root(field, object.get(field).unwrap_or(&NOTHING))
    }

    /// A value that counts as a top-level field.
    pub(super) fn root(field: &'static str, value: &'v Value) -> Self {
        Self {
            parent: None,
            step: Step::Field(field),
            value,
        }
    }

    /// A field of this value.
    pub(super) fn get(&'p self, field: &'static str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Field(field),
            value: &self.value[field],
        }
    }

    /// A field of this value whose name is not known beforehand.
    pub(super) fn field_named(&'p self, field: &'v str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Field(field),
            value: &self.value[field],
        }
    }

    /// A value that upstream tells of as if it were a field of this one.
    pub(super) fn told_as(&'p self, field: &'static str, value: &'v Value) -> Self {
        Self {
            parent: Some(self),
            step: Step::Field(field),
            value,
        }
    }

    /// This place with another value, which upstream shows in its stead.
    pub(super) fn told_as_whole(&self, value: &'v Value) -> Self {
        Self { value, ..*self }
    }

    /// A value that upstream tells of as if it were a key of this one.
    pub(super) fn told_as_key(&'p self, key: &'v str, value: &'v Value) -> Self {
        Self {
            parent: Some(self),
            step: Step::Key(key),
            value,
        }
    }

    /// A key of this map, whatever it looks like.
    pub(super) fn key(&'p self, key: &'v str) -> Self {
        Self {
            parent: Some(self),
            step: Step::Key(key),
            value: &self.value[key],
        }
    }

    /// The items of this list; none if it is not one.
    pub(super) fn items(&'p self) -> impl Iterator<Item = Self> + use<'p, 'v> {
        let items = self.value.as_array();
        items
            .into_iter()
            .flatten()
            .enumerate()
            .map(move |(index, value)| Self {
                parent: Some(self),
                step: Step::Item(index),
                value,
            })
    }

    /// The fields of this map; none if it is not one.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
        self.value.as_object().into_iter().flatten()
    }

    pub(super) fn value(&self) -> &'v Value {
        self.value
    }

    /// This text; empty if it is none.
    pub(super) fn text(&self) -> &'v str {
        self.value.as_str().unwrap_or_default()
    }

    pub(super) fn int(&self) -> Option<i64> {
        self.value.as_i64()
    }

    /// This number; zero if it is none, as Go has it.
    pub(super) fn number(&self) -> i64 {
        self.int().unwrap_or(0)
    }

    pub(super) fn flag(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    /// Whether there is something.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether there is nothing, or a text, list or map with nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        }
    }

    pub(super) fn required(&self, detail: &str) -> FieldError {
        FieldError::required(self.path(), detail)
    }

    pub(super) fn invalid(&self, detail: impl Into<String>) -> FieldError {
        FieldError::invalid(self.path(), self.value.clone(), detail)
    }

    /// A text that is wrong; where there is none, the empty one that Go has in its place is shown.
    pub(super) fn invalid_text(&self, detail: impl Into<String>) -> FieldError {
        FieldError::invalid(self.path(), self.text(), detail)
    }

    /// A number that is wrong; where there is none, the zero that Go has in its place is shown.
    pub(super) fn invalid_number(&self, detail: impl Into<String>) -> FieldError {
        FieldError::invalid(self.path(), self.number(), detail)
    }

    /// A value that is wrong and that upstream does not show.
    pub(super) fn invalid_unshown(&self, detail: impl Into<String>) -> FieldError {
        FieldError {
            field: self.path(),
            mistake: Mistake::Told {
                reason: "FieldValueInvalid",
                message: "Invalid value".to_owned(),
            },
            detail: detail.into(),
        }
    }

    pub(super) fn too_many(&self, max: usize) -> FieldError {
        FieldError::too_many(self.path(), self.items().count(), max)
    }

    pub(super) fn forbidden(&self, detail: impl Into<String>) -> FieldError {
        FieldError::forbidden(self.path(), detail)
    }

    pub(super) fn not_supported(&self, known: &[&str]) -> FieldError {
        FieldError::not_supported(self.path(), self.text(), known)
    }

    pub(super) fn duplicate(&self) -> FieldError {
        self.mistake(Mistake::Duplicate(self.value.clone()), "")
    }

    pub(super) fn not_found(&self) -> FieldError {
        self.mistake(Mistake::NotFound(self.value.clone()), "")
    }

    pub(super) fn too_long(&self, max: usize) -> FieldError {
        self.mistake(
            Mistake::TooLong,
            &format!("may not be more than {max} bytes"),
        )
    }

    fn mistake(&self, mistake: Mistake, detail: &str) -> FieldError {
        FieldError {
            field: self.path(),
            mistake,
            detail: detail.to_owned(),
        }
    }

    /// The way to this value, such as `spec.containers[0].name`.
    pub(super) fn path(&self) -> String {
        let mut text = self.parent.map(Spot::path).unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = match self.step {
            Step::Field(name) if text.is_empty() => write!(text, "{name}"),
            Step::Field(name) => write!(text, ".{name}"),
            Step::Item(index) => write!(text, "[{index}]"),
            Step::Key(key) => write!(text, "[{key}]"),
        };
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_tells_fields_items_and_keys() {
        let value = json!({"containers": [{"limits": {"cpu": "1"}}]});
        let spec = Spot::root("spec", &value);
        let containers = spec.get("containers");
        let paths: Vec<String> = containers
            .items()
            .map(|container| container.get("limits").key("cpu").path())
            .collect();
        assert_eq!(paths, ["spec.containers[0].limits[cpu]"]);
        assert_eq!(spec.get("x").get("y").path(), "spec.x.y");
    }

    #[test]
    fn what_is_not_there_is_null_and_empty() {
        let value = json!({"a": ""});
        let spot = Spot::root("x", &value);
        assert!(!spot.get("b").is_set() && spot.get("b").is_empty());
        assert!(spot.get("a").is_set() && spot.get("a").is_empty());
        assert_eq!(spot.get("b").items().count(), 0);
    }
}
