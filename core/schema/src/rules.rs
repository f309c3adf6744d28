//! Rules about values that the schema of a custom resource states beyond their shape.

use flyball_api::Text;
use serde_json::Value;

/// What a schema asks of the values of a type. Built-in types have none: their rules are code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The value of a field that is not there.
    pub default: Option<Value>,
    /// Whether null is a value.
    pub nullable: bool,
    /// What a string or number stands for, such as `date-time`; empty if nothing is said.
    pub format: Text,
    /// The only values that are allowed, if there are any.
    pub allowed: Box<[Value]>,
    /// A regular expression that occurs in the string.
    pub pattern: Option<Box<str>>,
    /// The smallest number.
    pub minimum: Option<Bound>,
    /// The largest number.
    pub maximum: Option<Bound>,
    /// What the number is a multiple of.
    pub multiple_of: Option<f64>,
    /// How many characters a string has.
    pub length: Range,
    /// How many items a list has.
    pub items: Range,
    /// How many keys a map or object has.
    pub properties: Range,
    /// Whether the object is a whole resource (`x-kubernetes-embedded-resource`).
    pub embedded_resource: bool,
    /// Rules in the Common Expression Language (`x-kubernetes-validations`), as written.
    pub validations: Box<[Value]>,
    /// Schemas that the value must or must not also satisfy, as written: `allOf`, `anyOf`, `oneOf`, `not`.
    pub junctors: Box<[(Text, Value)]>,
}

/// A bound of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The number.
    pub at: f64,
    /// Whether the number itself is out of bounds.
    pub exclusive: bool,
}

/// How many there may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// At least so many.
    pub min: Option<u64>,
    /// At most so many.
    pub max: Option<u64>,
}

impl Range {
    /// Whether so many are allowed.
    pub fn allows(self, count: u64) -> bool {
        self.min.is_none_or(|min| min <= count) && self.max.is_none_or(|max| count <= max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_includes_its_ends() {
        let range = Range {
            min: Some(1),
            max: Some(2),
        };
        assert!(range.allows(1) && range.allows(2));
        assert!(!range.allows(0) && !range.allows(3));
        assert!(Range::default().allows(u64::MAX));
    }
}
