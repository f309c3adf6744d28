//! Asking a type for the names of its fields.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The fields of a struct, as written in JSON.
pub(crate) fn names<T: for<'a> Deserialize<'a>>() -> Vec<&'static str> {
    let mut names = Vec::new();
    // The error is the way out: all that is wanted is the question.
    let _ = T::deserialize(Listener(&mut names));
    assert!(
        !names.is_empty(),
        "{} has no fields",
        std::any::type_name::<T>()
    );
    names
}

struct Listener<'a>(&'a mut Vec<&'static str>);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(Error::custom("not a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.extend_from_slice(fields);
        Err(Error::custom("heard enough"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
