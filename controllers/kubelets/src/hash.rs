//! Numbers that look random but follow from names: the same after every restart.

/// A well-mixed number that follows from a text: FNV-1a of 64 bits, then the finalizer of
/// SplitMix64, because FNV alone leaves its low bits too regular to be taken modulo anything.
pub(crate) fn of(text: &str) -> u64 {
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// An id of 32 hexadecimal digits that follows from a text.
pub(crate) fn id(text: &str) -> String {
    let first = of(text);
    format!(
        "{first:016x}{:016x}",
        first.rotate_left(32) ^ of(&format!("{text}/"))
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_that_differ_a_little_are_far_apart() {
        let low_bytes: HashSet<u64> = (0..256).map(|i| of(&format!("node-{i}")) % 256).collect();
        // Of 256 throws into 256 boxes about 162 boxes are hit.
        assert!(low_bytes.len() > 140, "{}", low_bytes.len());
    }

    #[test]
    fn an_id_is_the_same_every_time() {
        assert_eq!(id("node-0"), id("node-0"));
        assert_ne!(id("node-0"), id("node-1"));
        assert_eq!(id("node-0").len(), 32);
    }
}
