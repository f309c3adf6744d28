//! Enough of Rust's grammar to look at code without being fooled by comments and strings.
//!
//! [`Text::of`] splits a source into two texts of the same shape, code and comments: what belongs to the other is
//! blank, so that an offset or a line number means the same in all of them. [`tokens`] cuts code into words and signs.

/// A source, split. All three parts have the same length and the same line ends.
#[derive(Debug)]
pub(super) struct Text {
    /// The source as written.
    pub(super) raw: String,
    /// Without comments, and with strings emptied of their content.
    pub(super) code: String,
    /// The comments only.
    pub(super) comments: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Literal,
}

impl Text {
    /// Splits `raw`.
    pub(super) fn of(raw: &str) -> Self {
        let parts = classify(raw.as_bytes());
        let only = |wanted: Part| {
            let bytes = raw.bytes().zip(&parts);
            let kept = bytes.map(|(byte, part)| match byte {
                b'\n' => byte,
                _ if *part == wanted => byte,
                _ => b' ',
            });
            String::from_utf8_lossy(&kept.collect::<Vec<u8>>()).into_owned()
        };
        Self {
            code: only(Part::Code),
            comments: only(Part::Comment),
            raw: raw.to_owned(),
        }
    }
}

/// Says for each byte what it belongs to. The quotes around a string count as code, its content does not.
fn classify(bytes: &[u8]) -> Vec<Part> {
    let mut parts = vec![Part::Code; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let (end, part) = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => (line_end(bytes, at), Part::Comment),
            b'/' if bytes[at..].starts_with(b"/*") => (block_comment_end(bytes, at), Part::Comment),
            b'"' => {
                let end = string_end(bytes, at + 1);
                let closed = end > at + 1 && bytes[end - 1] == b'"';
                parts[at + 1..end - usize::from(closed)].fill(Part::Literal);
                at = end;
                continue;
            }
            b'\'' => (char_end(bytes, at), Part::Literal),
            byte if is_word(byte) => {
                let end = word_end(bytes, at);
                match raw_string_end(bytes, at, end) {
                    Some(end) => (end, Part::Literal),
                    None => (end, Part::Code),
                }
            }
            _ => (at + 1, Part::Code),
        };
        parts[at..end].fill(part);
        at = end;
    }
    parts
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..]
        .iter()
        .take_while(|byte| is_word(**byte))
        .count();
    start + length
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    let length = bytes[start..]
        .iter()
        .take_while(|byte| **byte != b'\n')
        .count();
    start + length
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut depth = 0_usize;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// The offset after the closing quote of a string whose content begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of a raw string, if the word from `start` to `end` is the prefix of one.
fn raw_string_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    if !matches!(&bytes[start..end], b"r" | b"br" | b"cr") {
        return None;
    }
    let hashes = bytes[end..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    if bytes.get(end + hashes) != Some(&b'"') {
        return None;
    }
    let mut closing = vec![b'"'];
    closing.extend(std::iter::repeat_n(b'#', hashes));
    let content = end + hashes + 1;
    let mut windows = bytes[content..].windows(closing.len());
    let length = windows.position(|window| window == closing)?;
    Some(content + length + closing.len())
}

/// The end of a character literal, or of the quote alone where it begins a lifetime.
fn char_end(bytes: &[u8], start: usize) -> usize {
    let Some(first) = bytes.get(start + 1) else {
        return start + 1;
    };
    if *first == b'\\' {
        let after = (start + 3).min(bytes.len());
        let length = bytes[after..]
            .iter()
            .take_while(|byte| **byte != b'\'')
            .count();
        return (after + length + 1).min(bytes.len());
    }
    let width = match first {
        0xF0.. => 4,
        0xE0.. => 3,
        0xC0.. => 2,
        _ => 1,
    };
    if bytes.get(start + 1 + width) == Some(&b'\'') {
        start + 2 + width
    } else {
        start + 1
    }
}

/// A word, `::`, or one sign of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Where it begins.
    pub(super) at: usize,
    /// What it is.
    pub(super) text: &'a str,
}

impl Token<'_> {
    /// Whether it is a name or keyword.
    pub(super) fn is_word(&self) -> bool {
        self.text
            .bytes()
            .next()
            .is_some_and(|byte| is_word(byte) && !byte.is_ascii_digit())
    }
}

/// The tokens of `code`, which holds no comments or string contents.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let bytes = code.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = if is_word(bytes[at]) {
            word_end(bytes, at)
        } else if bytes[at..].starts_with(b"::") {
            at + 2
        } else {
            at + 1
        };
        if !bytes[at].is_ascii_whitespace() {
            tokens.push(Token {
                at,
                text: &code[at..end],
            });
        }
        at = end;
    }
    tokens
}

/// The number of the line that holds the offset `at`, counted from one.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(raw: &str) -> Vec<String> {
        let text = Text::of(raw);
        assert_eq!(text.code.len(), raw.len());
        assert_eq!(text.comments.len(), raw.len());
        let words = tokens(&text.code).into_iter().filter(Token::is_word);
        words.map(|token| token.text.to_owned()).collect()
    }

    #[test]
    fn comments_are_not_code() {
        assert_eq!(words("a // b\nc /* d /* e */ f */ g"), ["a", "c", "g"]);
    }

    #[test]
    fn strings_are_not_code() {
        assert_eq!(words(r#"a("b \" c", d, b"e")"#), ["a", "d", "b"]);
        assert_eq!(words("a(r#\"b \" c\"#, d)"), ["a", "d"]);
        assert_eq!(words("a(\"\", b)"), ["a", "b"]);
    }

    #[test]
    fn a_comment_sign_in_a_string_begins_no_comment() {
        assert_eq!(words("a(\"http://b\", c)"), ["a", "c"]);
    }

    #[test]
    fn characters_are_told_from_lifetimes() {
        assert_eq!(words("f::<'a>('\"', 'b', '\\'', 'é', c)"), ["f", "a", "c"]);
    }

    #[test]
    fn raw_identifiers_stay_code() {
        assert_eq!(words("r#type + x"), ["r", "type", "x"]);
    }

    #[test]
    fn an_unfinished_literal_ends_with_the_text() {
        assert_eq!(words("a \"b"), ["a"]);
        assert_eq!(words("a /* b"), ["a"]);
        assert_eq!(words("a '"), ["a"]);
        assert_eq!(words("a \""), ["a"]);
        assert_eq!(words("a '\\"), ["a"]);
    }

    #[test]
    fn lines_count_from_one() {
        assert_eq!(line_of("a\nb", 0), 1);
        assert_eq!(line_of("a\nb", 2), 2);
    }
}
