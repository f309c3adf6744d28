//! Sets of fields: who owns what is said in them.
//!
//! A [`FieldSet`] is a tree of [`Step`]s. A field that is in the set says nothing about the fields
//! around it: a set may hold `.spec.replicas` without `.spec`, or the other way round. On the wire
//! it is `fieldsV1`, an object whose names are steps.

mod encoding;
mod set;
mod step;
#[cfg(test)]
mod tests;

pub use encoding::FieldsUnreadable;
pub use set::{FieldSet, Path};
pub use step::Step;
pub(crate) use step::same;
