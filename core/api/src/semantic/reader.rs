//! Reading one level of a JSON text at a time, without copying it.
//!
//! Templates that are compared are nearly always the same in all but one place, so nothing is
//! decoded before it is known to differ: an object is a list of names and of texts yet unread.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::TemplateUnreadable;
use super::schema::Kind;
use crate::quantity::Quantity;
use crate::time::Timestamp;

/// A JSON value whose inside has not been read yet.
pub(crate) enum Node<'a> {
    Scalar(Scalar<'a>),
    List(Vec<&'a RawValue>),
    Object(Members<'a>),
}

/// The members of an object, sorted by name; of two equal names the last counts.
///
/// The texts of values are valid JSON, without blanks around.
pub(crate) type Members<'a> = Vec<(Cow<'a, str>, &'a str)>;

/// A plain value in its normal form: equal meaning, equal form.
#[derive(Debug, PartialEq)]
pub(crate) enum Scalar<'a> {
    Null,
    Bool(bool),
    /// Digits with a sign and perhaps an exponent, spelled in the one canonical way.
    Number(Cow<'a, str>),
    Text(Cow<'a, str>),
    Quantity(Quantity),
    Instant(Timestamp),
}

impl Scalar<'_> {
    /// Whether this is the zero of its type, which is what Go has where nothing was said.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Scalar::Null => true,
            Scalar::Bool(yes) => !yes,
            Scalar::Number(digits) => digits == "0",
            Scalar::Text(text) => text.is_empty(),
            Scalar::Quantity(quantity) => quantity.is_zero(),
            Scalar::Instant(at) => *at == Timestamp::GO_ZERO,
        }
    }
}

/// The text of a whole document, fit for [`read`].
pub(crate) fn document(text: &str) -> Result<&str, TemplateUnreadable> {
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    if trimmed.starts_with(['{', '[']) {
        // Reading it will check it; a check now would take a second pass over it.
        return Ok(trimmed);
    }
    Ok(serde_json::from_str::<&RawValue>(trimmed)?.get())
}

/// Reads one level of a value that is an object or a list or was checked before.
pub(crate) fn read<'a>(text: &'a str, kind: Kind<'_>) -> Result<Node<'a>, TemplateUnreadable> {
    let scalar = match text.as_bytes().first() {
        Some(b'{') => return Ok(Node::Object(read_members(text)?)),
        Some(b'[') => return Ok(Node::List(serde_json::from_str(text)?)),
        Some(b'"') => read_text(text, kind)?,
        Some(b'n') => Scalar::Null,
        Some(b't') => Scalar::Bool(true),
        Some(b'f') => Scalar::Bool(false),
        _ => read_number(text, kind),
    };
    Ok(Node::Scalar(scalar))
}

fn read_text<'a>(text: &'a str, kind: Kind<'_>) -> Result<Scalar<'a>, TemplateUnreadable> {
    let plain = match text.contains('\\') {
        true => Cow::Owned(serde_json::from_str::<String>(text)?),
        false => Cow::Borrowed(&text[1..text.len() - 1]),
    };
    // What is no quantity or time, though it should be, is compared as the text it is.
    Ok(match kind {
        Kind::Quantity => plain
            .trim()
            .parse()
            .map_or(Scalar::Text(plain), Scalar::Quantity),
        Kind::Time => plain.parse().map_or(Scalar::Text(plain), Scalar::Instant),
        _ => Scalar::Text(plain),
    })
}

fn read_number<'a>(text: &'a str, kind: Kind<'_>) -> Scalar<'a> {
    let quantity = matches!(kind, Kind::Quantity)
        .then(|| text.parse().ok())
        .flatten();
    quantity.map_or_else(|| Scalar::Number(canonical_number(text)), Scalar::Quantity)
}

/// The value of the first member, if it has this name, and the text after it.
///
/// Only the usual spelling is understood, without blanks or escapes.
pub(crate) fn first_member<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let after_name = text
        .strip_prefix("{\"")?
        .strip_prefix(name)?
        .strip_prefix("\":")?;
    let mut values = serde_json::Deserializer::from_str(after_name).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value.get(), &after_name[values.byte_offset()..]))
}

/// The longest whole number that is spelled out; longer ones are written with an exponent.
const PLAIN_DIGITS_MAX: usize = 20;

/// One spelling for each number, of any size and precision.
fn canonical_number(text: &str) -> Cow<'_, str> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let is_plain =
        unsigned.len() <= PLAIN_DIGITS_MAX && unsigned.bytes().all(|b| b.is_ascii_digit());
    if is_plain && unsigned != "0" {
        return Cow::Borrowed(text);
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Cow::Borrowed("0");
    }
    let Ok(exponent) = exponent.parse::<i64>() else {
        return Cow::Borrowed(text);
    };
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    let exponent = exponent.saturating_sub_unsigned(fraction.len() as u64);
    let exponent = exponent.saturating_add_unsigned(zeros as u64);
    match usize::try_from(exponent) {
        Ok(zeros) if zeros.saturating_add(significant.len()) <= PLAIN_DIGITS_MAX => {
            Cow::Owned(format!("{sign}{significant}{:0<zeros$}", ""))
        }
        _ => Cow::Owned(format!("{sign}{significant}e{exponent}")),
    }
}

fn read_members(text: &str) -> Result<Members<'_>, TemplateUnreadable> {
    let Pairs(mut members) = serde_json::from_str(text)?;
    // The later of two equal names comes first after the reversal, and stays so: the sort is stable.
    members.reverse();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.dedup_by(|next, kept| next.0 == kept.0);
    Ok(members)
}

struct Pairs<'a>(Members<'a>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<'de>, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut members = Vec::with_capacity(16);
                while let Some(Name(name)) = map.next_key()? {
                    members.push((name, map.next_value::<&RawValue>()?.get()));
                }
                Ok(Pairs(members))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}

/// A name that is borrowed from the text unless it has escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name<'de>, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_one_spelling() {
        for group in [
            &["0", "-0", "0.0", "0e5", "0.000e-7"][..],
            &["1", "1.0", "1e0", "10e-1", "0.1E+1"],
            &["-1000", "-1e3", "-1000.00"],
            &["15e-1", "1.5", "1.50"],
            &["12345678901234567890"],
            &["12345678901234567891"],
            &["123456789012345678901", "123456789012345678901.0"],
            &["100000000000000000000000000", "1e26", "10E25"],
            &["1e99999999999999999999"],
        ] {
            for text in group {
                assert_eq!(canonical_number(text), canonical_number(group[0]), "{text}");
            }
        }
        assert_ne!(
            canonical_number("12345678901234567890"),
            canonical_number("12345678901234567891")
        );
        assert_ne!(canonical_number("1"), canonical_number("-1"));
    }

    #[test]
    fn the_last_of_two_equal_names_counts() {
        let members = read_members(r#"{"b":1,"a":2,"b":3,"\u0062":4}"#).unwrap();
        let members: Vec<_> = members.iter().map(|(name, raw)| (&**name, *raw)).collect();
        assert_eq!(members, [("a", "2"), ("b", "4")]);
    }
}
