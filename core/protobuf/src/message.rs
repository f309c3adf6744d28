//! Messages into JSON, field by field, as the table says.
//!
//! Fields come in any order and any number of times. As upstream's decoder does, the last of several numbers or texts
//! counts, several messages for one field are one message in pieces, and fields that nobody knows are passed over.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::envelope;
use crate::error::{ProtobufFault, ProtobufUnreadable};
use crate::forms;
use crate::table::{Arity, Field, Form, Kind, Message, Table};
use crate::wire::{Reader, Wire};

/// More levels than any kind has; schemas of custom resources nest, and JSON may be half as deep.
pub(crate) const DEPTH_MAX: usize = 100;

/// Far more values than an object of the permitted size has, unless it was made to take up memory: an object in
/// memory can be a hundred times its size on the wire.
pub(crate) const VALUES_MAX: usize = 500_000;

/// Turns messages into JSON; counts how much it may still make.
pub(crate) struct Decoder<'t> {
    table: &'t Table<'t>,
    values_left: usize,
}

type Fields = Map<String, Value>;

impl<'t> Decoder<'t> {
    /// A decoder for one body.
    pub(crate) fn new(table: &'t Table<'t>) -> Self {
        Self {
            table,
            values_left: VALUES_MAX,
        }
    }

    /// The messages that it knows.
    pub(crate) fn table(&self) -> &'t Table<'t> {
        self.table
    }

    /// Adds the fields of a message to `into`, `depth` messages below the outermost.
    pub(crate) fn message(
        &mut self,
        of: &Message<'_>,
        body: &[u8],
        into: &mut Fields,
        depth: usize,
    ) -> Result<(), ProtobufUnreadable> {
        if depth > DEPTH_MAX {
            return Err(ProtobufFault::TooDeep(DEPTH_MAX).into());
        }
        let mut reader = Reader::new(body);
        while let Some((number, wire)) = reader.tag()? {
            match of.field(number) {
                None => reader.skip(wire)?,
                Some(field) => self
                    .field(field, wire, &mut reader, into, depth)
                    .map_err(|error| error.within(field.name))?,
            }
        }
        Ok(())
    }

    fn field(
        &mut self,
        field: &Field<'_>,
        wire: Wire,
        reader: &mut Reader<'_>,
        into: &mut Fields,
        depth: usize,
    ) -> Result<(), ProtobufUnreadable> {
        match field.arity {
            Arity::One => self.one(field, wire, reader, into, depth),
            Arity::Many => {
                let list = entry(into, field.name, Value::Array(Vec::new()));
                let Value::Array(list) = list else {
                    return Ok(());
                };
                // Numbers may come packed, many in one field.
                if wire == Wire::Length && field.of.wire() != Wire::Length {
                    let mut packed = Reader::new(reader.bytes()?);
                    while !packed.is_empty() {
                        list.push(self.value(field.of, field.of.wire(), &mut packed, depth)?);
                    }
                } else {
                    list.push(self.value(field.of, wire, reader, depth)?);
                }
                Ok(())
            }
            Arity::Map => {
                let (key, value) = self.map_entry(field.of, wire, reader, depth)?;
                if let Value::Object(map) = entry(into, field.name, Value::Object(Map::new())) {
                    map.insert(key, value);
                }
                Ok(())
            }
        }
    }

    fn one(
        &mut self,
        field: &Field<'_>,
        wire: Wire,
        reader: &mut Reader<'_>,
        into: &mut Fields,
        depth: usize,
    ) -> Result<(), ProtobufUnreadable> {
        if let Kind::Message(place) = field.of {
            let of = self.table.message(place);
            if of.form == Form::Object {
                expect(wire, Wire::Length)?;
                let body = reader.bytes()?;
                if field.name.is_empty() {
                    return self.message(of, body, into, depth + 1);
                }
                self.count()?;
                if let Value::Object(inner) = entry(into, field.name, Value::Object(Map::new())) {
                    self.message(of, body, inner, depth + 1)?;
                }
                return Ok(());
            }
        }
        let value = self.value(field.of, wire, reader, depth)?;
        let absent = value.is_null() || field.zero_is_absent && is_zero(&value);
        if absent {
            into.remove(field.name);
        } else {
            into.insert(field.name.to_owned(), value);
        }
        Ok(())
    }

    /// One value, on its own.
    fn value(
        &mut self,
        of: Kind,
        wire: Wire,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<Value, ProtobufUnreadable> {
        self.count()?;
        expect(wire, of.wire())?;
        Ok(match of {
            Kind::Text => Value::String(text(reader.bytes()?)?.to_owned()),
            Kind::Bytes => Value::String(STANDARD.encode(reader.bytes()?)),
            Kind::Bool => Value::Bool(reader.varint()? != 0),
            // Negative numbers are written with all 64 bits.
            Kind::Int32 => Value::from(reader.varint()? as i32),
            Kind::Int64 => Value::from(reader.varint()? as i64),
            Kind::Double => number(f64::from_le_bytes(reader.fixed()?))?,
            Kind::Json => self.json(reader.bytes()?, depth)?,
            Kind::Message(place) => self.shaped(place, reader.bytes()?, depth + 1)?,
        })
    }

    fn shaped(
        &mut self,
        place: usize,
        body: &[u8],
        depth: usize,
    ) -> Result<Value, ProtobufUnreadable> {
        let of = self.table.message(place);
        let mut fields = Map::new();
        let read = self.message(of, body, &mut fields, depth);
        if of.form == Form::Object {
            read?;
            return Ok(Value::Object(fields));
        }
        // Whoever reads the object has never heard of the fields of such a message.
        read.map_err(|error| ProtobufUnreadable::from(error.fault))?;
        Ok(forms::shape(of, fields)?)
    }

    /// A key and its value, which are fields of a message of their own; either may be left out if it is zero.
    fn map_entry(
        &mut self,
        of: Kind,
        wire: Wire,
        reader: &mut Reader<'_>,
        depth: usize,
    ) -> Result<(String, Value), ProtobufUnreadable> {
        expect(wire, Wire::Length)?;
        let mut pair = Reader::new(reader.bytes()?);
        let (mut key, mut value) = (String::new(), None);
        while let Some((number, wire)) = pair.tag()? {
            match number {
                1 => {
                    expect(wire, Wire::Length)?;
                    key = text(pair.bytes()?)?.to_owned();
                }
                2 => {
                    let read = self.value(of, wire, &mut pair, depth);
                    value = Some(read.map_err(|error| error.within(&key))?);
                }
                _ => pair.skip(wire)?,
            }
        }
        let value = match value {
            Some(value) => value,
            // Eight zeros are zero in every way of writing.
            None => self.value(of, of.wire(), &mut Reader::new(&[0; 8]), depth)?,
        };
        Ok((key, value))
    }

    /// JSON that is carried in a message: text, or a body like the one around it.
    fn json(&mut self, bytes: &[u8], depth: usize) -> Result<Value, ProtobufUnreadable> {
        if bytes.is_empty() {
            return Ok(Value::Null);
        }
        if bytes.starts_with(envelope::PREFIX) {
            return envelope::object(self, bytes, depth + 1);
        }
        let read = serde_json::from_slice(bytes);
        Ok(read.map_err(|error| ProtobufFault::NotJson(error.to_string()))?)
    }

    fn count(&mut self) -> Result<(), ProtobufFault> {
        let left = self.values_left.checked_sub(1);
        self.values_left = left.ok_or(ProtobufFault::TooMany(VALUES_MAX))?;
        Ok(())
    }
}

impl Kind {
    /// How values of this type are written.
    fn wire(self) -> Wire {
        match self {
            Kind::Text | Kind::Bytes | Kind::Json | Kind::Message(_) => Wire::Length,
            Kind::Bool | Kind::Int32 | Kind::Int64 => Wire::Varint,
            Kind::Double => Wire::Fixed64,
        }
    }
}

/// The value of a field, which is `fresh` at first.
fn entry<'a>(into: &'a mut Fields, name: &str, fresh: Value) -> &'a mut Value {
    into.entry(name.to_owned()).or_insert(fresh)
}

fn expect(found: Wire, wanted: Wire) -> Result<(), ProtobufFault> {
    if found == wanted {
        Ok(())
    } else {
        Err(ProtobufFault::WrongWireType(found.number()))
    }
}

/// A text, which JSON could not carry if it were not UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Result<&str, ProtobufFault> {
    std::str::from_utf8(bytes).map_err(|_| ProtobufFault::NotUtf8)
}

/// A number as Go prints it: without a fraction if it has none.
fn number(value: f64) -> Result<Value, ProtobufFault> {
    // Up to here every whole number has a value of its own.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if value.trunc() == value && value.abs() <= WHOLE_MAX {
        return Ok(Value::from(value as i64));
    }
    let number = serde_json::Number::from_f64(value);
    let number = number.ok_or_else(|| ProtobufFault::NotFinite(value.to_string()))?;
    Ok(Value::Number(number))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::Number(value) => value.as_f64() == Some(0.0),
        Value::String(value) => value.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
