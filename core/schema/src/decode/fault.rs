//! What can be wrong with an object's text, in upstream's words.

use crate::{Schema, Shape, TextFormat};

/// Why a text is not an object of its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeFailed {
    /// It is not JSON.
    #[error("{0}")]
    Syntax(String),
    /// A value of another type than the field's.
    #[error("json: cannot unmarshal {found} into Go {place} of type {expected}")]
    WrongType {
        /// What was there: `string`, `number 1.5`, …
        found: String,
        /// Where: `struct field DeploymentSpec.spec.replicas`, or `value` if in no field.
        place: String,
        /// Go's name for the type that was expected.
        expected: String,
    },
    /// A value of the right JSON type that the field's own notation does not allow.
    #[error("{0}")]
    Unreadable(String),
}

/// A field that is dropped, or that is there twice.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrictFault {
    /// The type has no such field.
    #[error("unknown field {0:?}")]
    Unknown(String),
    /// The field was there before; the later value counts.
    #[error("duplicate field {0:?}")]
    Duplicate(String),
}

impl StrictFault {
    /// The path of the field, such as `spec.containers[0].foo`.
    pub fn path(&self) -> &str {
        match self {
            Self::Unknown(path) | Self::Duplicate(path) => path,
        }
    }
}

/// What a server answers to faults if fields are validated strictly.
pub fn strict_message(faults: &[StrictFault]) -> String {
    let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    format!("strict decoding error: {}", faults.join(", "))
}

/// Go's name for a type as far as its schema tells it: `int32`, `[]v1.Container`.
pub(super) fn go_type(schema: Schema<'_>) -> String {
    match schema.shape() {
        Shape::Boolean => "bool".to_owned(),
        Shape::Integer { bits } => format!("int{bits}"),
        Shape::Number => "float64".to_owned(),
        Shape::Text(TextFormat::Bytes) => "[]uint8".to_owned(),
        Shape::Text(TextFormat::Plain) => "string".to_owned(),
        Shape::Map { value, .. } => format!("map[string]{}", go_type(schema.at(*value))),
        Shape::List(list) => format!("[]{}", go_type(schema.at(list.item))),
        Shape::Object(_) | Shape::Text(_) | Shape::IntOrText | Shape::Any => {
            let mut parts = schema.get().name.rsplit('.');
            match (parts.next(), parts.next()) {
                (Some(name), Some(package)) => format!("{package}.{name}"),
                _ => "map[string]interface {}".to_owned(),
            }
        }
    }
}
