//! The kind and version that a text says of itself, read before its type is known.

use serde_json::Value;

use super::StrictFault;
use super::seed::{State, anything_in};
use super::syntax;

/// How Go describes what it reads the head into.
const STRUCT: &str = r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;

/// A text as JSON, or what Go says of it.
pub fn read_json(text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|error| syntax::message(text, &error))
}

/// A text as JSON with the fields that are there twice, or what Go says of it.
pub fn read_json_strict(text: &[u8]) -> Result<(Value, Vec<StrictFault>), String> {
    let mut state = State::new(false);
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = anything_in(&mut state, &mut json);
    let value = value.and_then(|value| json.end().map(|()| value));
    let value = value.map_err(|error| syntax::message(text, &error))?;
    Ok((value, state.strict))
}

/// The `apiVersion` and `kind` of a text, empty if they are not there, or what Go says of it.
pub fn read_head(text: &[u8]) -> Result<(String, String), String> {
    head_of(&read_json(text)?)
}

/// The `apiVersion` and `kind` of a value, empty if they are not there, or what Go says of it.
pub fn head_of(value: &Value) -> Result<(String, String), String> {
    let object = match value {
        Value::Object(object) => object,
        Value::Null => return Ok(Default::default()),
        other => {
            let found = go_name(other);
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type {STRUCT}"
            ));
        }
    };
    let field = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(format!(
            "json: cannot unmarshal {} into Go struct field .{name} of type string",
            go_name(other)
        )),
    };
    Ok((field("apiVersion")?, field("kind")?))
}

fn go_name(value: &Value) -> &'static str {
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
    use super::*;

    #[test]
    fn fields_that_are_there_twice_are_told_with_their_places() {
        let text = br#"{"a": 1, "b": [{"c": 1, "c": {"d": 2, "d": 3}}], "a": 2}"#;
        let (value, twice) = read_json_strict(text).unwrap();
        assert_eq!(value, serde_json::json!({"a": 2, "b": [{"c": {"d": 3}}]}));
        let twice: Vec<_> = twice.iter().map(StrictFault::path).collect();
        assert_eq!(twice, ["b[0].c", "b[0].c.d", "a"]);
    }

    #[test]
    fn a_head_is_read_or_refused_as_go_does() {
        let head = read_head(br#"{"kind":"Pod","apiVersion":"v1","spec":7}"#).unwrap();
        assert_eq!(head, ("v1".to_owned(), "Pod".to_owned()));
        assert_eq!(read_head(b"null").unwrap(), Default::default());
        for (text, why) in [
            ("", "unexpected end of JSON input"),
            ("{}{}", "invalid character '{' after top-level value"),
            (
                r#"{"kind":7}"#,
                "json: cannot unmarshal number into Go struct field .kind of type string",
            ),
            (
                "[]",
                r#"json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#,
            ),
        ] {
            assert_eq!(read_head(text.as_bytes()).unwrap_err(), why);
        }
    }
}
