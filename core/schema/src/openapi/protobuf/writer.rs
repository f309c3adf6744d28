//! Fields of protobuf, taken from values of JSON. What JSON does not have, or has as something else, is left out, as
//! protobuf leaves out what is as it would be anyway.

use serde_json::Value;

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;

/// A message on its way.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// The message.
    pub(super) fn bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// A message within this one.
    pub(super) fn message(&mut self, number: u32, write: impl FnOnce(&mut Self)) {
        let mut inner = Self::default();
        write(&mut inner);
        self.delimited(number, &inner.bytes);
    }

    /// A message for each of a list.
    pub(super) fn each(&mut self, number: u32, list: &Value, write: impl Fn(&mut Self, &Value)) {
        for one in list.as_array().into_iter().flatten() {
            self.message(number, |inner| write(inner, one));
        }
    }

    /// A message for each member of an object, which holds the member's name and its value.
    pub(super) fn named(&mut self, number: u32, object: &Value, write: impl Fn(&mut Self, &Value)) {
        for (name, value) in object.as_object().into_iter().flatten() {
            self.message(number, |member| {
                member.delimited(1, name.as_bytes());
                member.message(2, |inner| write(inner, value));
            });
        }
    }

    /// The members of an object whose names say that they are extensions.
    pub(super) fn extensions(&mut self, number: u32, object: &Value) {
        let members = object.as_object().into_iter().flatten();
        for (name, value) in members.filter(|(name, _)| name.starts_with("x-")) {
            self.message(number, |member| {
                member.delimited(1, name.as_bytes());
                member.any(2, value);
            });
        }
    }

    pub(super) fn text(&mut self, number: u32, value: &Value) {
        if let Some(text) = value.as_str().filter(|text| !text.is_empty()) {
            self.delimited(number, text.as_bytes());
        }
    }

    pub(super) fn texts(&mut self, number: u32, value: &Value) {
        for text in value.as_array().into_iter().flatten() {
            let text = text.as_str().unwrap_or_default();
            self.delimited(number, text.as_bytes());
        }
    }

    pub(super) fn flag(&mut self, number: u32, value: &Value) {
        if value == true {
            self.tag(number, VARINT);
            self.varint(1);
        }
    }

    pub(super) fn number(&mut self, number: u32, value: &Value) {
        if let Some(value) = value.as_u64().filter(|value| *value > 0) {
            self.tag(number, VARINT);
            self.varint(value);
        }
    }

    pub(super) fn double(&mut self, number: u32, value: &Value) {
        if let Some(value) = value.as_f64().filter(|value| *value != 0.0) {
            self.tag(number, FIXED64);
            self.bytes.extend(value.to_le_bytes());
        }
    }

    /// A value of any kind.
    pub(super) fn any(&mut self, number: u32, value: &Value) {
        if !value.is_null() {
            let text = value.to_string();
            self.message(number, |any| any.delimited(2, text.as_bytes()));
        }
    }

    fn delimited(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, LENGTH);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
    }

    fn tag(&mut self, number: u32, wire: u64) {
        self.varint(u64::from(number) << 3 | wire);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.bytes.push(value.to_le_bytes()[0]);
    }
}
