//! From JSON schemas to the table of types that is embedded.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::facts::{self, Strategic};
use crate::probe::{Findings, Merged, properties, reference, text};

/// A type as it is embedded.
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) shape: Shape,
}

/// What values of a type look like.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// Any value.
    Any,
    /// A boolean.
    Boolean,
    /// A number.
    Number,
    /// A whole number of so many bits.
    Integer(u8),
    /// A whole number or a string.
    IntOrText,
    /// A string; the format counts as in `TextFormat`.
    Text(u8),
    /// A map: the type of its values, and whether it is atomic.
    Map(usize, bool),
    /// A list: the type of its items, its keys if it is a map or set, and what patches do with it.
    List(usize, Option<Vec<String>>, Option<String>),
    /// An object: its fields, and whether it is atomic.
    Object(Vec<Field>, bool),
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) of: usize,
    pub(crate) required: bool,
    pub(crate) retain_keys: bool,
    pub(crate) replaced: bool,
    pub(crate) description: String,
}

/// The table under construction.
pub(crate) struct Walk<'a> {
    schemas: &'a Map<String, Value>,
    findings: &'a Findings,
    /// The types; a place in it is a type's id.
    pub(crate) types: Vec<Type>,
    named: BTreeMap<String, usize>,
    unnamed: BTreeMap<Shape, usize>,
}

impl<'a> Walk<'a> {
    /// A table without types.
    pub(crate) fn new(schemas: &'a Map<String, Value>, findings: &'a Findings) -> Self {
        Self {
            schemas,
            findings,
            types: Vec::new(),
            named: BTreeMap::new(),
            unnamed: BTreeMap::new(),
        }
    }

    /// The place of a named type, with all that it refers to.
    pub(crate) fn named(&mut self, name: &str) -> usize {
        if let Some(at) = self.named.get(name) {
            return *at;
        }
        // The place is taken before the fields are read, because some types refer to themselves.
        let at = self.types.len();
        self.named.insert(name.to_owned(), at);
        let schema = self.schemas.get(name).unwrap_or(&Value::Null);
        self.types.push(Type {
            name: name.to_owned(),
            description: text(schema, "description").to_owned(),
            shape: Shape::Any,
        });
        self.types[at].shape = self.named_shape(name, schema, facts::is_atomic(name));
        at
    }

    fn named_shape(&mut self, name: &str, schema: &Value, atomic: bool) -> Shape {
        let known = name.rsplit_once("apimachinery.pkg.");
        match known.map_or(name, |(_, known)| known) {
            "api.resource.Quantity" => Shape::Text(4),
            "util.intstr.IntOrString" => Shape::IntOrText,
            "apis.meta.v1.Time" => Shape::Text(2),
            "apis.meta.v1.MicroTime" => Shape::Text(3),
            "apis.meta.v1.FieldsV1" | "apis.meta.v1.Patch" | "runtime.RawExtension" => Shape::Any,
            _ if name.ends_with(".apiextensions.v1.JSON") || schema.get("oneOf").is_some() => {
                Shape::Any
            }
            _ => self.object(name, schema, atomic),
        }
    }

    fn object(&mut self, name: &str, schema: &Value, atomic: bool) -> Shape {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |field: &str| required.is_some_and(|names| names.iter().any(|name| name == field));
        let mut fields = Vec::new();
        for (field, of) in properties(self.schemas, name) {
            fields.push(Field {
                name: field.clone(),
                of: self.field(name, field, of),
                required: facts::is_required(name, field, is_required(field)),
                retain_keys: facts::retains_keys(name, field),
                replaced: facts::is_replaced(name, field),
                description: text(of, "description").to_owned(),
            });
        }
        fields.sort_by(|one, other| one.name.cmp(&other.name));
        Shape::Object(fields, atomic)
    }

    fn field(&mut self, type_name: &str, field: &str, schema: &Value) -> usize {
        if facts::is_granular(type_name, field) {
            // The same type once more under the same name, but merged field by field.
            let name = reference(schema).unwrap_or_default().to_owned();
            let target = self.schemas.get(&name).unwrap_or(&Value::Null);
            let shape = self.named_shape(&name, target, false);
            let description = text(target, "description").to_owned();
            self.types.push(Type {
                name,
                description,
                shape,
            });
            return self.types.len() - 1;
        }
        let found = self.findings.get(&(type_name.to_owned(), field.to_owned()));
        let found = found.cloned();
        if let Some(item) = schema.get("items") {
            let item = self.value(item);
            let (kind, strategic) = facts::list(type_name, field, found.unwrap_or(Merged::Atomic));
            let keys = match kind {
                Merged::By(keys) => Some(keys),
                Merged::Set => Some(Vec::new()),
                Merged::Atomic | Merged::Granular => None,
            };
            let strategic = match strategic {
                Strategic::Replace => None,
                Strategic::MergeValues => Some(String::new()),
                Strategic::MergeBy(key) => Some(key),
            };
            return self.unnamed(Shape::List(item, keys, strategic));
        }
        if let Some(value) = schema.get("additionalProperties") {
            let value = self.value(value);
            return self.unnamed(Shape::Map(value, found == Some(Merged::Atomic)));
        }
        self.value(schema)
    }

    /// The place of a value without semantics of its own.
    fn value(&mut self, schema: &Value) -> usize {
        if let Some(name) = reference(schema) {
            return self.named(name);
        }
        if let Some(item) = schema.get("items") {
            let item = self.value(item);
            return self.unnamed(Shape::List(item, None, None));
        }
        let shape = match (text(schema, "type"), text(schema, "format")) {
            ("boolean", _) => Shape::Boolean,
            ("integer", "int32") => Shape::Integer(32),
            ("integer", _) => Shape::Integer(64),
            ("number", _) => Shape::Number,
            ("string", "byte") => Shape::Text(1),
            ("string", "date-time") => Shape::Text(2),
            ("string", _) => Shape::Text(0),
            ("object", _) if schema.get("additionalProperties").is_some() => {
                let value = self.value(&schema["additionalProperties"]);
                Shape::Map(value, false)
            }
            _ => Shape::Any,
        };
        self.unnamed(shape)
    }

    fn unnamed(&mut self, shape: Shape) -> usize {
        if let Some(at) = self.unnamed.get(&shape) {
            return *at;
        }
        let at = self.types.len();
        self.unnamed.insert(shape.clone(), at);
        self.types.push(Type {
            name: String::new(),
            description: String::new(),
            shape,
        });
        at
    }
}
