//! Objects with every field filled, made by whatever type is asked for.
//!
//! A type that can be deserialised tells the deserialiser which fields it has. This one answers
//! every question with a value: each struct gets all of its fields, each option is some, each list
//! and each map has one item.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// A time that both precisions print in their own way.
const TIME: &str = "2026-03-04T05:06:07.089123Z";

/// An object of this type with every field filled; what names its own type is left out.
pub(crate) fn full<T: DeserializeOwned>() -> T {
    T::deserialize(Filler {
        field: "",
        depth: 0,
    })
    .unwrap()
}

/// The text of a field: any will do, but where a view keeps only some values, one that it keeps.
fn text(field: &str) -> &'static str {
    match field {
        "Time" | "MicroTime" => TIME,
        "uid" => "0b0b0b0b-1c1c-4d4d-8e8e-9f9f9f9f9f9f",
        "phase" => "Running",
        "status" => "True",
        "type" => "Ready",
        "restartPolicy" => "Always",
        "reason" => "Evicted",
        "annotations" => "controller.kubernetes.io/pod-deletion-cost",
        "resourceVersion" => "4711",
        _ => "text",
    }
}

#[derive(Clone, Copy)]
struct Filler {
    /// The field, or the named wrapper, that is being filled.
    field: &'static str,
    depth: usize,
}

impl<'de> Deserializer<'de> for Filler {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_i64(3)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(true)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(text(self.field))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(text(self.field))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(Filler {
            field: name,
            ..self
        })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Items {
            fields: &[],
            next: Some(self),
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Items {
            fields: &[],
            next: Some(self),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // An object's own kind and version are fixed; references to other objects have any.
        let named = if self.depth == 0 {
            &["apiVersion", "kind"][..]
        } else {
            &[]
        };
        let skip = fields
            .iter()
            .take_while(|field| named.contains(field))
            .count();
        let inner = Filler {
            field: "",
            depth: self.depth + 1,
        };
        visitor.visit_map(Items {
            fields: &fields[skip..],
            next: Some(inner),
        })
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        tuple tuple_struct enum identifier ignored_any
    }
}

/// The named fields of a struct or, without names, the single item of a list or map.
struct Items {
    fields: &'static [&'static str],
    next: Option<Filler>,
}

impl<'de> MapAccess<'de> for Items {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some(filler) = &mut self.next else {
            return Ok(None);
        };
        if let Some((field, rest)) = self.fields.split_first() {
            self.fields = rest;
            filler.field = field;
            seed.deserialize(BorrowedStrDeserializer::new(field))
                .map(Some)
        } else if filler.field.is_empty() {
            Ok(None)
        } else {
            let key = text(filler.field);
            seed.deserialize(BorrowedStrDeserializer::new(key))
                .map(Some)
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let filler = self.next.unwrap();
        if self.fields.is_empty() {
            self.next = None;
        }
        seed.deserialize(filler)
    }
}

impl<'de> SeqAccess<'de> for Items {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Error> {
        self.next
            .take()
            .map(|filler| seed.deserialize(filler))
            .transpose()
    }
}
