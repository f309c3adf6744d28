//! How upstream prints JSON values in its messages.
//!
//! Its messages hold values in the notation of Go's `fmt`, and people search for these messages.
//! So a list is `[a b]`, a map is `map[key:value]` in order of key, and types have Go's names.

use std::fmt::Write as _;

use serde_json::Value;

/// A value as `%v` prints it.
pub fn plain(value: &Value) -> String {
    let mut text = String::new();
    write_plain(value, &mut text);
    text
}

fn write_plain(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("<nil>"),
        Value::String(string) => text.push_str(string),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                write_plain(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push_str("map[");
            for (at, (name, member)) in members.iter().enumerate() {
                if at > 0 {
                    text.push(' ');
                }
                let _ = write!(text, "{name}:");
                write_plain(member, text);
            }
            text.push(']');
        }
        Value::Bool(_) | Value::Number(_) => {
            let _ = write!(text, "{value}");
        }
    }
}

/// A value as `%s` prints it, which is meant for strings and says so of anything else.
pub(crate) fn as_string(value: &Value) -> String {
    match value {
        Value::String(string) => string.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={value})", type_name(value)),
        Value::Array(_) | Value::Object(_) => plain(value),
    }
}

/// A value as `%#v` prints it: as source.
pub(crate) fn source(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(source).collect();
            format!("[]interface {{}}{{{}}}", items.join(", "))
        }
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(name, member)| format!("{name:?}:{}", source(member)))
                .collect();
            format!("map[string]interface {{}}{{{}}}", members.join(", "))
        }
        Value::String(string) => format!("{string:?}"),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The type a value has after Go has decoded it into nothing in particular.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// What Go's decoder calls a piece of JSON that is not what it was told to expect.
pub fn json_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_read_as_go_prints_them() {
        let value = json!({"b": [1, "x", null], "a": {"t": true, "f": 1.5}});
        assert_eq!(plain(&value), "map[a:map[f:1.5 t:true] b:[1 x <nil>]]");
        assert_eq!(as_string(&json!("x")), "x");
        assert_eq!(as_string(&json!(5)), "%!s(int64=5)");
        assert_eq!(
            source(&json!({"a": [1, "x"]})),
            r#"map[string]interface {}{"a":[]interface {}{1, "x"}}"#
        );
    }
}
