//! The addresses that services can have: ranges, and a free one of them.
//!
//! The lower part of a range is left to those who ask for a certain address, for as long as the
//! upper part has room.
//!
//! Upstream: `pkg/registry/core/service/ipallocator/{ipallocator,cidrallocator,bitmap}.go`.

use core::net::Ipv4Addr;

use crate::request::Chance;

/// Never fewer addresses are reserved for those who choose, if the range has more than these.
const RESERVED_MIN: u32 = 16;
const RESERVED_MAX: u32 = 256;
const RESERVED_SHARE: u64 = 16;

/// A range of addresses, without its first and its last, which name the network and everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    network: Ipv4Addr,
    bits: u32,
    /// Whether addresses of it may be given.
    pub(super) is_ready: bool,
}

/// Why an address is not given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AddressRefused {
    Full,
    Taken,
    NoRange,
    NotInRange(Ipv4Addr, String),
}

impl std::fmt::Display for AddressRefused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full => write!(f, "range is full"),
            Self::Taken => write!(f, "provided IP is already allocated"),
            Self::NoRange => write!(f, "the provided network does not match the current range"),
            Self::NotInRange(address, range) => write!(
                f,
                "the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}"
            ),
        }
    }
}

impl Range {
    /// Reads a range such as `10.96.0.0/12`; there is none of another family.
    pub(super) fn parse(text: &str, is_ready: bool) -> Option<Self> {
        let (network, bits) = text.split_once('/')?;
        let network: Ipv4Addr = network.parse().ok()?;
        let bits: u32 = bits.parse().ok().filter(|bits| *bits <= 32)?;
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        Some(Self {
            network: Ipv4Addr::from(u32::from(network) & mask),
            bits,
            is_ready,
        })
    }

    /// The address of the network, which no service has: dry runs tell it.
    pub(super) fn network(&self) -> Ipv4Addr {
        self.network
    }

    /// All addresses, network and broadcast included.
    fn count(&self) -> u64 {
        1 << (32 - self.bits)
    }

    /// How many addresses there are for services.
    fn usable(&self) -> u32 {
        u32::try_from(self.count().saturating_sub(2)).unwrap_or(u32::MAX)
    }

    /// How many of the first addresses are drawn last.
    fn reserved(&self) -> u32 {
        if self.count() <= u64::from(RESERVED_MIN) {
            return 0;
        }
        let share = u32::try_from(self.count() / RESERVED_SHARE).unwrap_or(u32::MAX);
        share.clamp(RESERVED_MIN, RESERVED_MAX).min(self.usable())
    }

    /// The address so many after the first.
    fn nth(&self, index: u32) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.network).wrapping_add(1).wrapping_add(index))
    }

    /// The first address of the range.
    pub(super) fn first(&self) -> Option<Ipv4Addr> {
        (self.usable() > 0).then(|| self.nth(0))
    }

    /// Whether services may have this address.
    pub(super) fn has(&self, address: Ipv4Addr) -> bool {
        let distance = u32::from(address).wrapping_sub(u32::from(self.network));
        distance >= 1 && distance <= self.usable()
    }

    /// A free address: the first behind a random one.
    fn draw(
        &self,
        is_taken: &impl Fn(Ipv4Addr) -> bool,
        chance: &mut Chance<'_>,
    ) -> Option<Ipv4Addr> {
        let (reserved, usable) = (self.reserved(), self.usable());
        for (from, to) in [(reserved, usable), (0, reserved)] {
            let size = to - from;
            if size == 0 {
                continue;
            }
            let start = (chance.0)() % u64::from(size);
            let index = |step: u64| from + ((start + step) % u64::from(size)) as u32;
            let all = (0..u64::from(size)).map(|step| self.nth(index(step)));
            if let Some(free) = all.into_iter().find(|address| !is_taken(*address)) {
                return Some(free);
            }
        }
        None
    }
}

/// A free address of one of these ranges.
pub(super) fn next(
    ranges: &[Range],
    is_taken: impl Fn(Ipv4Addr) -> bool,
    chance: &mut Chance<'_>,
) -> Result<Ipv4Addr, AddressRefused> {
    let mut ready = ranges.iter().filter(|range| range.is_ready);
    ready
        .find_map(|range| range.draw(&is_taken, chance))
        .ok_or(AddressRefused::Full)
}

/// Whether a service may take this address.
pub(super) fn check(
    ranges: &[Range],
    is_taken: impl Fn(Ipv4Addr) -> bool,
    address: Ipv4Addr,
) -> Result<(), AddressRefused> {
    let mut ready = ranges.iter().filter(|range| range.is_ready);
    if !ready.any(|range| range.has(address)) {
        return Err(AddressRefused::NoRange);
    }
    match is_taken(address) {
        true => Err(AddressRefused::Taken),
        false => Ok(()),
    }
}

/// Whether a dry run may take this address: it does not look whether that is free, as upstream's
/// does not.
pub(super) fn check_range(ranges: &[Range], address: Ipv4Addr) -> Result<(), AddressRefused> {
    if ranges.iter().any(|range| range.has(address)) {
        return Ok(());
    }
    let told = ranges
        .first()
        .map(|range| format!("{}/{}", range.network, range.bits));
    Err(match told {
        Some(range) => AddressRefused::NotInRange(address, range),
        None => AddressRefused::NoRange,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_range_has_all_but_its_ends() {
        let range = Range::parse("10.96.0.0/12", true).unwrap();
        assert_eq!(range.first(), Some(Ipv4Addr::new(10, 96, 0, 1)));
        assert_eq!(range.reserved(), 256);
        for (address, inside) in [
            ([10, 96, 0, 0], false),
            ([10, 96, 0, 1], true),
            ([10, 111, 255, 254], true),
            ([10, 111, 255, 255], false),
            ([10, 95, 0, 1], false),
            ([10, 112, 0, 1], false),
        ] {
            assert_eq!(range.has(Ipv4Addr::from(address)), inside, "{address:?}");
        }
        for (text, usable, reserved) in [
            ("10.0.0.0/24", 254, 16),
            ("10.0.0.0/28", 14, 0),
            ("10.0.0.0/27", 30, 16),
            ("10.0.0.0/31", 0, 0),
            ("10.0.0.0/32", 0, 0),
            ("0.0.0.0/0", u32::MAX - 1, 256),
        ] {
            let range = Range::parse(text, true).unwrap();
            let is = (range.usable(), range.reserved());
            assert_eq!(is, (usable, reserved), "{text}");
        }
        for text in ["10.0.0.0", "10.0.0.0/33", "fd00::/64", "x/8", ""] {
            assert_eq!(Range::parse(text, true), None, "{text}");
        }
    }

    #[test]
    fn every_address_is_given_once_and_the_reserved_ones_last() {
        let ranges = [Range::parse("10.0.0.0/26", true).unwrap()];
        let mut taken = BTreeSet::new();
        let mut number = 0;
        let mut draw = || {
            number += 5;
            number
        };
        for drawn in 0..62 {
            let free = next(
                &ranges,
                |address| taken.contains(&address),
                &mut Chance(&mut draw),
            );
            let address = free.unwrap();
            let is_reserved = address.octets()[3] <= 16;
            assert_eq!(is_reserved, drawn >= 62 - 16, "{drawn}: {address}");
            assert!(taken.insert(address));
        }
        let is_taken = |address| taken.contains(&address);
        let free = next(&ranges, is_taken, &mut Chance(&mut draw));
        assert_eq!(free, Err(AddressRefused::Full));
    }

    #[test]
    fn a_certain_address_must_be_in_a_ready_range_and_free() {
        let ranges = [
            Range::parse("10.0.0.0/24", true).unwrap(),
            Range::parse("10.1.0.0/24", false).unwrap(),
        ];
        let is_taken = |address: Ipv4Addr| address.octets()[3] == 7;
        for (address, expected) in [
            ([10, 0, 0, 1], Ok(())),
            ([10, 0, 0, 7], Err(AddressRefused::Taken)),
            ([10, 0, 0, 255], Err(AddressRefused::NoRange)),
            ([10, 1, 0, 1], Err(AddressRefused::NoRange)),
        ] {
            let found = check(&ranges, is_taken, Ipv4Addr::from(address));
            assert_eq!(found, expected, "{address:?}");
        }
    }
}
