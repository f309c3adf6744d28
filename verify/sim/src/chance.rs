//! Chance: one number decides everything, through a generator of its own for each purpose.
//!
//! A purpose that draws once more, or a new purpose, leaves what all others draw as it was, so that
//! a seed that found something goes on finding it.

use fastrand::Rng;

/// The number that decides everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// The generator of one purpose.
    pub(crate) fn child(self, purpose: &str) -> Rng {
        let mut sum = Sum::default();
        sum.add(&self.0.to_le_bytes());
        sum.add(purpose.as_bytes());
        // Neighbouring seeds must not begin alike.
        Rng::with_seed(mixed(sum.value()))
    }
}

/// A running sum in the manner of FNV-1a: the same on every machine and in every build.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(u64);

impl Default for Sum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Sum {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        // Eight at a time: what is summed up is long.
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
            self.0 ^= self.0 >> 29;
        }
        for byte in rest {
            self.mix(u64::from(*byte));
        }
    }

    fn mix(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}

/// Spreads every bit over all others (the finalizer of splitmix64).
fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_and_seeds_draw_apart_and_the_same_ones_alike() {
        let draw = |seed, purpose| Seed(seed).child(purpose).u64(..);
        assert_eq!(draw(1, "faults"), draw(1, "faults"));
        assert_ne!(draw(1, "faults"), draw(1, "edits"));
        assert_ne!(draw(1, "faults"), draw(2, "faults"));
    }

    #[test]
    fn the_numbers_are_the_same_on_every_machine() {
        assert_eq!(Seed(7).child("faults").u64(..), 5_548_700_193_725_474_266);
    }
}
