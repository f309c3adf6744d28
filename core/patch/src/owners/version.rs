//! Objects in the versions in which their owners wrote.

use flyball_api::Text;
use serde_json::{Value, json};

use super::Change;
use crate::fields::FieldSet;
use crate::typed::{self, Emptied, TypeRef};

/// An object in a version, with its type there.
#[derive(Clone, Debug)]
pub(super) struct Versioned<'a> {
    pub(super) object: Value,
    pub(super) of: TypeRef<'a>,
    version: Text,
}

impl<'a> Versioned<'a> {
    /// An object in the version of the change.
    pub(super) fn in_change(object: Value, change: &Change<'a>) -> Self {
        Self {
            object,
            of: TypeRef::Of(change.schema),
            version: change.api_version.into(),
        }
    }

    /// The same object in another version, if that is served.
    pub(super) fn at(&self, version: &str, change: &Change<'a>) -> Option<Self> {
        if self.version == version {
            return Some(self.clone());
        }
        let (object, schema) = (change.convert)(&self.object, version)?;
        Some(Self {
            object,
            of: TypeRef::Of(schema),
            version: version.into(),
        })
    }

    /// The type of the object in a version, if that is served.
    pub(super) fn type_at(&self, version: &str, change: &Change<'a>) -> Option<TypeRef<'a>> {
        if self.version == version {
            return Some(self.of);
        }
        let (_, schema) = (change.convert)(&self.object, version)?;
        Some(TypeRef::Of(schema))
    }

    /// The fields that are set, with the declared fields that lead to them.
    pub(super) fn fields(&self) -> FieldSet {
        self.named(&typed::leaves(self.of, &self.object))
    }

    /// A set with the declared fields that lead to its fields.
    pub(super) fn named(&self, fields: &FieldSet) -> FieldSet {
        typed::with_named_fields(Some(self.of), fields)
    }

    /// The object without some fields.
    pub(super) fn without(&self, fields: &FieldSet, emptied: Emptied) -> Self {
        let left = typed::remove(self.of, &self.object, fields, emptied);
        Self {
            object: left.unwrap_or_else(|| json!({})),
            ..self.clone()
        }
    }
}
