//! Values seen through their schema, as server-side apply sees them.
//!
//! A schema says which parts of a value have owners of their own: the members of an object or map
//! and the items of a set or of a list with keys do, an atomic list or map has one owner as a whole.
//! Each file is one question about values: are they of the type ([`validate`]), which fields do they
//! set ([`leaves`]), what differs ([`compare`]), what are two together ([`merge`]), what is left
//! without some fields ([`remove`]). The rules are those of structured-merge-diff v6 (`typed`).
//!
//! Invariant: all but [`validate`] are asked about valid values only; a value that is not is never a
//! panic, but then the answer may be incomplete.

mod compare;
mod items;
mod leaves;
mod merge;
mod named;
mod reconcile;
mod remove;
#[cfg(test)]
mod tests;
mod validate;

use flyball_api::Text;
use flyball_schema::{ListKind, Schema, Shape, TextFormat};
use serde_json::{Map, Value};

pub(crate) use compare::{Comparison, compare};
pub(crate) use leaves::leaves;
pub(crate) use merge::merge;
pub(crate) use named::with_named_fields;
pub(crate) use reconcile::reconcile;
pub(crate) use remove::{Emptied, remove};
pub(crate) use validate::{Duplicates, validate};

/// What is known about the type of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TypeRef<'a> {
    /// A type of a schema.
    Of(Schema<'a>),
    /// Nothing: members of maps have owners of their own, lists have one.
    Deduced,
    /// Nothing, and whatever it is has one owner.
    Opaque,
}

/// A type, once it is settled whether it is a scalar, a list or a map.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Atom<'a> {
    Scalar(Scalar),
    List(ListAtom<'a>),
    Map(MapAtom<'a>),
}

/// What a scalar may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    Number,
    Text,
    Boolean,
    Any,
}

/// A list: its items, and how they are told apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListAtom<'a> {
    pub(crate) item: TypeRef<'a>,
    pub(crate) kind: ListOwners<'a>,
}

/// Who owns the items of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListOwners<'a> {
    Atomic,
    Set,
    Keys(&'a [Text]),
}

/// A map or an object: its members, and whether they have owners of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapAtom<'a> {
    /// Where the declared fields are.
    declared: Option<Schema<'a>>,
    /// The type of members that are not declared, if there may be such.
    other: Option<TypeRef<'a>>,
    pub(crate) atomic: bool,
}

impl<'a> TypeRef<'a> {
    /// The type as it applies to a value. An untyped null counts as a map.
    pub(crate) fn atom(self, value: Option<&Value>) -> Atom<'a> {
        match self {
            TypeRef::Of(schema) => typed_atom(schema, value),
            TypeRef::Deduced => untyped_atom(value, false),
            TypeRef::Opaque => untyped_atom(value, true),
        }
    }
}

impl<'a> MapAtom<'a> {
    /// The type of a member; `None` if there may not be such a member.
    pub(crate) fn member(&self, name: &str) -> Option<TypeRef<'a>> {
        self.field(name).or(self.other)
    }

    /// The type of a declared field.
    pub(crate) fn field(&self, name: &str) -> Option<TypeRef<'a>> {
        let schema = self.declared?;
        let field = schema.field_named(name)?;
        Some(TypeRef::Of(schema.at(field.of)))
    }

    /// Whether nothing at all is known about the members.
    pub(crate) fn is_deduced(&self) -> bool {
        let has_fields = self.declared.is_some_and(
            |schema| matches!(schema.shape(), Shape::Object(object) if !object.fields.is_empty()),
        );
        !has_fields && matches!(self.other, Some(TypeRef::Deduced))
    }
}

fn typed_atom<'a>(schema: Schema<'a>, value: Option<&Value>) -> Atom<'a> {
    match schema.shape() {
        Shape::Object(object) => Atom::Map(MapAtom {
            declared: Some(schema),
            // An object that declares nothing is free-form, as in OpenAPI.
            other: (object.open || object.fields.is_empty()).then_some(TypeRef::Deduced),
            atomic: object.atomic,
        }),
        Shape::Map { value, atomic } => Atom::Map(MapAtom {
            declared: None,
            other: Some(TypeRef::Of(schema.at(*value))),
            atomic: *atomic,
        }),
        Shape::List(list) => Atom::List(ListAtom {
            item: TypeRef::Of(schema.at(list.item)),
            kind: match &list.kind {
                ListKind::Atomic => ListOwners::Atomic,
                ListKind::Set => ListOwners::Set,
                ListKind::Map { keys } => ListOwners::Keys(keys),
            },
        }),
        Shape::Text(TextFormat::Plain | TextFormat::Bytes) => Atom::Scalar(Scalar::Text),
        Shape::Text(TextFormat::Time | TextFormat::MicroTime | TextFormat::Quantity)
        | Shape::IntOrText => Atom::Scalar(Scalar::Any),
        Shape::Integer { .. } | Shape::Number => Atom::Scalar(Scalar::Number),
        Shape::Boolean => Atom::Scalar(Scalar::Boolean),
        // What has a name is a built-in carrier of foreign objects, and has one owner; what has none
        // is a part of a custom resource whose author did not want to say more.
        Shape::Any => untyped_atom(value, !schema.get().name.is_empty()),
    }
}

fn untyped_atom<'a>(value: Option<&Value>, opaque: bool) -> Atom<'a> {
    match value {
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => Atom::Scalar(Scalar::Any),
        Some(Value::Array(_)) => Atom::List(ListAtom {
            item: TypeRef::Opaque,
            kind: ListOwners::Atomic,
        }),
        Some(Value::Object(_) | Value::Null) | None => Atom::Map(MapAtom {
            declared: None,
            other: Some(if opaque {
                TypeRef::Opaque
            } else {
                TypeRef::Deduced
            }),
            atomic: opaque,
        }),
    }
}

impl Atom<'_> {
    /// Whether both are scalars, lists or maps.
    fn is_like(&self, other: &Atom<'_>) -> bool {
        matches!(
            (self, other),
            (Atom::Scalar(_), Atom::Scalar(_))
                | (Atom::List(_), Atom::List(_))
                | (Atom::Map(_), Atom::Map(_))
        )
    }
}

/// The items, if it is a list; null has none.
fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The members, if it is a map; null has none.
fn members(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value
        .and_then(Value::as_object)
        .filter(|members| !members.is_empty())
}
