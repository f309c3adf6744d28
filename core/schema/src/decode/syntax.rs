//! What Go says of a text that is not JSON.

/// What Go says of a text that should be JSON and is not; nothing if it is.
pub fn json_mistake(text: &[u8]) -> Option<String> {
    let read = serde_json::from_slice::<serde::de::IgnoredAny>(text);
    read.err().map(|error| message(text, &error))
}

/// The message for what serde_json says of a text.
pub(super) fn message(text: &[u8], error: &serde_json::Error) -> String {
    let said = error.to_string();
    if error.is_eof() {
        return end(text);
    }
    if said.starts_with("expected ident") {
        return literal(text, error).unwrap_or(said);
    }
    let found = at(text, error.line(), error.column());
    let place = |place: &str| match found {
        Some(found) => format!("invalid character {} {place}", quoted(found)),
        None => said.clone(),
    };
    match said.split(" at line ").next().unwrap_or_default() {
        "expected value" => place("looking for beginning of value"),
        "key must be a string" => place("looking for beginning of object key string"),
        "trailing comma" if found == Some('}') => {
            place("looking for beginning of object key string")
        }
        "trailing comma" => place("looking for beginning of value"),
        "expected `:`" => place("after object key"),
        "expected `,` or `}`" => place("after object key:value pair"),
        "expected `,` or `]`" => place("after array element"),
        "trailing characters" => place("after top-level value"),
        "invalid escape" => place("in string escape code"),
        // Upstream goes a hundred times as deep.
        "recursion limit exceeded" => place("exceeded max depth"),
        "invalid number" => place(match before(text, error) {
            Some('.') => "after decimal point in numeric literal",
            Some('e' | 'E' | '+') => "in exponent of numeric literal",
            _ => "in numeric literal",
        }),
        _ => said,
    }
}

/// What Go says of a text that ends too early. Its scanner is given a space at the end, which it does not take
/// everywhere.
fn end(text: &[u8]) -> String {
    let digits = text.iter().rev().take(3);
    let digits = digits.take_while(|byte| byte.is_ascii_hexdigit()).count();
    let before = text.get(..text.len() - digits).unwrap_or_default();
    if before.ends_with(b"\\u") && !before.ends_with(b"\\\\u") {
        return "invalid character ' ' in \\u hexadecimal character escape".to_owned();
    }
    let longer = [text, b" "].concat();
    match serde_json::from_slice::<serde::de::IgnoredAny>(&longer) {
        Err(error) if !error.is_eof() => message(&longer, &error),
        _ => "unexpected end of JSON input".to_owned(),
    }
}

/// The character before the one that is wrong.
fn before(text: &[u8], error: &serde_json::Error) -> Option<char> {
    at(text, error.line(), error.column().checked_sub(1)?)
}

/// What Go says of a word that begins like `null`, `true` or `false` and is another.
fn literal(text: &[u8], error: &serde_json::Error) -> Option<String> {
    let found = at(text, error.line(), error.column())?;
    let before: String = (1..4)
        .take_while(|back| error.column() > *back)
        .filter_map(|back| at(text, error.line(), error.column() - back))
        .take_while(char::is_ascii_lowercase)
        .collect();
    let before: String = before.chars().rev().collect();
    let word = ["null", "true", "false"]
        .into_iter()
        .find(|word| !before.is_empty() && word.starts_with(&before))?;
    let expected = word.chars().nth(before.len())?;
    Some(format!(
        "invalid character {} in literal {word} (expecting {})",
        quoted(found),
        quoted(expected)
    ))
}

/// The character at a line and column, both counted from one.
fn at(text: &[u8], line: usize, column: usize) -> Option<char> {
    let line = text
        .split(|byte| *byte == b'\n')
        .nth(line.checked_sub(1)?)?;
    // Go's scanner goes byte by byte, and shows one as a character of Latin-1.
    line.get(column.checked_sub(1)?)
        .map(|byte| char::from(*byte))
}

fn quoted(character: char) -> String {
    match character {
        '"' => "'\"'".to_owned(),
        '\u{7}' => "'\\a'".to_owned(),
        '\u{8}' => "'\\b'".to_owned(),
        '\u{b}' => "'\\v'".to_owned(),
        '\u{c}' => "'\\f'".to_owned(),
        '\0'..' ' | '\u{7f}' if !"\t\n\r".contains(character) => {
            format!("'\\x{:02x}'", u32::from(character))
        }
        character => format!("{character:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_character_and_its_place_are_named() {
        for (text, why) in [
            ("{", "unexpected end of JSON input"),
            ("", "unexpected end of JSON input"),
            ("{\"a\": \"b", "unexpected end of JSON input"),
            (
                "{\"a\": \"b\\",
                "invalid character ' ' in string escape code",
            ),
            (
                "{\"a\": \"\\u00",
                "invalid character ' ' in \\u hexadecimal character escape",
            ),
            (
                "{\"a\": tr",
                "invalid character ' ' in literal true (expecting 'u')",
            ),
            ("{\"a\": -", "invalid character ' ' in numeric literal"),
            (
                "{\"a\": 1.",
                "invalid character ' ' after decimal point in numeric literal",
            ),
            (
                "{\"a\": 1e",
                "invalid character ' ' in exponent of numeric literal",
            ),
            (
                "{\"spec\": }",
                "invalid character '}' looking for beginning of value",
            ),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            (
                "{\"a\":1 \"b\":2}",
                "invalid character '\"' after object key:value pair",
            ),
            (
                "{\"a\":1,}",
                "invalid character '}' looking for beginning of object key string",
            ),
            (
                "{\"a\":[1,]}",
                "invalid character ']' looking for beginning of value",
            ),
            (
                "{\"a\":\n[1 2]}",
                "invalid character '2' after array element",
            ),
            ("{} x", "invalid character 'x' after top-level value"),
            (
                "{a:1}",
                "invalid character 'a' looking for beginning of object key string",
            ),
            ("x", "invalid character 'x' looking for beginning of value"),
            (
                "{\"a\":\"\\q\"}",
                "invalid character 'q' in string escape code",
            ),
            (
                "not",
                "invalid character 'o' in literal null (expecting 'u')",
            ),
            (
                "[trux]",
                "invalid character 'x' in literal true (expecting 'e')",
            ),
            ("{\"a\": -}", "invalid character '}' in numeric literal"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(text).unwrap_err();
            assert_eq!(message(text.as_bytes(), &error), why, "{error}");
        }
    }
}
