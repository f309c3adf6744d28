//! Whether two texts say the same when moments, ages and identities in them are set aside.

use jiff::Timestamp;
use serde_json::Value;

use super::is_given_out;
use crate::parity::generate::WORDS;
use crate::parity::links::Links;

/// How far apart two servers may stamp the same request.
const SECONDS_MAX: i64 = 60;

/// Whether two texts mean the same.
pub(super) fn same_text(links: &Links, theirs: &str, ours: &str) -> bool {
    if theirs == ours || links.text(theirs) == ours {
        return true;
    }
    // Who is in conflict is told in the order of a Go map, which is another each time.
    if theirs.starts_with("Apply failed with") && ours.starts_with("Apply failed with") {
        let sorted = |text: &str| {
            let mut parts: Vec<String> = text
                .split("conflicts with ")
                .map(|part| part.trim().to_owned())
                .collect();
            parts.sort();
            parts
        };
        if sorted(&links.text(theirs)) == sorted(ours) {
            return true;
        }
    }
    // So are the mistakes in a configuration.
    let mistakes = |text: &str| {
        let (before, after) = text.split_once(": errors:\n")?;
        let mut all: Vec<String> = after.lines().map(str::to_owned).collect();
        all.sort();
        Some((before.to_owned(), all))
    };
    if theirs.starts_with("failed to create typed")
        && mistakes(&links.text(theirs)) == mistakes(ours)
    {
        return mistakes(ours).is_some();
    }
    if let Some(same) = same_moment(theirs, ours) {
        return same;
    }
    if is_age(theirs) && is_age(ours) {
        return true;
    }
    if let (Some(theirs), Some(ours)) = (with_document(theirs), with_document(ours)) {
        return same_document(links, &theirs, &ours);
    }
    let theirs = links.text(theirs);
    same_words(links, &theirs, ours)
}

/// A message with a JSON object in quotes: what stands around it, and the object.
fn with_document(text: &str) -> Option<(String, Value)> {
    let start = text.find("\"{\\\"")?;
    let (before, rest) = text.split_at(start);
    // The text is a Go string, which is read like one of JSON as far as objects go.
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let inner = values.next()?.ok()?;
    let after = rest.get(values.byte_offset()..)?;
    let document = serde_json::from_str(&inner).ok()?;
    Some((format!("{before}{after}"), document))
}

/// Compares messages with objects in them, whose members may be in any order.
fn same_document(links: &Links, theirs: &(String, Value), ours: &(String, Value)) -> bool {
    let same_around = same_text(links, &theirs.0, &ours.0);
    let (theirs, ours) = (theirs.1.to_string(), ours.1.to_string());
    same_around && same_words(links, &links.text(&theirs), &ours)
}

/// Whether two moments are about the same and written alike; `None` if they are no moments.
fn same_moment(theirs: &str, ours: &str) -> Option<bool> {
    let left: Timestamp = theirs.parse().ok()?;
    let right: Timestamp = ours.parse().ok()?;
    let apart = (left.as_second() - right.as_second()).abs();
    Some(theirs.len() == ours.len() && apart <= SECONDS_MAX)
}

/// Whether a text is an age as tables show it: `5s`, `2m3s`.
fn is_age(text: &str) -> bool {
    let mut digits = 0;
    let mut units = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => digits += 1,
            b's' | b'm' | b'h' | b'd' | b'y' if digits > 0 => {
                units += 1;
                digits = 0;
            }
            _ => return false,
        }
    }
    units > 0 && digits == 0
}

/// Compares word by word; words that are moments or versions may differ.
fn same_words(links: &Links, theirs: &str, ours: &str) -> bool {
    let about_versions = theirs.contains("esource version") || theirs.contains("esourceVersion");
    let split = |text: &str| {
        let words = text.split([' ', '"', ',', '/', '(', ')', '{', '}', '\\', '=']);
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let (left, right) = (split(theirs), split(ours));
    left.len() == right.len()
        && left.iter().zip(&right).all(|(left, right)| {
            // In the words of Go, a map is `map[resourceVersion:7]`.
            let before_number = |text: &str| {
                let version = text.rsplit_once("resourceVersion:");
                let (before, number) = version.unwrap_or(("", text));
                let number = number.trim_end_matches(['.', ':', ']']);
                number.parse::<u64>().ok().map(|_| before.to_owned())
            };
            left == right
                || links.version(left) == *right
                || same_moment(left, right) == Some(true)
                || is_generated(left, right)
                || (is_node_port(left) && is_node_port(right))
                || (is_given_out(left) && is_given_out(right))
                || (is_uid(left) && is_uid(right) && !links.knows(left))
                || (is_digest(left) && is_digest(right))
                || (about_versions
                    && before_number(left).is_some()
                    && before_number(left) == before_number(right))
        })
}

/// Whether a word is the digest of a certificate, of which each server has given out one.
fn is_digest(word: &str) -> bool {
    word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a word is a port that the servers draw.
fn is_node_port(word: &str) -> bool {
    // In JSON it stands behind a colon.
    let number = word.trim_matches([']', ':']).parse::<u16>();
    number.is_ok_and(|port| (30_000..=32_767).contains(&port))
}

/// Whether a text is an identity.
pub(super) fn is_uid(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12]
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// Whether two names are the same but for an end that was drawn. Prefixes of generated names begin with `gen`.
pub(super) fn is_generated(theirs: &str, ours: &str) -> bool {
    if theirs == ours || theirs.len() != ours.len() {
        return false;
    }
    let drawn = |text: &str| {
        text.bytes()
            .all(|byte| b"bcdfghjklmnpqrstvwxz2456789".contains(&byte))
    };
    // Names of what belongs to an object have more behind.
    let is_drawn_at = |at: usize| {
        let parts = |text: &str| {
            let prefix = text.get(..at)?.to_owned();
            let end = text.get(at..at + DRAWN_LETTERS)?;
            let rest = text.get(at + DRAWN_LETTERS..)?.to_owned();
            let is_whole = rest.is_empty() || rest.starts_with('-');
            (drawn(end) && is_whole && is_prefix(&prefix)).then_some((prefix, rest))
        };
        parts(theirs).is_some() && parts(theirs) == parts(ours)
    };
    (0..theirs.len()).any(is_drawn_at)
}

/// As many letters as a server draws for a name.
const DRAWN_LETTERS: usize = 5;

/// Whether a generated name may begin so: as names are asked for, or as mistakes make of that.
fn is_prefix(prefix: &str) -> bool {
    let is_repeated = !prefix.is_empty() && prefix.bytes().all(|byte| byte == b'a');
    // Texts are compared in pieces, so that only the end of a word may be left.
    let is_word = !prefix.is_empty() && WORDS.iter().any(|word| word.ends_with(prefix));
    prefix.to_lowercase().starts_with("gen") || is_repeated || is_word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_ages_and_versions_are_set_aside() {
        let links = Links::default();
        for (theirs, ours, same) in [
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z", true),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:09:00Z", false),
            ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000000Z", false),
            ("5s", "12s", true),
            ("5s", "5", false),
            (
                "too old resource version: 5 (90)",
                "too old resource version: 5 (7)",
                true,
            ),
            ("replicas: 5", "replicas: 6", false),
            (
                "map[labels:[] resourceVersion:483]]",
                "map[labels:[] resourceVersion:422]]",
                true,
            ),
            (
                "map[metadata:map[resourceVersion:354]]",
                "map[metadata:map[resourceVersion:305]]",
                true,
            ),
            (
                "map[one:map[resourceVersion:354]]",
                "map[two:map[resourceVersion:305]]",
                false,
            ),
            ("{\"nodePort\":30658}", "{\"nodePort\":30298}", true),
            ("{\"nodePort\":80}", "{\"nodePort\":81}", false),
        ] {
            assert_eq!(same_text(&links, theirs, ours), same, "{theirs} {ours}");
        }
    }
}
