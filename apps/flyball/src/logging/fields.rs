//! The fields of an event or a span, collected.

use std::error::Error;
use std::fmt;

use tracing::field::{Field, Visit};

/// A field's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum FieldValue {
    Text(String),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Bool(bool),
}

/// Fields in the order of their recording; a later value takes the place of an earlier one of the
/// same name.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) message: Option<String>,
    pub(super) err: Option<String>,
    pub(super) logger: Option<String>,
    pub(super) others: Vec<(&'static str, FieldValue)>,
}

impl Fields {
    /// Adds the fields of a span. Its message and its error are its own.
    pub(super) fn absorb(&mut self, outer: &Fields) {
        if outer.logger.is_some() {
            self.logger.clone_from(&outer.logger);
        }
        for (name, value) in &outer.others {
            self.put(name, value.clone());
        }
    }

    fn put(&mut self, name: &'static str, value: FieldValue) {
        match self.others.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.others.push((name, value)),
        }
    }

    fn text(&mut self, name: &'static str, text: String) {
        match name {
            "message" => self.message = Some(text),
            "err" | "error" => self.err = Some(text),
            "logger" => self.logger = Some(text),
            _ => self.put(name, FieldValue::Text(text)),
        }
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field.name(), format!("{value:?}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        // The whole chain: what failed, and why.
        let mut text = value.to_string();
        let mut source = value.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.ends_with(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            source = cause.source();
        }
        self.text(field.name(), text);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), FieldValue::Signed(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), FieldValue::Unsigned(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), FieldValue::Float(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), FieldValue::Bool(value));
    }
}
