//! Texts in quotes as upstream's messages have them: Go's `%q`.

/// Whether Go shows a character as it is.
pub(crate) fn is_printable(letter: char) -> bool {
    let is_format = matches!(
        letter,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..
    );
    letter == ' ' || !(letter.is_control() || letter.is_whitespace() || is_format)
}

/// A text in quotes.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            letter if is_printable(letter) => out.push(letter),
            letter => {
                let code = u32::from(letter);
                out.push_str(&match code {
                    0..0x80 => format!("\\x{code:02x}"),
                    0x80..0x1_0000 => format!("\\u{code:04x}"),
                    _ => format!("\\U{code:08x}"),
                });
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_printed_is_escaped_as_go_does() {
        for (text, want) in [
            ("a b", r#""a b""#),
            ("ü", r#""ü""#),
            ("\u{7}\n\"\\", r#""\a\n\"\\""#),
            ("\u{1}\u{7f}", r#""\x01\x7f""#),
            ("\u{a0}\u{200b}", r#""\u00a0\u200b""#),
        ] {
            assert_eq!(quoted(text), want);
        }
    }
}
