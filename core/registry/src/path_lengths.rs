//! The length of all field paths of an object together.
//!
//! Validation, managedFields and warnings write the path of a field for each field below it. With a name of a megabyte
//! and a million fields below it, that would be a terabyte. Upstream has no such bound.

use crate::failure::Failure;

/// The bytes that the paths of all fields and items may have together. An object of 3 MiB with names of usual length has
/// less than half of them.
const BYTES_MAX: usize = 256 << 20;

/// A text of so few bytes cannot have more, whatever it says.
const QUICK_BYTES: usize = 16 << 10;

/// Whether a body is large enough to be looked at.
pub(crate) fn may_exceed(body: &[u8]) -> bool {
    body.len() > QUICK_BYTES
}

/// Refuses a text of JSON whose names are too long for the number of fields below them.
pub(crate) fn check(text: &[u8]) -> Result<(), Failure> {
    if !may_exceed(text) || path_bytes(text) <= BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "Request entity too large: the paths of its fields have more than {BYTES_MAX} bytes together: use shorter \
         names, or fewer fields below them"
    );
    Err(Failure::new(413, "RequestEntityTooLarge", message))
}

/// The bytes of all paths in a text of JSON. Indices count as nothing.
fn path_bytes(text: &[u8]) -> usize {
    let mut all = 0_usize;
    // The paths of the objects and lists around a place.
    let mut around = Vec::new();
    let (mut inner, mut next, mut last_text) = (0, 0, 0);
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                last_text = text_bytes(&text[at + 1..]);
                at += last_text + 1;
            }
            b':' => {
                next = inner + last_text + 1;
                all = all.saturating_add(next);
            }
            b',' => {
                next = inner;
                all = all.saturating_add(next);
            }
            b'{' | b'[' => {
                around.push(inner);
                inner = next;
                all = all.saturating_add(next);
            }
            b'}' | b']' => {
                inner = around.pop().unwrap_or_default();
                next = inner;
            }
            _ => {}
        }
        at += 1;
    }
    all
}

/// The bytes up to the quotation mark that ends a text.
fn text_bytes(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_counts_with_the_names_above_it() {
        for (text, expected) in [
            ("{}", 0),
            (r#"{"abc":1}"#, 4),
            (r#"{"abc":{"d":1}}"#, 4 + 4 + 6),
            (r#"{"abc":[1,1,1]}"#, 4 + 4 + 2 * 4),
            (r#"{"a\":{[":"b,{"}"#, 7),
            (
                r#"{"a":[{"b":1},{"b":1}],"c":1}"#,
                2 + 2 + 2 + 4 + 2 + 2 + 4 + 2,
            ),
            (r#"{"a\"#, 0),
            ("}]", 0),
        ] {
            assert_eq!(path_bytes(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn only_names_that_are_too_long_for_their_fields_are_refused() {
        let list = |name: &str, items: usize| format!("{{{name:?}:[1{}]}}", ",1".repeat(items));
        let long = "x".repeat(1 << 20);
        check(list("spec", 1 << 20).as_bytes()).unwrap();
        check(list(&long, 100).as_bytes()).unwrap();
        let refused = check(list(&long, 1_000).as_bytes()).unwrap_err();
        assert_eq!(refused.0.code, 413);
    }
}
