//! The embedded file: numbers in base 128, each string once, descriptions apart.
//!
//! `src/builtin/file.rs` reads what is written here; a test there reads the whole file.

use std::collections::BTreeMap;

use crate::walk::{Shape, Type};

/// A file under construction.
#[derive(Default)]
pub(crate) struct File {
    body: Vec<u8>,
    strings: Vec<String>,
    known: BTreeMap<String, u64>,
}

impl File {
    /// Writes a number.
    pub(crate) fn number(&mut self, number: u64) {
        write_number(&mut self.body, number);
    }

    /// Writes a string.
    pub(crate) fn text(&mut self, text: &str) {
        let next = self.strings.len() as u64;
        let at = *self.known.entry(text.to_owned()).or_insert(next);
        if at == next {
            self.strings.push(text.to_owned());
        }
        self.number(at);
    }

    /// Writes a list of strings.
    pub(crate) fn texts(&mut self, texts: &[impl AsRef<str>]) {
        self.number(texts.len() as u64);
        for text in texts {
            self.text(text.as_ref());
        }
    }

    /// Writes a type.
    pub(crate) fn of_type(&mut self, of: &Type) {
        self.text(&of.name);
        match &of.shape {
            Shape::Any => self.number(0),
            Shape::Boolean => self.number(1),
            Shape::Number => self.number(2),
            Shape::IntOrText => self.number(3),
            Shape::Integer(bits) => {
                self.number(4);
                self.number(u64::from(*bits));
            }
            Shape::Text(format) => {
                self.number(5);
                self.number(u64::from(*format));
            }
            Shape::Map(value, atomic) => {
                self.number(6);
                self.number(*value as u64);
                self.number(u64::from(*atomic));
            }
            Shape::List(item, keys, strategic) => {
                self.number(7);
                self.number(*item as u64);
                self.number(u64::from(keys.is_some()));
                if let Some(keys) = keys {
                    self.texts(keys);
                }
                self.number(u64::from(strategic.is_some()));
                if let Some(key) = strategic {
                    self.text(key);
                }
            }
            Shape::Object(fields, atomic) => {
                self.number(8);
                self.number(u64::from(*atomic));
                self.number(fields.len() as u64);
                for field in fields {
                    self.text(&field.name);
                    self.number(field.of as u64);
                    let flags = [field.required, field.retain_keys, field.replaced];
                    let flags = flags.iter().rev();
                    self.number(flags.fold(0, |all, flag| all << 1 | u64::from(*flag)));
                }
            }
        }
    }

    /// The strings, then everything that refers to them.
    pub(crate) fn finish(self) -> Vec<u8> {
        let mut file = Vec::new();
        write_number(&mut file, self.strings.len() as u64);
        for text in &self.strings {
            write_number(&mut file, text.len() as u64);
            file.extend_from_slice(text.as_bytes());
        }
        file.extend(self.body);
        file
    }
}

/// What the types and their fields mean, in the order in which they are written.
pub(crate) fn descriptions(types: &[Type]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut add = |text: &str| {
        write_number(&mut all, text.len() as u64);
        all.extend_from_slice(text.as_bytes());
    };
    for of in types {
        add(&of.description);
        if let Shape::Object(fields, _) = &of.shape {
            fields.iter().for_each(|field| add(&field.description));
        }
    }
    all
}

fn write_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}
