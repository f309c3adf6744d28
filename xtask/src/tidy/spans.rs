//! Which lines of a source exist only in tests: the items behind `#[cfg(test)]`.

use std::ops::Range;

use super::syntax::{Token, tokens};

/// Words that can begin an item. What follows an attribute and begins otherwise is a field, a variant or a statement,
/// and ends at the next comma.
const ITEM_WORDS: &[&str] = &[
    "pub",
    "fn",
    "mod",
    "use",
    "struct",
    "enum",
    "union",
    "trait",
    "impl",
    "type",
    "const",
    "static",
    "async",
    "unsafe",
    "extern",
    "macro_rules",
];

/// The parts of `code` that are compiled only for tests, as offsets.
pub(super) fn test_spans(code: &str) -> Vec<Range<usize>> {
    let tokens = tokens(code);
    let mut spans = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let Some(attribute) = attribute_at(&tokens, index) else {
            index += 1;
            continue;
        };
        if !means_test(&tokens[attribute.clone()]) {
            index = attribute.end;
            continue;
        }
        let mut item = attribute.end;
        while let Some(next) = attribute_at(&tokens, item) {
            item = next.end;
        }
        let end = item_end(&tokens, item);
        let last = tokens
            .get(end.saturating_sub(1))
            .map_or(code.len(), |token| token.at + 1);
        spans.push(tokens[index].at..last);
        index = end.max(attribute.end);
    }
    spans
}

/// The tokens of the attribute that begins at `index`, brackets included.
fn attribute_at(tokens: &[Token<'_>], index: usize) -> Option<Range<usize>> {
    if tokens.get(index)?.text != "#" || tokens.get(index + 1)?.text != "[" {
        return None;
    }
    let mut depth = 0_usize;
    for (offset, token) in tokens[index..].iter().enumerate() {
        match token.text {
            "[" => depth += 1,
            "]" if depth == 1 => return Some(index..index + offset + 1),
            "]" => depth -= 1,
            _ => {}
        }
    }
    None
}

fn means_test(attribute: &[Token<'_>]) -> bool {
    let text: String = attribute.iter().map(|token| token.text).collect();
    text == "#[cfg(test)]"
        || text.starts_with("#[cfg(all(test,")
        || text.starts_with("#[cfg(any(test,")
}

/// The index after the last token of the item, field or statement that begins at `start`.
fn item_end(tokens: &[Token<'_>], start: usize) -> usize {
    let begins_item = tokens
        .get(start)
        .is_some_and(|token| ITEM_WORDS.contains(&token.text));
    // A public field begins like a public item, but its name comes before a colon.
    let named = tokens[start.min(tokens.len())..]
        .iter()
        .skip_while(|token| token.text == "pub");
    let is_field = named.map(|token| token.text).nth(1) == Some(":");
    let comma_ends = !begins_item || is_field;
    let mut depth = 0_usize;
    for (offset, token) in tokens.iter().enumerate().skip(start) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => return offset,
            "}" if depth == 1 => return offset + 1,
            ")" | "]" | "}" => depth -= 1,
            ";" if depth == 0 => return offset + 1,
            "," if depth == 0 && comma_ends => return offset + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of `code` when the test spans are taken out, without blanks.
    fn outside(code: &str) -> String {
        let spans = test_spans(code);
        let kept = code
            .char_indices()
            .filter(|(at, _)| !spans.iter().any(|span| span.contains(at)));
        kept.map(|(_, character)| character)
            .filter(|character| !character.is_whitespace())
            .collect()
    }

    #[test]
    fn a_test_module_is_a_test_to_its_closing_brace() {
        assert_eq!(
            outside("a; #[cfg(test)] mod tests { fn b() { c } } d;"),
            "a;d;"
        );
    }

    #[test]
    fn further_attributes_belong_to_the_item() {
        assert_eq!(
            outside("#[cfg(test)] #[derive(A, B)] struct C { d: E, f: G } h;"),
            "h;"
        );
    }

    #[test]
    fn an_import_or_declaration_ends_at_its_semicolon() {
        assert_eq!(outside("#[cfg(test)] mod tests; a;"), "a;");
        assert_eq!(outside("#[cfg(test)] use a::b; c;"), "c;");
    }

    #[test]
    fn generics_and_arrays_do_not_end_an_item() {
        assert_eq!(
            outside("#[cfg(test)] fn a<B, C>(d: [u8; 3]) -> [u8; 3] { e; } f;"),
            "f;"
        );
    }

    #[test]
    fn a_field_ends_at_its_comma() {
        assert_eq!(
            outside("struct A { #[cfg(test)] pub b: C, d: E }"),
            "structA{d:E}"
        );
    }

    #[test]
    fn other_conditions_are_not_tests() {
        let code = "#[cfg(not(test))] mod a { b } #[cfg(unix)] mod c;";
        assert!(test_spans(code).is_empty());
    }

    #[test]
    fn an_attribute_at_the_end_of_the_text_is_survived() {
        assert_eq!(test_spans("#[cfg(test)]").len(), 1);
    }
}
