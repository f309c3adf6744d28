//! Whether a text is base 64, as Go's standard encoding sees it.

/// The first byte at which the text stops being base 64.
///
/// Line breaks are passed over, padding is required, and trailing bits may be anything.
pub(crate) fn illegal_at(text: &str) -> Option<usize> {
    let bytes = text.bytes().enumerate();
    let mut bytes = bytes.filter(|(_, byte)| !matches!(byte, b'\r' | b'\n'));
    let mut in_quad = 0;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => in_quad = (in_quad + 1) % 4,
            b'=' if in_quad >= 2 => {
                if in_quad == 2 {
                    match bytes.next() {
                        Some((_, b'=')) => {}
                        Some((at, _)) => return Some(at),
                        None => return Some(text.len()),
                    }
                }
                return bytes.next().map(|(at, _)| at);
            }
            _ => return Some(at),
        }
    }
    // Go names the start of the incomplete group.
    (in_quad != 0).then(|| text.len() - in_quad)
}

/// A text that is base 64 as Go writes what it stands for: without line breaks, and with zeros for trailing bits.
pub(crate) fn canonical(text: String) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = text.into_bytes();
    bytes.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    let padding = bytes.iter().rev().take_while(|byte| **byte == b'=').count();
    let last = bytes.len().checked_sub(padding + 1);
    if let Some(last) = last
        .and_then(|at| bytes.get_mut(at))
        .filter(|_| padding > 0)
    {
        let value = ALPHABET.iter().position(|letter| letter == last);
        let kept = !((1 << (2 * padding)) - 1);
        let letter = value.and_then(|value| ALPHABET.get(value & kept));
        *last = letter.copied().unwrap_or(*last);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailing_bits_and_line_breaks_are_dropped() {
        for (text, want) in [
            ("YQ==", "YQ=="),
            ("YR==", "YQ=="),
            ("YWJ=", "YWI="),
            ("YW\nJj\n", "YWJj"),
            ("", ""),
        ] {
            assert_eq!(canonical(text.to_owned()), want);
        }
    }

    #[test]
    fn only_padded_groups_of_four_are_legal() {
        for text in ["", "YQ==", "YWI=", "YWJj", "YWJj\nYQ==\n", "+/A="] {
            assert_eq!(illegal_at(text), None, "{text}");
        }
        for (text, at) in [
            ("YQ", 0),
            ("YQ=", 3),
            ("YQ==a", 4),
            ("a!bc", 1),
            ("=", 0),
            ("YWJjY", 4),
        ] {
            assert_eq!(illegal_at(text), Some(at), "{text}");
        }
    }
}
