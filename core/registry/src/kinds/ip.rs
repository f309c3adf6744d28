//! The texts of addresses and of ranges of addresses.
//!
//! Upstream: `apimachinery/pkg/util/validation/ip.go`, `pkg/apis/core/validation/validation.go`.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// An address, also one with zeros in front of its numbers, as older servers took it.
pub(crate) fn sloppy(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    let parts: Vec<&str> = text.split('.').collect();
    let number = |part: &&str| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u8>().ok().filter(|_| is_number)
    };
    let numbers: Vec<u8> = parts.iter().filter_map(number).collect();
    let octets: [u8; 4] = numbers.try_into().ok()?;
    (parts.len() == 4).then(|| Ipv4Addr::from(octets).into())
}

/// What is wrong with the text of an address, if anything.
pub(crate) fn mistake(text: &str) -> Option<&'static str> {
    match text.parse() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            Some("must not be an IPv4-mapped IPv6 address")
        }
        Ok(_) => None,
        Err(_) if sloppy(text).is_some() => Some("must not have leading 0s"),
        Err(_) => Some(NO_ADDRESS),
    }
}

/// What is wrong with the text of an address that must be written as everybody writes it.
pub(crate) fn canonical_mistake(text: &str) -> Option<String> {
    if let Some(mistake) = mistake(text) {
        return Some(mistake.to_owned());
    }
    let address: IpAddr = text.parse().ok()?;
    let canonical = address.to_string();
    (canonical != text).then(|| format!("must be in canonical form ({canonical:?})"))
}

/// Why pods cannot stand behind an address, if they cannot.
pub(crate) fn special_mistakes(text: &str) -> Vec<String> {
    let Some(address) = sloppy(text) else {
        return vec!["must be a valid IP address".to_owned()];
    };
    let (unicast, multicast) = match address {
        IpAddr::V4(address) => (
            address.is_link_local(),
            address.octets().starts_with(&[224, 0, 0]),
        ),
        IpAddr::V6(address) => (
            address.is_unicast_link_local(),
            address.segments()[0] & 0xff0f == 0xff02,
        ),
    };
    let mut mistakes = Vec::new();
    let mut say = |wrong: bool, why: String| {
        if wrong {
            mistakes.push(why);
        }
    };
    say(
        address.is_unspecified(),
        format!("may not be unspecified ({text})"),
    );
    say(
        address.is_loopback(),
        "may not be in the loopback range (127.0.0.0/8, ::1/128)".to_owned(),
    );
    say(
        unicast,
        "may not be in the link-local range (169.254.0.0/16, fe80::/10)".to_owned(),
    );
    say(
        multicast,
        "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)".to_owned(),
    );
    mistakes
}

/// The two parts of a range, its length within bounds.
fn range_parts(text: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = text.split_once('/')?;
    let address = sloppy(address)?;
    let bits: u32 = bits.parse().ok().filter(|_| !bits.starts_with('+'))?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((address, bits))
}

/// What is wrong with the text of a range, if anything.
pub(crate) fn range_mistake(text: &str) -> Option<&'static str> {
    let Some((address, bits)) = range_parts(text) else {
        return Some(NO_RANGE);
    };
    let (written, length) = text.split_once('/').unwrap_or_default();
    if written.parse::<IpAddr>().is_err() || (length.len() > 1 && length.starts_with('0')) {
        return Some("must not have leading 0s in IP or prefix length");
    }
    if matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some()) {
        return Some("must not have an IPv4-mapped IPv6 address");
    }
    (masked(address, bits) != address).then_some("must not have bits set beyond the prefix length")
}

/// What is wrong with the text of a range that must be written as everybody writes it.
pub(crate) fn canonical_range_mistake(text: &str) -> Option<String> {
    if let Some(mistake) = range_mistake(text) {
        return Some(mistake.to_owned());
    }
    let (address, bits) = range_parts(text)?;
    let canonical = format!("{address}/{bits}");
    (canonical != text).then(|| format!("must be in canonical form ({canonical:?})"))
}

/// The family of a range; none if it is not a range.
pub(crate) fn range_family(text: &str) -> Option<&'static str> {
    let (address, _) = range_parts(text)?;
    Some(if address.is_ipv4() { "IPv4" } else { "IPv6" })
}

/// Whether a range is a part of another, and not all of it.
pub(crate) fn is_strictly_within(inner: &str, outer: &str) -> bool {
    let Some(((first, length), (other, bits))) = range_parts(inner).zip(range_parts(outer)) else {
        return false;
    };
    first.is_ipv4() == other.is_ipv4()
        && bits < length
        && masked(first, bits) == masked(other, bits)
}

/// The first address of the range that an address is in.
fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            Ipv4Addr::from(u32::from(address) & mask).into()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            Ipv6Addr::from(u128::from(address) & mask).into()
        }
    }
}

/// What to tell whoever writes an address in an unusual way.
pub(crate) fn warning(field: &str, text: &str) -> Option<String> {
    let address = sloppy(text)?;
    match text.parse() {
        Ok(IpAddr::V6(mapped)) if mapped.to_ipv4_mapped().is_some() => {
            let plain = mapped.to_ipv4_mapped()?;
            Some(unusual(field, "IP address", text, &plain.to_string()))
        }
        Err(_) => Some(unusual(field, "IP address", text, &address.to_string())),
        Ok(IpAddr::V6(written)) if written.to_string() != text => Some(format!(
            "{field}: IPv6 address {text:?} should be in RFC 5952 canonical format ({:?})",
            written.to_string()
        )),
        Ok(_) => None,
    }
}

/// What to tell whoever writes a range in an unusual way.
pub(crate) fn range_warning(field: &str, text: &str) -> Option<String> {
    let (address, bits) = range_parts(text)?;
    let network = masked(address, bits);
    let most = if address.is_ipv4() { 32 } else { 128 };
    if network != address {
        return Some(format!(
            "{field}: CIDR value {text:?} is ambiguous in this context (should be \"{network}/{bits}\" or \
             \"{address}/{most}\"?)"
        ));
    }
    let canonical = format!("{network}/{bits}");
    match range_mistake(text) {
        Some(_) => Some(unusual(field, "CIDR value", text, &canonical)),
        None if address.is_ipv6() && canonical != text => Some(format!(
            "{field}: IPv6 CIDR value {text:?} should be in RFC 5952 canonical format ({canonical:?})"
        )),
        None => None,
    }
}

fn unusual(field: &str, what: &str, text: &str, better: &str) -> String {
    format!("{field}: non-standard {what} {text:?} is invalid: use {better:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain() {
        for (text, expected) in [
            ("10.9.8.7", None),
            ("2001:db8::1", None),
            ("10.09.8.7", Some("must not have leading 0s")),
            (
                "::ffff:1.2.3.4",
                Some("must not be an IPv4-mapped IPv6 address"),
            ),
            ("1.2.3", Some(NO_ADDRESS)),
            ("1.2.3.", Some(NO_ADDRESS)),
            ("1.2.3.256", Some(NO_ADDRESS)),
            ("", Some(NO_ADDRESS)),
        ] {
            assert_eq!(mistake(text), expected, "{text}");
        }
        let told = canonical_mistake("2001:DB8::1");
        assert_eq!(
            told.as_deref(),
            Some("must be in canonical form (\"2001:db8::1\")")
        );
    }

    #[test]
    fn ranges_are_plain_and_have_nothing_behind_their_length() {
        for (text, expected) in [
            ("10.0.0.0/8", None),
            ("fd00::/64", None),
            ("0.0.0.0/0", None),
            (
                "10.0.0.1/8",
                Some("must not have bits set beyond the prefix length"),
            ),
            (
                "010.0.0.0/8",
                Some("must not have leading 0s in IP or prefix length"),
            ),
            (
                "10.0.0.0/08",
                Some("must not have leading 0s in IP or prefix length"),
            ),
            ("10.0.0.0/33", Some(NO_RANGE)),
            ("10.0.0.0", Some(NO_RANGE)),
            ("x", Some(NO_RANGE)),
        ] {
            assert_eq!(range_mistake(text), expected, "{text}");
        }
    }

    #[test]
    fn some_addresses_lead_to_no_pod() {
        for (text, count) in [
            ("1.2.3.4", 0),
            ("127.0.0.1", 1),
            ("::1", 1),
            ("0.0.0.0", 1),
            ("169.254.1.1", 1),
            ("fe80::1", 1),
            ("224.0.0.9", 1),
            ("224.0.1.9", 0),
            ("ff02::1", 1),
            ("nope", 1),
        ] {
            assert_eq!(special_mistakes(text).len(), count, "{text}");
        }
    }

    #[test]
    fn unusual_texts_are_told() {
        assert_eq!(warning("x", "1.2.3.4"), None);
        let told = warning("x", "01.2.3.4").unwrap();
        assert!(told.ends_with("use \"1.2.3.4\""), "{told}");
        let told = warning("x", "2001:DB8::1").unwrap();
        assert!(told.contains("RFC 5952"), "{told}");
        let told = range_warning("x", "10.0.0.1/8").unwrap();
        assert!(
            told.ends_with("(should be \"10.0.0.0/8\" or \"10.0.0.1/32\"?)"),
            "{told}"
        );
    }
}
