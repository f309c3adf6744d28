//! Formats of strings.

use core::net::{Ipv4Addr, Ipv6Addr};

use flyball_api::Timestamp;

use crate::decode::base64;

/// Whether a string has the format that its schema asks for.
///
/// Formats that are not known here allow any string, as formats that upstream does not know do.
pub(super) fn is_of(format: &str, text: &str) -> bool {
    match format {
        "byte" => base64::illegal_at(text).is_none(),
        "date" => format!("{text}T00:00:00Z").parse::<Timestamp>().is_ok(),
        "date-time" | "datetime" => text.parse::<Timestamp>().is_ok(),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "uuid" => is_uuid(text),
        _ => true,
    }
}

/// Digits in groups of 8, 4, 4, 4 and 12, with all dashes or without any.
fn is_uuid(text: &str) -> bool {
    let dashes: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let is_grouped = dashes.is_empty() || dashes == [8, 13, 18, 23];
    is_grouped && digits == 32 && text.len() == 32 + dashes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_allow_what_they_name() {
        for (format, right, wrong) in [
            ("byte", "YQ==", "Y"),
            ("date", "2020-02-29", "2021-02-29"),
            ("date-time", "2020-01-01T00:00:00Z", "x"),
            ("ipv4", "10.0.0.1", "10.0.0"),
            ("ipv6", "::1", "10.0.0.1"),
            (
                "uuid",
                "01234567-89ab-cdef-0123-456789abcdef",
                "0123456789ab-cdef-0123-456789abcdef",
            ),
        ] {
            assert!(is_of(format, right), "{right}");
            assert!(!is_of(format, wrong), "{wrong}");
        }
        assert!(is_of("whatever", "x"));
    }
}
