//! In which style a text is written: plainly if a reader would take it for the same text.
//!
//! Upstream: `yaml_emitter_analyze_scalar` and `yaml_emitter_select_scalar_style` in
//! `sigs.k8s.io/yaml/goyaml.v2/emitterc.go`, `stringv` in `encode.go`.

use crate::scalar::{Meaning, is_sexagesimal, meaning};

/// How a text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Single,
    Double,
    Literal,
}

/// The key that merges another map into this one, unless it is quoted.
const MERGE: &str = "<<";

/// The style of a text; a key must be on one line.
pub(crate) fn style(text: &str, is_key: bool) -> Style {
    let found = Findings::of(text);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if meaning(text) == Meaning::Text && !is_sexagesimal(text) && text != MERGE {
        Style::Plain
    } else {
        Style::Double
    };
    match wanted {
        Style::Plain if found.plain_allowed => Style::Plain,
        Style::Plain if found.single_allowed => Style::Single,
        Style::Literal if found.block_allowed && !is_key => Style::Literal,
        _ => Style::Double,
    }
}

/// Whether a character can be shown as it is.
pub(crate) fn is_printable(character: char) -> bool {
    matches!(character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
        && character != '\u{feff}'
}

pub(crate) fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank_or_end(character: Option<char>) -> bool {
    character.is_none_or(|one| matches!(one, ' ' | '\t') || is_break(one))
}

/// What stands in the way of a style.
struct Findings {
    plain_allowed: bool,
    single_allowed: bool,
    block_allowed: bool,
}

impl Findings {
    fn of(text: &str) -> Self {
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut breaks, mut special) = (false, false);
        let (mut break_space, mut space_break) = (false, false);
        let (mut after_space, mut after_break) = (false, false);
        let mut after_blank = true;
        let mut characters = text.chars().enumerate().peekable();
        while let Some((at, one)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            indicators |= match one {
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"'
                | '%' | '@' | '`'
                    if at == 0 =>
                {
                    true
                }
                '?' | '-' if at == 0 => is_blank_or_end(next),
                ':' => is_blank_or_end(next),
                '#' => after_blank,
                _ => false,
            };
            special |= !is_printable(one) && !is_break(one);
            breaks |= is_break(one);
            if one == ' ' {
                break_space |= after_break;
                (after_space, after_break) = (true, false);
            } else if is_break(one) {
                space_break |= after_space;
                (after_space, after_break) = (false, true);
            } else {
                (after_space, after_break) = (false, false);
            }
            after_blank = is_blank_or_end(Some(one));
        }
        let is_edge = |one: char| one == ' ' || is_break(one);
        let at_edges = text.starts_with(is_edge) || text.ends_with(is_edge);
        let hopeless = space_break || special;
        Self {
            plain_allowed: !(indicators || at_edges || breaks || break_space || hopeless),
            single_allowed: !(break_space || hopeless),
            block_allowed: !(text.ends_with(' ') || hopeless),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_plainly_as_it_can_be() {
        for (text, want) in [
            ("web", Style::Plain),
            ("a: b", Style::Single),
            ("a:b", Style::Plain),
            ("a #b", Style::Single),
            ("a#b", Style::Plain),
            ("[a]", Style::Single),
            ("a[b]", Style::Plain),
            ("- a", Style::Single),
            ("-a", Style::Plain),
            ("-", Style::Single),
            (" a", Style::Single),
            ("a ", Style::Single),
            ("it's", Style::Plain),
            ("'a", Style::Single),
            ("\"a", Style::Single),
            ("1", Style::Double),
            ("true", Style::Double),
            ("no", Style::Double),
            ("", Style::Double),
            ("~", Style::Double),
            ("<<", Style::Double),
            ("2026-01-02T03:04:05Z", Style::Double),
            ("1:30", Style::Double),
            ("a\tb", Style::Double),
            ("a\nb", Style::Literal),
            ("a \nb", Style::Double),
            ("a\n b", Style::Literal),
            ("a\nb ", Style::Double),
            ("\u{1F600}", Style::Double),
            ("ä", Style::Plain),
        ] {
            assert_eq!(style(text, false), want, "{text:?}");
        }
        assert_eq!(style("a\nb", true), Style::Double);
    }
}
