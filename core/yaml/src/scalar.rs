//! What a plain scalar means: YAML 1.1 as Go's library has it.
//!
//! Upstream: `sigs.k8s.io/yaml/goyaml.v2/resolve.go`.

use serde_json::{Number, Value};

/// The meaning of a plain scalar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Meaning {
    /// Nothing but itself.
    Text,
    /// A value that is no text.
    Value(Value),
    /// A day or a time; in JSON it is the text that it was.
    Time,
    /// Not a number, or too large a one: there is no JSON for it.
    Unwritable,
}

const NULLS: &[&str] = &["", "~", "null", "Null", "NULL"];
const TRUES: &[&str] = &[
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON",
];
const FALSES: &[&str] = &[
    "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF",
];
const NOT_NUMBERS: &[&str] = &[
    ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf",
    "-.INF",
];

/// What a plain scalar means.
pub(crate) fn meaning(text: &str) -> Meaning {
    if NULLS.contains(&text) {
        return Meaning::Value(Value::Null);
    }
    if TRUES.contains(&text) {
        return Meaning::Value(Value::Bool(true));
    }
    if FALSES.contains(&text) {
        return Meaning::Value(Value::Bool(false));
    }
    if NOT_NUMBERS.contains(&text) {
        return Meaning::Unwritable;
    }
    let Some(first) = text.bytes().next() else {
        return Meaning::Text;
    };
    if !matches!(first, b'0'..=b'9' | b'+' | b'-' | b'.') {
        return Meaning::Text;
    }
    if first.is_ascii_digit() && is_time(text) {
        return Meaning::Time;
    }
    number(text)
}

fn number(text: &str) -> Meaning {
    let plain = text.replace('_', "");
    if !text.starts_with('.')
        && let Some(whole) = whole(&plain)
    {
        return Meaning::Value(Value::Number(whole));
    }
    if !is_float(&plain) {
        return Meaning::Text;
    }
    match plain.parse::<f64>().ok().and_then(Number::from_f64) {
        Some(float) => Meaning::Value(Value::Number(float)),
        None => Meaning::Unwritable,
    }
}

/// A whole number in the notations of Go: decimal, hexadecimal, octal (also with a bare zero), binary.
fn whole(plain: &str) -> Option<Number> {
    let (negative, digits) = match plain.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let digits = std::str::from_utf8(digits).ok()?;
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, digits.get(2..)?),
        [b'0', b'b' | b'B', ..] => (2, digits.get(2..)?),
        [b'0', b'o' | b'O', ..] => (8, digits.get(2..)?),
        [b'0', _, ..] => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    if !negative {
        return Some(size.into());
    }
    let size = i128::from(size);
    Some(i64::try_from(-size).ok()?.into())
}

/// `1.5`, `.5`, `1e3`: what Go's library takes for a number with a fraction.
fn is_float(plain: &str) -> bool {
    let rest = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let digits = |text: &str| {
        let end = text.bytes().take_while(u8::is_ascii_digit).count();
        text.split_at(end).1.to_owned()
    };
    let after_whole = digits(rest);
    let whole_digits = rest.len() - after_whole.len();
    let (fraction_digits, rest) = match after_whole.strip_prefix('.') {
        Some(fraction) => {
            let after = digits(fraction);
            (fraction.len() - after.len(), after)
        }
        None => (0, after_whole),
    };
    if whole_digits == 0 && fraction_digits == 0 {
        return false;
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return rest.is_empty();
    };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !exponent.is_empty() && exponent.bytes().all(|byte| byte.is_ascii_digit())
}

/// A day, or a day and a time of it, in the notations that Go's library knows.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    let digits = |at: &mut usize, least: usize, most: usize| {
        let found = bytes[*at..]
            .iter()
            .take(most)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        *at += found;
        found >= least
    };
    let expect = |at: &mut usize, wanted: &[u8]| {
        let is_there = bytes.get(*at).is_some_and(|byte| wanted.contains(byte));
        *at += usize::from(is_there);
        is_there
    };
    if !(digits(&mut at, 4, 4)
        && expect(&mut at, b"-")
        && digits(&mut at, 1, 2)
        && expect(&mut at, b"-")
        && digits(&mut at, 1, 2))
    {
        return false;
    }
    if at == bytes.len() {
        return true;
    }
    let spaced = bytes.get(at) == Some(&b' ');
    if !(expect(&mut at, b"Tt ")
        && digits(&mut at, 1, 2)
        && expect(&mut at, b":")
        && digits(&mut at, 1, 2)
        && expect(&mut at, b":")
        && digits(&mut at, 1, 2))
    {
        return false;
    }
    if expect(&mut at, b".") && !digits(&mut at, 1, usize::MAX) {
        return false;
    }
    if at == bytes.len() {
        return spaced;
    }
    if expect(&mut at, b"Z") {
        return at == bytes.len();
    }
    expect(&mut at, b"+-")
        && digits(&mut at, 2, 2)
        && (at == bytes.len() || (expect(&mut at, b":") && digits(&mut at, 2, 2)))
        && at == bytes.len()
}

/// `12:30:45`: a number to older readers, so it is written in quotes.
pub(crate) fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = text.split(':');
    let first = parts.next().unwrap_or_default();
    if !first.starts_with(|c: char| c.is_ascii_digit())
        || !first
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'_')
    {
        return false;
    }
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else {
        return false;
    };
    let last = last.split_once('.').map_or(*last, |(last, _)| last);
    let is_part =
        |part: &str| matches!(part.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']);
    middle.iter().copied().all(is_part) && is_part(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_scalars_mean_what_they_mean_to_go() {
        for (text, value) in [
            ("yes", json!(true)),
            ("Off", json!(false)),
            ("~", json!(null)),
            ("", json!(null)),
            ("12", json!(12)),
            ("-12", json!(-12)),
            ("+12", json!(12)),
            ("1_000", json!(1000)),
            ("0x1F", json!(31)),
            ("010", json!(8)),
            ("0b101", json!(5)),
            (
                "18446744073709551615",
                json!(18_446_744_073_709_551_615_u64),
            ),
            ("1.5", json!(1.5)),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("-.5", json!(-0.5)),
        ] {
            assert_eq!(meaning(text), Meaning::Value(value), "{text}");
        }
        for text in [
            "yEs", "1.2.3", "1Gi", "-", ".", "+", "0x", "1e", "v1", "12:30", "<<",
        ] {
            assert_eq!(meaning(text), Meaning::Text, "{text}");
        }
        for text in [
            "2026-01-02",
            "2026-1-2",
            "2026-01-02T03:04:05Z",
            "2026-01-02t03:04:05.25+02:00",
            "2026-01-02 03:04:05",
        ] {
            assert_eq!(meaning(text), Meaning::Time, "{text}");
        }
        assert_eq!(meaning("2026-01-02T03:04:05"), Meaning::Text);
        assert_eq!(meaning(".inf"), Meaning::Unwritable);
    }

    #[test]
    fn numbers_to_the_base_of_sixty_are_known() {
        for text in ["1:30", "190:20:30", "1:59.5", "-1:0"] {
            assert!(is_sexagesimal(text), "{text}");
        }
        for text in ["1:60", "a:30", "10", "1:30:"] {
            assert!(!is_sexagesimal(text), "{text}");
        }
    }
}
