//! Values that are written back whole: what their type does not know travels with them.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};
use serde_json::value::RawValue;

use crate::{Rest, Text};

/// A struct with the fields that its type does not know, as they came.
///
/// A status is written whole. Without this, the fields of a newer server, and what other parties
/// add to their conditions, would be erased by the next write.
///
/// ```
/// # use flyball_api::{Lossless, Condition};
/// let json = r#"{"type":"Ready","status":"True","fromTheFuture":{"deep":[1]}}"#;
/// let condition: Lossless<Condition> = serde_json::from_str(json)?;
/// assert_eq!(condition.kind, "Ready");
/// assert_eq!(serde_json::to_string(&condition)?, json);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Lossless<T> {
    known: T,
    unknown: Option<Box<Rest>>,
}

impl<T> Lossless<T> {
    /// Another value with the unknown fields of this one.
    pub fn with<U>(&self, known: U) -> Lossless<U> {
        Lossless {
            known,
            unknown: self.unknown.clone(),
        }
    }
}

impl<T> From<T> for Lossless<T> {
    fn from(known: T) -> Self {
        let unknown = None;
        Self { known, unknown }
    }
}

impl<T> Deref for Lossless<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.known
    }
}

impl<T> DerefMut for Lossless<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.known
    }
}

impl<T: fmt::Debug> fmt::Debug for Lossless<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.known.fmt(f)?;
        match &self.unknown {
            Some(unknown) => write!(f, " and {unknown:?}"),
            None => Ok(()),
        }
    }
}

impl<T: PartialEq> PartialEq for Lossless<T> {
    fn eq(&self, other: &Self) -> bool {
        let fields = |of: &Self| {
            let all = of.unknown.iter().flat_map(|rest| rest.iter());
            let all = all.map(|(key, value)| (key.clone(), value.get().to_owned()));
            all.collect::<Vec<_>>()
        };
        self.known == other.known && fields(self) == fields(other)
    }
}

impl<T: Eq> Eq for Lossless<T> {}

impl<T: Serialize> Serialize for Lossless<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let Some(unknown) = &self.unknown else {
            return self.known.serialize(serializer);
        };
        let mut json = serde_json::to_string(&self.known).map_err(S::Error::custom)?;
        if json.pop() != Some('}') {
            return Err(S::Error::custom("a value with unknown fields is no object"));
        }
        for (key, value) in unknown.iter() {
            if !json.ends_with('{') {
                json.push(',');
            }
            json.push_str(&serde_json::to_string(key).map_err(S::Error::custom)?);
            json.push(':');
            json.push_str(value.get());
        }
        json.push('}');
        let whole = RawValue::from_string(json).map_err(S::Error::custom)?;
        whole.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Lossless<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut unknown = Rest::new();
        let known = T::deserialize(Collecting {
            inner: deserializer,
            unknown: &mut unknown,
        })?;
        let unknown = (!unknown.is_empty()).then(|| Box::new(unknown));
        Ok(Self { known, unknown })
    }
}

/// A deserializer of a struct that collects the fields which the struct does not have.
struct Collecting<'a, D> {
    inner: D,
    unknown: &'a mut Rest,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Collecting<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = CollectingVisitor {
            inner: visitor,
            fields,
            unknown: self.unknown,
        };
        self.inner.deserialize_struct(name, fields, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, D::Error> {
        Err(D::Error::custom("only a struct can have unknown fields"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct CollectingVisitor<'a, V> {
    inner: V,
    fields: &'static [&'static str],
    unknown: &'a mut Rest,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for CollectingVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(KnownFields {
            map,
            fields: self.fields,
            unknown: self.unknown,
            lifetime: PhantomData,
        })
    }
}

/// The known fields of a map; the others are collected on the way.
struct KnownFields<'a, 'de, A> {
    map: A,
    fields: &'static [&'static str],
    unknown: &'a mut Rest,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for KnownFields<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key::<Text>()? {
            match self.fields.iter().find(|field| **field == key) {
                Some(field) => {
                    let known = StrDeserializer::new(field);
                    return seed.deserialize(known).map(Some);
                }
                None => self.unknown.push((key, self.map.next_value()?)),
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Counts {
        #[serde(skip_serializing_if = "Option::is_none")]
        ready_replicas: Option<i32>,
        conditions: Vec<Lossless<Inner>>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Inner {
        #[serde(rename = "type")]
        kind: Text,
    }

    #[test]
    fn unknown_fields_travel_at_every_level() {
        for json in [
            r#"{"conditions":[]}"#,
            r#"{"readyReplicas":3,"conditions":[{"type":"A"}]}"#,
            r#"{"conditions":[{"type":"A","x":null},{"type":"B"}],"new":{"a":[1e3,"\u00e4"]},"b":1}"#,
        ] {
            let value: Lossless<Counts> = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
    }

    #[test]
    fn equal_means_with_all_unknown_fields() {
        let of = |json| serde_json::from_str::<Lossless<Counts>>(json).unwrap();
        assert_eq!(of(r#"{"x":1}"#), of(r#"{ "x":1 , "conditions":[] }"#));
        assert_ne!(of(r#"{"x":1}"#), of(r#"{"x":2}"#));
        assert_ne!(of(r#"{"x":1}"#), of("{}"));
        assert_eq!(of(r#"{"x":1}"#).with(Counts::default()), of(r#"{"x":1}"#));
        assert!(serde_json::from_str::<Lossless<Counts>>("[]").is_err());
        assert!(serde_json::from_str::<Lossless<Counts>>("7").is_err());
    }

    #[test]
    fn costs_a_pointer() {
        assert_eq!(size_of::<Lossless<u64>>(), 16);
    }
}
