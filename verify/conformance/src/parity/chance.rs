//! Draws everything that is random from one seed.

/// A source of choices that repeats itself for the same seed.
#[derive(Debug, Clone)]
pub(crate) struct Chance(fastrand::Rng);

impl Chance {
    /// The choices of one episode of a run.
    pub(crate) fn new(seed: u64, episode: u64) -> Self {
        let mixed = seed ^ episode.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(fastrand::Rng::with_seed(mixed))
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.usize(..end) }
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub(crate) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let at = self.below(of.len());
        of.get(at)
    }

    /// One of several words.
    pub(crate) fn word<'a>(&mut self, of: &[&'a str]) -> &'a str {
        self.one(of).copied().unwrap_or_default()
    }

    /// The place of one of several, each as likely as its weight.
    pub(crate) fn weighted(&mut self, weights: impl Iterator<Item = u32> + Clone) -> usize {
        let total: u32 = weights.clone().sum();
        let mut drawn = self.0.u32(..total.max(1));
        for (at, weight) in weights.enumerate() {
            if drawn < weight {
                return at;
            }
            drawn -= weight;
        }
        0
    }
}
