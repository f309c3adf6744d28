//! Field selectors: `spec.nodeName=a,status.phase!=Failed`.

use std::fmt;

/// Conditions on fields of an object, by the names the API gives them.
///
/// A field that is not there counts as empty. All conditions must hold; none matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct FieldSelector {
    terms: Box<[Term]>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Term {
    field: Box<str>,
    equal: bool,
    value: Box<str>,
}

/// A field selector that cannot be read, naming the part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldSelectorInvalid {
    /// A part without `=`, `==` or `!=`.
    #[error("invalid selector: '{text}'; can't understand '{part}'")]
    NoOperator {
        /// The whole selector.
        text: String,
        /// The part.
        part: String,
    },
    /// A backslash before anything but `\`, `,` or `=`.
    #[error("invalid field selector: invalid escape sequence: {sequence}")]
    BadEscape {
        /// The backslash and what comes after it.
        sequence: String,
    },
    /// A bare `=` in a value.
    #[error("invalid field selector: unescaped character in value: {}", u32::from(*.found))]
    BareEquals {
        /// The character.
        found: char,
    },
}

impl FieldSelector {
    /// Matches every object.
    pub fn everything() -> FieldSelector {
        FieldSelector::default()
    }

    /// This field must have this value.
    pub fn equal(field: &str, value: &str) -> FieldSelector {
        let term = Term {
            field: field.into(),
            equal: true,
            value: value.into(),
        };
        FieldSelector {
            terms: Box::new([term]),
        }
    }

    /// Reads the string form; an empty string matches everything.
    pub fn parse(text: &str) -> Result<FieldSelector, FieldSelectorInvalid> {
        let mut parts: Vec<&str> = split_terms(text).filter(|part| !part.is_empty()).collect();
        parts.sort_unstable();
        let mut terms = Vec::with_capacity(parts.len());
        for part in parts {
            let term = parse_term(text, part)?;
            // Upstream skips a condition that names neither field nor value.
            if !(term.field.is_empty() && term.value.is_empty()) {
                terms.push(term);
            }
        }
        Ok(FieldSelector {
            terms: terms.into(),
        })
    }

    /// Whether all conditions hold for the fields as this function gives them.
    pub fn matches_with<'a>(&self, value_of: impl Fn(&str) -> Option<&'a str>) -> bool {
        let value_of = |term: &Term| value_of(&term.field).unwrap_or_default();
        self.terms
            .iter()
            .all(|term| (value_of(term) == &*term.value) == term.equal)
    }

    /// The fields that conditions name.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| &*term.field)
    }

    /// Whether this asks for nothing.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The only value this field may have, if the selector says so.
    pub fn required_value(&self, field: &str) -> Option<&str> {
        let mut terms = self.terms.iter();
        terms
            .find(|term| term.equal && &*term.field == field)
            .map(|term| &*term.value)
    }
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, term) in self.terms.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let operator = if term.equal { "=" } else { "!=" };
            write!(f, "{comma}{}{operator}", term.field)?;
            for piece in term.value.split_inclusive(['\\', ',', '=']) {
                match piece.strip_suffix(['\\', ',', '=']) {
                    Some(plain) => write!(f, "{plain}\\{}", &piece[plain.len()..])?,
                    None => f.write_str(piece)?,
                }
            }
        }
        Ok(())
    }
}

/// Splits at commas that no backslash precedes.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    text.split(move |c| {
        let separates = c == ',' && !escaped;
        escaped = c == '\\' && !escaped;
        separates
    })
}

fn parse_term(text: &str, part: &str) -> Result<Term, FieldSelectorInvalid> {
    let no_operator = || FieldSelectorInvalid::NoOperator {
        text: text.into(),
        part: part.into(),
    };
    // A `!` counts only right before `=`; the first operator splits.
    let at = part.find('=').ok_or_else(no_operator)?;
    let (field, equal) = match part[..at].strip_suffix('!') {
        Some(field) => (field, false),
        None => (&part[..at], true),
    };
    let mut value = &part[at + 1..];
    if equal && let Some(after_second) = value.strip_prefix('=') {
        value = after_second;
    }
    Ok(Term {
        field: field.into(),
        equal,
        value: unescape(value)?.into(),
    })
}

fn unescape(value: &str) -> Result<String, FieldSelectorInvalid> {
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let sequence = format!("\\{}", other.map(String::from).unwrap_or_default());
                    return Err(FieldSelectorInvalid::BadEscape { sequence });
                }
            },
            '=' => return Err(FieldSelectorInvalid::BareEquals { found: '=' }),
            other => plain.push(other),
        }
    }
    Ok(plain)
}
