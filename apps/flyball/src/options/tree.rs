//! A YAML document as a tree whose every node knows its line and column.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Location, Spanned};

/// A node and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) shape: Shape,
    pub(super) line: u64,
    pub(super) column: u64,
}

/// What a node is. Scalars are kept as text: their type is the flag's to judge.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Null,
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

/// Why a document could not be read.
#[derive(Debug)]
pub(super) struct Malformed {
    pub(super) reason: String,
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Node {
    /// Reads one document. An empty one is [`Shape::Null`].
    pub(super) fn read(text: &str) -> Result<Self, Malformed> {
        serde_saphyr::from_str::<Node>(text).map_err(|error| {
            let at = error.location().unwrap_or(Location::UNKNOWN);
            let error = error.without_snippet();
            let message = error.to_string();
            let reason = message.lines().next().unwrap_or_default();
            // The place is printed once, in our own form.
            let reason = reason.split(" at line ").next().unwrap_or_default();
            // Advice to the programmer is no use to the user.
            let reason = reason
                .split(", set DuplicateKeyPolicy")
                .next()
                .unwrap_or_default();
            Malformed {
                reason: reason.to_owned(),
                line: at.line(),
                column: at.column(),
            }
        })
    }

    /// The text of a scalar.
    pub(super) fn scalar(&self) -> Option<&str> {
        match &self.shape {
            Shape::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// What the node is, in a word for error messages.
    pub(super) fn noun(&self) -> &'static str {
        match self.shape {
            Shape::Null => "nothing",
            Shape::Scalar(_) => "a single value",
            Shape::List(_) => "a list",
            Shape::Map(_) => "a mapping",
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Shape>::deserialize(deserializer)?;
        let at = spanned.referenced;
        Ok(Node {
            shape: spanned.value,
            line: at.line(),
            column: at.column(),
        })
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_none<E>(self) -> Result<Shape, E> {
        Ok(Shape::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        Shape::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Shape, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Shape::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Shape, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Shape::Map(entries))
    }
}
