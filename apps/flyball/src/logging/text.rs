//! klog's lines of text.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::fields::FieldValue;
use super::{Message, Severity, short_file};

/// `I1116 03:14:30.123456    1234 file.rs:12] "message" err="…" key="value"` and a line break.
pub(super) fn render(message: &Message, pid: u32) -> String {
    let letter = match message.severity {
        Severity::Info => 'I',
        Severity::Warning => 'W',
        Severity::Error => 'E',
    };
    let time = Timestamp::from_microsecond(message.time_us).unwrap_or_default();
    let time = time.to_zoned(TimeZone::UTC);
    format!(
        "{letter}{:02}{:02} {:02}:{:02}:{:02}.{:06} {pid:7} {}:{}] {}\n",
        time.month(),
        time.day(),
        time.hour(),
        time.minute(),
        time.second(),
        message.time_us.rem_euclid(1_000_000),
        short_file(message.file),
        message.line,
        body(message)
    )
}

/// What follows the header: the message and its fields. Equal bodies are the same message said
/// again.
pub(super) fn body(message: &Message) -> String {
    let mut out = quoted(&message.text);
    let named = [("err", &message.err), ("logger", &message.logger)];
    for (name, text) in named
        .into_iter()
        .filter_map(|(name, t)| t.as_ref().map(|t| (name, t)))
    {
        push_text(&mut out, name, text);
    }
    for (name, value) in &message.fields {
        // Writing to a String cannot fail.
        let _ = match value {
            FieldValue::Text(text) => {
                push_text(&mut out, name, text);
                Ok(())
            }
            FieldValue::Signed(number) => write!(out, " {name}={number}"),
            FieldValue::Unsigned(number) => write!(out, " {name}={number}"),
            FieldValue::Float(number) => write!(out, " {name}={number}"),
            FieldValue::Bool(truth) => write!(out, " {name}={truth}"),
        };
    }
    out
}

/// Text of several lines is set apart, so that it stays readable.
fn push_text(out: &mut String, name: &str, text: &str) {
    out.push(' ');
    out.push_str(name);
    out.push('=');
    if !text.contains('\n') {
        out.push_str(&quoted(text));
        return;
    }
    out.push_str("<\n");
    for line in text.trim_end_matches('\n').split('\n') {
        out.push('\t');
        out.push_str(line);
        out.push('\n');
    }
    out.push_str(" >");
}

/// Go's quoted string.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
