//! Halves of UTF-16 pairs in JSON, such as `"\ud800"`: Go reads each as U+FFFD.
//!
//! Upstream: `unquoteBytes` in Go's `encoding/json`, which `sigs.k8s.io/json` has taken over.

use std::borrow::Cow;

/// An escape with four digits.
const ESCAPE_BYTES: usize = r"\u0000".len();

/// A text of JSON whose lone halves of pairs are U+FFFD. Others are left as they are, without a copy.
pub(crate) fn mended(text: &[u8]) -> Cow<'_, [u8]> {
    let mut mended = Cow::Borrowed(text);
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        at += match unit(text, at) {
            Some(0xd800..=0xdbff)
                if matches!(unit(text, at + ESCAPE_BYTES), Some(0xdc00..=0xdfff)) =>
            {
                2 * ESCAPE_BYTES
            }
            Some(0xd800..=0xdfff) => {
                mended.to_mut()[at..at + ESCAPE_BYTES].copy_from_slice(br"\ufffd");
                ESCAPE_BYTES
            }
            Some(_) => ESCAPE_BYTES,
            // Of any other escape, the one of a backslash among them.
            None => 2,
        };
        if at >= text.len() {
            break;
        }
    }
    mended
}

/// The unit of UTF-16 that an escape at this place stands for.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let escape = text.get(at..at + ESCAPE_BYTES)?;
    let digits = escape.strip_prefix(br"\u")?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_become_marks_and_pairs_stay() {
        for (text, expected) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDC00x""#, r#""\ufffdx""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud800A""#, r#""\ufffdA""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800\n""#, r#""\\\ufffd\n""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\"#, r#""\"#),
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
        ] {
            let mended = mended(text.as_bytes());
            assert_eq!(String::from_utf8_lossy(&mended), expected, "{text}");
        }
    }
}
