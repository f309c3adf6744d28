//! Strings in quotes, as the server's messages have them.

use std::fmt;

/// Shows a string in quotes as Go's `%q` does, because the messages are compared and searched for.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for character in self.0.chars() {
            match character {
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                '\u{7}' => f.write_str("\\a")?,
                '\u{8}' => f.write_str("\\b")?,
                '\u{c}' => f.write_str("\\f")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\u{b}' => f.write_str("\\v")?,
                ' '..='~' => write!(f, "{character}")?,
                '\0'..='\u{7f}' => write!(f, "\\x{:02x}", u32::from(character))?,
                _ if is_printable(character) => write!(f, "{character}")?,
                '\u{80}'..='\u{ffff}' => write!(f, "\\u{:04x}", u32::from(character))?,
                _ => write!(f, "\\U{:08x}", u32::from(character))?,
            }
        }
        f.write_str("\"")
    }
}

/// Letters, marks, numbers, punctuation and symbols: what is neither a control nor a space.
fn is_printable(character: char) -> bool {
    // A mark is shown as it is only after another character.
    format!("a{character}").escape_debug().nth(1) == Some(character)
}

/// Shows a list of strings as Go's `%q` does.
pub(crate) struct QuotedList<'a, T>(pub(crate) &'a [T]);

impl<T: AsRef<str>> fmt::Display for QuotedList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, item) in self.0.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{}", Quoted(item.as_ref()))?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        for (text, expected) in [
            ("", r#""""#),
            ("a b", r#""a b""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("\u{7}\u{8}\u{c}\n\r\t\u{b}", r#""\a\b\f\n\r\t\v""#),
            ("\0\u{1f}\u{7f}", r#""\x00\x1f\x7f""#),
            ("sé日本🦀", r#""sé日本🦀""#),
            ("e\u{301}", "\"e\u{301}\""),
            ("\u{a0}\u{200b}\u{feff}", r#""\u00a0\u200b\ufeff""#),
            ("\u{e0001}", r#""\U000e0001""#),
        ] {
            assert_eq!(Quoted(text).to_string(), expected);
        }
    }

    #[test]
    fn a_list_has_spaces_between_and_brackets_around() {
        assert_eq!(QuotedList::<&str>(&[]).to_string(), "[]");
        assert_eq!(QuotedList(&["a", ""]).to_string(), r#"["a" ""]"#);
    }
}
