//! From a value to YAML, laid out as upstream does: keys in order, lists not indented, texts folded
//! after eighty columns.
//!
//! Upstream: `sigs.k8s.io/yaml/goyaml.v2/emitterc.go`.

use serde_json::{Map, Value};

use crate::order;
use crate::style::{Style, is_break, is_printable, style};

/// The column after which a text goes on in the next line.
const WIDTH: usize = 80;

/// A longer key is written with a question mark before it.
const SIMPLE_KEY_BYTES_MAX: usize = 128;

/// The value as YAML.
pub fn write(value: &Value) -> String {
    let mut writer = Writer::default();
    match value {
        Value::Object(map) if !map.is_empty() => writer.map(map, 0),
        Value::Array(items) if !items.is_empty() => writer.items(items, 0),
        other => writer.scalar(other, 0),
    }
    if !writer.out.ends_with('\n') {
        writer.out.push('\n');
    }
    writer.out
}

#[derive(Default)]
struct Writer {
    out: String,
    /// How many characters are on the line so far.
    column: usize,
}

impl Writer {
    fn put(&mut self, character: char) {
        self.out.push(character);
        self.column = match character {
            '\n' => 0,
            _ => self.column + 1,
        };
    }

    fn text(&mut self, text: &str) {
        text.chars().for_each(|character| self.put(character));
    }

    /// Goes to this column of a line with nothing before it.
    fn line(&mut self, indent: usize) {
        if self.column > indent || (self.column == indent && !self.is_blank()) {
            self.put('\n');
        }
        while self.column < indent {
            self.put(' ');
        }
    }

    /// Whether there is nothing but indentation on the line.
    fn is_blank(&self) -> bool {
        let line = self.out.rsplit('\n').next().unwrap_or_default();
        line.trim_start_matches(['-', '?', ':', ' ']).is_empty()
    }

    fn map(&mut self, map: &Map<String, Value>, indent: usize) {
        let mut entries: Vec<(&String, &Value)> = map.iter().collect();
        entries.sort_by(|(one, _), (other, _)| order::compare(one, other));
        for (key, value) in entries {
            self.line(indent);
            if key.len() > SIMPLE_KEY_BYTES_MAX || key.contains('\n') {
                self.text("? ");
                self.string(key, indent + 2, false);
                self.line(indent);
                self.text(":");
            } else {
                self.string(key, indent, true);
                self.text(":");
            }
            match value {
                Value::Object(map) if !map.is_empty() => {
                    self.put('\n');
                    self.map(map, indent + 2);
                }
                Value::Array(items) if !items.is_empty() => {
                    self.put('\n');
                    self.items(items, indent);
                }
                other => {
                    self.put(' ');
                    self.scalar(other, indent + 2);
                }
            }
        }
    }

    fn items(&mut self, items: &[Value], indent: usize) {
        for item in items {
            self.line(indent);
            self.text("- ");
            match item {
                Value::Object(map) if !map.is_empty() => self.map(map, indent + 2),
                Value::Array(items) if !items.is_empty() => self.items(items, indent + 2),
                other => self.scalar(other, indent + 2),
            }
        }
    }

    fn scalar(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Object(_) => self.text("{}"),
            Value::Array(_) => self.text("[]"),
            Value::String(text) => self.string(text, indent, false),
            other => self.text(&other.to_string()),
        }
    }

    fn string(&mut self, text: &str, indent: usize, is_key: bool) {
        match style(text, is_key) {
            Style::Plain => self.folded(text, indent, is_key, false),
            Style::Single => {
                self.put('\'');
                self.folded(text, indent, is_key, true);
                self.put('\'');
            }
            Style::Double => self.escaped(text, indent, is_key),
            Style::Literal => self.literal(text, indent),
        }
    }

    fn folded(&mut self, text: &str, indent: usize, is_key: bool, is_quoted: bool) {
        let mut after_space = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((at, one)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if one != ' ' {
                if one == '\'' && is_quoted {
                    self.put('\'');
                }
                self.put(one);
                after_space = false;
                continue;
            }
            let inside = !is_quoted || (at > 0 && next.is_some());
            if !is_key && !after_space && self.column > WIDTH && inside && next != Some(' ') {
                self.line(indent);
            } else {
                self.put(' ');
            }
            after_space = true;
        }
    }

    fn escaped(&mut self, text: &str, indent: usize, is_key: bool) {
        self.put('"');
        let mut after_space = false;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((at, one)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            if one == ' ' {
                let inside = at > 0 && next.is_some();
                if !is_key && !after_space && self.column > WIDTH && inside {
                    self.line(indent);
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                after_space = true;
                continue;
            }
            after_space = false;
            if !is_printable(one) || is_break(one) || matches!(one, '"' | '\\') {
                self.text(&escape(one));
            } else {
                self.put(one);
            }
        }
        self.put('"');
    }

    fn literal(&mut self, text: &str, indent: usize) {
        self.put('|');
        if text.starts_with(|one| one == ' ' || is_break(one)) {
            self.put('2');
        }
        if !text.ends_with('\n') {
            self.put('-');
        } else if text == "\n" || text.ends_with("\n\n") {
            self.put('+');
        }
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.put('\n');
            if !line.is_empty() {
                (0..indent).for_each(|_| self.put(' '));
                self.text(line);
            }
        }
        if text.ends_with('\n') {
            self.put('\n');
        }
    }
}

fn escape(character: char) -> String {
    let short = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        other => {
            return match u32::from(other) {
                code @ 0..=0xff => format!("\\x{code:02X}"),
                code @ 0..=0xffff => format!("\\u{code:04X}"),
                code => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{short}")
}
