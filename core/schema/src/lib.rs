//! What objects look like: the types of built-in kinds and of custom resources, as data.
//!
//! Types live in an arena ([`Types`]) because they refer to each other, some to themselves. A [`Schema`] is a
//! place in it: from there one asks for fields, items and values.
//!
//! Start at [`builtin`] for the kinds that every cluster has, at [`custom_resource`] for those that a
//! CustomResourceDefinition adds, at [`decode`] for how a text becomes an object of its type, at [`openapi`] for the
//! documents that clients read.
//!
//! This crate owns no arrow of the flow; decoding, patches, validation and documents read it.

mod builtin;
mod custom;
mod decode;
mod go_types;
pub mod openapi;
mod resource;
mod rules;
mod types;

pub use builtin::{BuiltIn, builtin, described, digest};
pub use custom::{
    SchemaFault, SchemaFaultKind, ValueFault, apply_defaults, custom_resource, custom_type,
    drop_nulls, go_number, is_known_format, list_faults, structural_faults, value_faults,
    value_faults_of_update, value_type,
};
pub use decode::{
    Declared, DecodeFailed, Decoded, StrictFault, convert, decode, decode_custom, decode_value,
    head_of, json_mistake, prune, read_head, read_json, read_json_strict, strict_message,
};
pub use go_types::{go_json, go_text, is_go_empty};
pub use resource::{Resource, Subresource};
pub use rules::{Bound, Range, Rules};
pub use types::{
    Field, ListKind, ListShape, ObjectShape, Schema, Shape, Strategic, TextFormat, Type, TypeId,
    Types,
};
