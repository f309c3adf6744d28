//! Walking a JSON text and a type side by side.
//!
//! The walk is one for texts and for values that were parsed before: both are deserializers. A text is read once, so
//! that fields which are there twice are seen.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::Decoded;
use super::fault::{DecodeFailed, StrictFault};
use super::place::Place;
use super::scalar::{self, Read};
use crate::{Schema, Shape};

/// As many faults as upstream reports.
const FAULTS_MAX: usize = 100;

/// What the walk has found so far.
pub(super) struct State<'a> {
    /// Whether values must be of their types.
    typed: bool,
    /// Where the walk is, as strict faults name it.
    path: String,
    /// Where it is, as Go's type errors name it.
    place: Place<'a>,
    pub(super) strict: Vec<StrictFault>,
    failed: Option<DecodeFailed>,
}

impl<'a> State<'a> {
    pub(super) fn new(typed: bool) -> Self {
        Self {
            typed,
            path: String::new(),
            place: Place::default(),
            strict: Vec::new(),
            failed: None,
        }
    }

    /// What came of the walk, which itself ended with `value`, or with a syntax error.
    pub(super) fn finish(self, value: Result<Value, String>) -> Result<Decoded, DecodeFailed> {
        match (self.failed, value) {
            (Some(failed), _) => Err(failed),
            (None, Err(why)) => Err(DecodeFailed::Syntax(why)),
            (None, Ok(value)) => Ok(Decoded {
                value,
                strict: self.strict,
            }),
        }
    }

    /// Goes to a field; the way back is to cut the path to the length that is returned.
    fn enter(&mut self, name: &str) -> usize {
        let outer = self.path.len();
        if outer > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        outer
    }

    fn report(&mut self, fault: StrictFault) {
        if self.strict.len() < FAULTS_MAX && !self.strict.contains(&fault) {
            self.strict.push(fault);
        }
    }

    fn wrong(&self, found: String, expected: String) -> DecodeFailed {
        DecodeFailed::WrongType {
            found,
            place: self.place.told(),
            expected,
        }
    }

    fn scalar(&mut self, schema: Schema<'_>, value: Value) -> Result<Value, String> {
        if !self.typed || value.is_null() {
            return Ok(value);
        }
        let noun = scalar::noun(&value);
        let number = value.as_number().cloned();
        // Go notes some faults and reads on, so that the first of them counts; at others it stops.
        let (stops, failed) = match scalar::read(schema, value) {
            Read::Value(value) => return Ok(value),
            Read::WrongType => {
                let found = match (number, schema.shape()) {
                    (Some(number), Shape::Integer { .. }) => format!("number {number}"),
                    _ => noun.to_owned(),
                };
                (false, self.wrong(found, self.place.expected(schema)))
            }
            Read::NotBytes(at) => {
                let why = format!("illegal base64 data at input byte {at}");
                (false, DecodeFailed::Unreadable(why))
            }
            Read::NotPlain { found, expected } => (true, self.wrong(found, expected.to_owned())),
            Read::Unreadable(why) => (true, DecodeFailed::Unreadable(why)),
        };
        if stops {
            let why = failed.to_string();
            self.failed = Some(failed);
            return Err(why);
        }
        self.failed.get_or_insert(failed);
        Ok(Value::Null)
    }
}

/// Reads one value of a type.
pub(super) struct Seed<'s, 'a> {
    schema: Schema<'a>,
    state: &'s mut State<'a>,
}

impl<'s, 'a> Seed<'s, 'a> {
    pub(super) fn new(schema: Schema<'a>, state: &'s mut State<'a>) -> Self {
        Self { schema, state }
    }

    fn scalar<E: Error>(self, value: Value) -> Result<Value, E> {
        self.state.scalar(self.schema, value).map_err(E::custom)
    }

    fn items<'de, A: SeqAccess<'de>>(
        &mut self,
        item: Schema<'a>,
        mut items: A,
    ) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let outer = self.state.path.len();
        self.state.place.descend();
        loop {
            self.state.path.push_str(&format!("[{}]", list.len()));
            let next = items.next_element_seed(Seed::new(item, self.state))?;
            self.state.path.truncate(outer);
            match next {
                None => {
                    self.state.place.ascend();
                    return Ok(Value::Array(list));
                }
                Some(Value::Null) if self.state.typed => list.push(scalar::empty(item)),
                Some(value) => list.push(value),
            }
        }
    }

    fn entries<'de, A: MapAccess<'de>>(
        &mut self,
        value: Schema<'a>,
        mut entries: A,
    ) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let outer = self.state.enter(&key);
            if map.contains_key(&key) {
                let path = self.state.path.clone();
                self.state.report(StrictFault::Duplicate(path));
            }
            self.state.place.descend();
            let mut read = entries.next_value_seed(Seed::new(value, self.state))?;
            self.state.place.ascend();
            self.state.path.truncate(outer);
            if read.is_null() && self.state.typed {
                read = scalar::empty(value);
            }
            map.insert(key, read);
        }
        Ok(Value::Object(map))
    }

    fn fields<'de, A: MapAccess<'de>>(
        &mut self,
        open: bool,
        mut entries: A,
    ) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let mut seen = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            let outer_path = self.state.enter(&key);
            let Some(field) = self.schema.field_named(&key) else {
                if open {
                    if object.contains_key(&key) {
                        let path = self.state.path.clone();
                        self.state.report(StrictFault::Duplicate(path));
                    }
                    object.insert(key, entries.next_value_seed(Anything(self.state))?);
                } else {
                    entries.next_value::<IgnoredAny>()?;
                    let path = self.state.path.clone();
                    self.state.report(StrictFault::Unknown(path));
                }
                self.state.path.truncate(outer_path);
                continue;
            };
            if seen.contains(&field.name.as_str()) {
                let path = self.state.path.clone();
                self.state.report(StrictFault::Duplicate(path));
            }
            seen.push(field.name.as_str());
            let outer = self.state.place.enter(self.schema, &field.name);
            let of = self.schema.at(field.of);
            let read = entries.next_value_seed(Seed::new(of, self.state))?;
            self.state.place.leave(outer);
            self.state.path.truncate(outer_path);
            // To Go a null is nothing, so that a text or number that was there before stays.
            let is_scalar = matches!(of.shape(), Shape::Text(_) | Shape::Integer { .. });
            if read.is_null() && self.state.typed && is_scalar {
            } else if read.is_null() && self.state.typed {
                object.remove(&key);
            } else {
                object.insert(key, read);
            }
        }
        Ok(Value::Object(object))
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.scalar(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.scalar(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.scalar(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        self.scalar(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.scalar(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        self.scalar(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Value, A::Error> {
        if let Shape::List(list) = self.schema.shape() {
            let item = self.schema.at(list.item);
            return self.items(item, items);
        }
        let all = any_items(self.state, &mut items)?;
        self.scalar(all)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<Value, A::Error> {
        match self.schema.shape() {
            Shape::Object(object) => self.fields(object.open, entries),
            Shape::Map { value, .. } => {
                let value = self.schema.at(*value);
                self.entries(value, entries)
            }
            _ => {
                let all = anything(self.state, &mut entries)?;
                self.scalar(all)
            }
        }
    }
}

/// Reads anything; the state tells which fields are there twice.
pub(super) fn anything_in<'de, D: Deserializer<'de>>(
    state: &mut State<'_>,
    from: D,
) -> Result<Value, D::Error> {
    Anything(state).deserialize(from)
}

/// Reads a value that no type says anything of: only fields that are there twice are seen.
struct Anything<'s, 'a>(&'s mut State<'a>);

fn anything<'de, A: MapAccess<'de>>(
    state: &mut State<'_>,
    entries: &mut A,
) -> Result<Value, A::Error> {
    let mut all = Map::new();
    while let Some(key) = entries.next_key::<String>()? {
        let outer = state.enter(&key);
        if all.contains_key(&key) {
            let path = state.path.clone();
            state.report(StrictFault::Duplicate(path));
        }
        let value = entries.next_value_seed(Anything(state))?;
        state.path.truncate(outer);
        all.insert(key, value);
    }
    Ok(Value::Object(all))
}

fn any_items<'de, A: SeqAccess<'de>>(
    state: &mut State<'_>,
    items: &mut A,
) -> Result<Value, A::Error> {
    let mut all = Vec::new();
    let outer = state.path.len();
    loop {
        state.path.push_str(&format!("[{}]", all.len()));
        let next = items.next_element_seed(Anything(state))?;
        state.path.truncate(outer);
        match next {
            Some(item) => all.push(item),
            None => return Ok(Value::Array(all)),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Anything<'_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Anything<'_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        any_items(self.0, &mut items)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        anything(self.0, &mut entries)
    }
}
