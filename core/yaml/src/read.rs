//! From YAML to a value: the first document of a text, by Go's rules.
//!
//! Upstream: `sigs.k8s.io/yaml` (`YAMLToJSON`, `YAMLToJSONStrict`), `goyaml.v2/decode.go`.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span};
use serde_json::{Map, Value};

use crate::scalar::{Meaning, meaning};

/// How deep a document may be nested: as deep as JSON is read.
const DEPTH_MAX: usize = 127;

/// How many values aliases may multiply a document to.
const VALUES_MAX: usize = 500_000;
/// How many bytes of text aliases may multiply a document to: some times what a request may have.
const BYTES_MAX: usize = 16 << 20;

/// How much a value is: itself and what is in it.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    values: usize,
    /// Bytes of texts and keys.
    bytes: usize,
}

impl Size {
    /// Adds to it, unless it gets too much.
    fn grow(&mut self, by: Size) -> Result<(), ReadFailed> {
        self.values = self.values.saturating_add(by.values);
        self.bytes = self.bytes.saturating_add(by.bytes);
        if self.values > VALUES_MAX || self.bytes > BYTES_MAX {
            let why = "document contains excessive aliasing";
            return Err(ReadFailed(why.to_owned()));
        }
        Ok(())
    }
}

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The value.
    pub value: Value,
    /// Keys that are there twice, in upstream's words; the last one counts.
    pub duplicates: Vec<String>,
}

/// Why a text is no YAML that could be read, in upstream's words where there are some.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("yaml: {0}")]
pub struct ReadFailed(String);

/// Reads the first document of a text.
pub fn read(text: &str) -> Result<Read, ReadFailed> {
    let mut options = Options::default();
    options.flow_nesting_limit = options.flow_nesting_limit.min(DEPTH_MAX + 1);
    options.block_nesting_limit = options.block_nesting_limit.min(DEPTH_MAX + 1);
    let mut reader = Reader {
        parser: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        size: Size::default(),
        copied: Size::default(),
        duplicates: Vec::new(),
    };
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart | Event::DocumentStart(..) => {}
            Event::StreamEnd | Event::DocumentEnd => break,
            node => {
                let value = reader.node(node, span, 0)?;
                return Ok(Read {
                    value,
                    duplicates: reader.duplicates,
                });
            }
        }
    }
    Ok(Read {
        value: Value::Null,
        duplicates: Vec::new(),
    })
}

struct Reader<'a> {
    parser: Parser<'a, granit_parser::StrInput<'a>>,
    /// What an alias stands for, with its size.
    anchors: HashMap<usize, (Value, Size)>,
    /// The size of what was read so far, with what aliases stand for.
    size: Size,
    /// The size of the copies that are kept for aliases.
    copied: Size,
    duplicates: Vec<String>,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, Span)>, ReadFailed> {
        loop {
            match self.parser.next_event() {
                None => return Ok(None),
                Some(Err(error)) => {
                    let line = error.marker().line();
                    let told = words(&error.info());
                    // Go's scanner does not count the first line.
                    return Err(ReadFailed(match line {
                        1 if told.starts_with("mapping values") => told,
                        line => format!("line {line}: {told}"),
                    }));
                }
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(found)) => return Ok(Some(found)),
            }
        }
    }

    /// The next event within a collection.
    fn within(&mut self) -> Result<(Event<'a>, Span), ReadFailed> {
        let next = self.next()?;
        next.ok_or_else(|| ReadFailed("unexpected end of stream".to_owned()))
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Value, ReadFailed> {
        if depth > DEPTH_MAX {
            let line = span.start.line();
            return Err(ReadFailed(format!(
                "line {line}: exceeded max depth of {DEPTH_MAX}"
            )));
        }
        let before = self.size;
        let bytes = match &event {
            Event::Scalar(text, ..) => text.len(),
            _ => 0,
        };
        self.size.grow(Size { values: 1, bytes })?;
        let (value, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.as_ref().and_then(|tag| tag.core_suffix());
                let is_text = style != ScalarStyle::Plain && tag.is_none() || tag == Some("str");
                let value = match is_text {
                    true => Value::from(&*text),
                    false => plain(&text)?,
                };
                (value, anchor)
            }
            Event::SequenceStart(_, anchor, _) => (self.items(depth)?, anchor),
            Event::MappingStart(_, anchor, _) => (self.entries(depth)?, anchor),
            Event::Alias(id) => {
                let found = self.anchors.get(&id);
                let (value, size) =
                    found.ok_or_else(|| ReadFailed("anchor contains itself".to_owned()))?;
                self.size.grow(*size)?;
                return Ok(value.clone());
            }
            _ => return Err(ReadFailed("did not find expected node content".to_owned())),
        };
        if anchor != 0 {
            let size = Size {
                values: self.size.values - before.values,
                bytes: self.size.bytes - before.bytes,
            };
            self.copied.grow(size)?;
            self.anchors.insert(anchor, (value.clone(), size));
        }
        Ok(value)
    }

    fn items(&mut self, depth: usize) -> Result<Value, ReadFailed> {
        let mut items = Vec::new();
        loop {
            match self.within()? {
                (Event::SequenceEnd, _) => return Ok(Value::Array(items)),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn entries(&mut self, depth: usize) -> Result<Value, ReadFailed> {
        let mut map = Map::new();
        let mut merged = Vec::new();
        loop {
            let (event, span) = match self.within()? {
                (Event::MappingEnd, _) => break,
                found => found,
            };
            let line = span.start.line();
            let is_merge =
                matches!(&event, Event::Scalar(text, ScalarStyle::Plain, _, None) if text == "<<");
            let key = key(self.node(event, span, depth + 1)?)?;
            let (event, span) = self.within()?;
            let value = self.node(event, span, depth + 1)?;
            if is_merge {
                merged.push(value);
            } else if map.insert(key.clone(), value).is_some() {
                let duplicate = format!("line {line}: key {key:?} already set in map");
                self.duplicates.push(duplicate);
            }
        }
        for value in merged {
            merge(&mut map, value)?;
        }
        Ok(Value::Object(map))
    }
}

/// What a scalar without quotes is in JSON.
fn plain(text: &str) -> Result<Value, ReadFailed> {
    match meaning(text) {
        Meaning::Text | Meaning::Time => Ok(Value::from(text)),
        Meaning::Value(value) => Ok(value),
        Meaning::Unwritable => Err(ReadFailed(format!("{text} has no form in JSON"))),
    }
}

/// The text of a key, whatever it is.
fn key(value: Value) -> Result<String, ReadFailed> {
    match value {
        Value::String(text) => Ok(text),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Null => Ok("null".to_owned()),
        Value::Array(_) | Value::Object(_) => Err(ReadFailed(
            "a key must be a text, a number or a truth".to_owned(),
        )),
    }
}

/// Adds what `<<` brings and what is not there yet.
fn merge(map: &mut Map<String, Value>, value: Value) -> Result<(), ReadFailed> {
    match value {
        Value::Object(other) => {
            for (key, value) in other {
                map.entry(key).or_insert(value);
            }
            Ok(())
        }
        Value::Array(others) => others.into_iter().try_for_each(|other| match other {
            Value::Object(_) => merge(map, other),
            _ => Err(ReadFailed(
                "map merge requires map or sequence of maps as the value".to_owned(),
            )),
        }),
        _ => Err(ReadFailed(
            "map merge requires map or sequence of maps as the value".to_owned(),
        )),
    }
}

/// What went wrong, in upstream's words for the commonest mistakes.
fn words(said: &str) -> String {
    let lower = said.to_lowercase();
    if lower.contains("mapping values are not allowed") {
        "mapping values are not allowed in this context".to_owned()
    } else if lower.contains("recursion") || lower.contains("nesting") {
        format!("exceeded max depth of {DEPTH_MAX}")
    } else if lower.contains("while parsing a node") || lower.contains("unclosed bracket") {
        "did not find expected node content".to_owned()
    } else {
        said.to_owned()
    }
}
