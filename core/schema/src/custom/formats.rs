//! Formats of strings.
//!
//! Upstream: kube-openapi's `pkg/validation/strfmt` and apiextensions'
//! `pkg/apiserver/validation/formats.go`.

use core::net::{Ipv4Addr, Ipv6Addr};

use flyball_api::Timestamp;

use crate::decode::base64;

/// The formats of strings that mean something, without their dashes.
const KNOWN: &[&str] = &[
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];

/// Whether a format means something for values of a type, which may be empty.
pub fn is_known(kind: &str, format: &str) -> bool {
    match kind {
        "" | "string" => KNOWN.contains(&format.replace('-', "").as_str()),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// Whether a string has the format that its schema asks for.
///
/// Formats that are not known here allow any string, as formats that upstream does not know do.
pub(super) fn is_of(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|one| one.is_ascii_hexdigit()),
        "byte" => base64::illegal_at(text).is_none(),
        "cidr" => is_cidr(text),
        "creditcard" => is_credit_card(text),
        "date" => format!("{text}T00:00:00Z").parse::<Timestamp>().is_ok(),
        "datetime" => text.parse::<Timestamp>().is_ok(),
        "duration" => is_duration(text),
        "email" => is_email(text),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && digits.bytes().all(|one| one.is_ascii_hexdigit())
        }
        "hostname" => is_hostname(text),
        "ipv4" => is_ipv4(text),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "k8sshortname" => text.len() <= 63 && is_name_part(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_name_part),
        "mac" => is_mac(text),
        "rgbcolor" => is_rgb(text),
        "ssn" => is_ssn(text),
        "uri" => is_uri(text),
        "uuid" => is_uuid(text, None, false),
        "uuid3" => is_uuid(text, Some(b'3'), false),
        "uuid4" => is_uuid(text, Some(b'4'), true),
        "uuid5" => is_uuid(text, Some(b'5'), true),
        _ => true,
    }
}

/// Digits in groups of 8, 4, 4, 4 and 12, each dash there or not.
fn is_uuid(text: &str, version: Option<u8>, has_variant: bool) -> bool {
    let mut digits = Vec::with_capacity(32);
    let mut rest = text;
    for (at, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else {
            return false;
        };
        digits.extend(group.bytes().map(|one| one.to_ascii_lowercase()));
        rest = after;
    }
    rest.is_empty()
        && digits.iter().all(u8::is_ascii_hexdigit)
        && version.is_none_or(|version| digits.get(12) == Some(&version))
        && (!has_variant || matches!(digits.get(16), Some(b'8' | b'9' | b'a' | b'b')))
}

/// Four numbers; upstream still takes zeros before them.
fn is_ipv4(text: &str) -> bool {
    let plain: Vec<String> = text
        .split('.')
        .map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0".to_owned(),
            stripped => stripped.to_owned(),
        })
        .collect();
    plain.join(".").parse::<Ipv4Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let max = match address {
        address if is_ipv4(address) => 32,
        address if address.parse::<Ipv6Addr>().is_ok() => 128,
        _ => return false,
    };
    let is_number = !bits.is_empty() && bits.bytes().all(|one| one.is_ascii_digit());
    is_number && bits.parse::<u32>().is_ok_and(|bits| bits <= max)
}

/// Six, eight or twenty bytes in pairs, or in fours with dots.
fn is_mac(text: &str) -> bool {
    let groups = |mark: char, length: usize| {
        let is_group =
            |group: &str| group.len() == length && group.bytes().all(|one| one.is_ascii_hexdigit());
        let all: Vec<&str> = text.split(mark).collect();
        let bytes = all.len() * length / 2;
        matches!(bytes, 6 | 8 | 20) && all.into_iter().all(is_group)
    };
    groups(':', 2) || groups('-', 2) || groups('.', 4)
}

fn is_hostname(text: &str) -> bool {
    let is_letter = |one: char| one.is_alphanumeric() || !one.is_ascii() && !one.is_whitespace();
    let is_label = |label: &str| {
        let ends = label.starts_with(is_letter) && label.ends_with(is_letter);
        ends && label.len() <= 63 && label.chars().all(|one| is_letter(one) || one == '-')
    };
    let labels: Vec<&str> = text.split('.').collect();
    let last_is_name = match labels.as_slice() {
        [_] => true,
        [.., last] => last.chars().count() >= 2 && last.chars().all(char::is_alphabetic),
        [] => false,
    };
    text.len() <= 255 && last_is_name && labels.into_iter().all(is_label)
}

/// An address, alone or in brackets behind a name.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match (text.find('<'), text.ends_with('>')) {
        (Some(at), true) => &text[at + 1..text.len() - 1],
        (None, false) => text,
        _ => return false,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let is_atom =
        |one: char| one.is_alphanumeric() || !one.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(one);
    let is_dotted = |text: &str| {
        text.split('.')
            .all(|part| !part.is_empty() && part.chars().all(is_atom))
    };
    let is_quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    (is_dotted(local) || is_quoted) && (is_dotted(domain) || is_literal)
}

/// What a request may ask for: a path from the root, or something with a scheme.
fn is_uri(text: &str) -> bool {
    let is_plain = |text: &str| !text.chars().any(|one| one.is_control() || one == ' ');
    if text.is_empty() || !is_plain(text) {
        return false;
    }
    if text.starts_with('/') || text == "*" {
        return has_whole_escapes(text);
    }
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(is_scheme)
        && has_whole_escapes(text)
}

fn has_whole_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let digits = after.get(..2);
        digits.is_some_and(|digits| digits.bytes().all(|one| one.is_ascii_hexdigit()))
    })
}

/// `1h30m` as Go reads it, or `22 ns` with the names that Scala has for units.
fn is_duration(text: &str) -> bool {
    is_go_duration(text) || is_scala_duration(text)
}

fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let number = rest.find(|one: char| !one.is_ascii_digit() && one != '.');
        let (number, after) = rest.split_at(number.unwrap_or(rest.len()));
        let has_digit = number.bytes().any(|one| one.is_ascii_digit());
        if !has_digit || number.matches('.').count() > 1 {
            return false;
        }
        let end = after.find(|one: char| one.is_ascii_digit() || one == '.');
        let (unit, after) = after.split_at(end.unwrap_or(after.len()));
        if !matches!(unit, "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h") {
            return false;
        }
        rest = after;
    }
    true
}

fn is_scala_duration(text: &str) -> bool {
    let text = text.trim();
    let number = text.find(|one: char| !one.is_ascii_digit());
    let (number, unit) = text.split_at(number.unwrap_or(text.len()));
    let units = [
        "ns", "nano", "us", "µs", "micro", "ms", "milli", "s", "sec", "m", "min", "h", "hr",
        "hour", "d", "day", "w", "wk", "week",
    ];
    let unit = unit
        .trim()
        .trim_end_matches("seconds")
        .trim_end_matches("second");
    let unit = unit.to_lowercase();
    let one = unit.strip_suffix('s').unwrap_or(&unit);
    !number.is_empty()
        && (units.contains(&unit.as_str()) || units.contains(&one) || one == "minute")
}

fn is_isbn10(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(|one| !b" -".contains(one)).collect();
    let value = |(at, one): (usize, &u8)| match one {
        b'0'..=b'9' => Some(u32::from(one - b'0')),
        b'X' if at == 9 => Some(10),
        _ => None,
    };
    let values: Option<Vec<u32>> = plain.iter().enumerate().map(value).collect();
    values.is_some_and(|values| {
        let sum: u32 = (1..)
            .zip(&values)
            .map(|(weight, value)| weight * value)
            .sum();
        values.len() == 10 && sum.is_multiple_of(11)
    })
}

fn is_isbn13(text: &str) -> bool {
    let plain: Vec<u8> = text.bytes().filter(|one| !b" -".contains(one)).collect();
    if plain.len() != 13 || !plain.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let weights = [1, 3].into_iter().cycle();
    let sum: u32 = weights
        .zip(&plain)
        .map(|(weight, one)| weight * u32::from(one - b'0'))
        .sum();
    sum.is_multiple_of(10)
}

/// Thirteen to nineteen digits whose last one checks the others.
fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|one| one.to_digit(10)).collect();
    let doubled = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => *digit,
            _ if *digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        });
    (13..=19).contains(&digits.len()) && doubled.sum::<u32>().is_multiple_of(10)
}

fn is_ssn(text: &str) -> bool {
    let mut rest = text;
    for (at, length) in [3, 2, 4].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix(['-', ' ']).unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else {
            return false;
        };
        if !group.bytes().all(|one| one.is_ascii_digit()) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

fn is_rgb(text: &str) -> bool {
    let inner = text
        .strip_prefix("rgb(")
        .and_then(|rest| rest.strip_suffix(')'));
    let parts: Vec<&str> = inner
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u8>().is_ok())
}

/// Small letters, digits and dashes, which are neither first nor last.
fn is_name_part(text: &str) -> bool {
    let is_letter = |one: u8| one.is_ascii_lowercase() || one.is_ascii_digit();
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter()
        .all(|end| end.is_some_and(|one| is_letter(*one)))
        && bytes.iter().all(|one| is_letter(*one) || *one == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_allow_what_they_name() {
        for (format, right, wrong) in [
            ("byte", "YQ==", "Y"),
            ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
            ("cidr", "10.0.0.0/8", "10.0.0.0/33"),
            ("cidr", "fd00::/8", "fd00::"),
            ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
            ("date", "2020-02-29", "2021-02-29"),
            ("date-time", "2020-01-01T00:00:00Z", "x"),
            ("duration", "1h30m", "1x"),
            ("duration", "22 ns", ""),
            ("duration", "3 weeks", "h"),
            ("email", "Ann <ann@example.com>", "ann"),
            ("email", "ann.b+c@example", "a b@c"),
            ("hexcolor", "#ffAA00", "#ff"),
            ("hostname", "web.example.com", "web_1.example.com"),
            ("hostname", "web", "-web"),
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("ipv4", "010.000.0.1", "::1"),
            ("ipv6", "::1", "10.0.0.1"),
            ("isbn", "0321751043", "0321751044"),
            ("isbn13", "978-0321751041", "978-0321751042"),
            ("k8s-short-name", "web-1", "Web"),
            ("k8s-long-name", "web.example", "web..example"),
            ("mac", "01:02:03:04:ab:cd", "01:02:03"),
            ("mac", "0102.0304.abcd", "0102.0304"),
            ("rgbcolor", "rgb(1, 2, 255)", "rgb(1,2,256)"),
            ("ssn", "111-22-3333", "111-22-333"),
            ("uri", "https://example.com/a?b", "example"),
            ("uri", "/a%20b", "/a%2"),
            (
                "uuid",
                "01234567-89ab-cdef-0123-456789abcdef",
                "0123456789ab-cdef-0123-456789abcde",
            ),
            (
                "uuid4",
                "01234567-89ab-4def-8123-456789abcdef",
                "01234567-89ab-cdef-0123-456789abcdef",
            ),
        ] {
            assert!(is_of(format, right), "{format} {right}");
            assert!(!is_of(format, wrong), "{format} {wrong}");
        }
        assert!(is_of("whatever", "x"));
        assert!(is_known("string", "date-time") && is_known("integer", "int32"));
        assert!(!is_known("string", "whatever") && !is_known("integer", "date"));
    }
}
