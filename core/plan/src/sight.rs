//! What a controller sees besides the kinds it watches by name, and what follows from it.

use flyball_api::Kind;
use flyball_informer::Watch;

/// What a controller sees besides the kinds it watches by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// Nothing.
    #[default]
    Named,
    /// Which resources the server has: snapshots have a `discovery()`. It is asked for
    /// every 30 s, and soon after a CustomResourceDefinition or an APIService has changed.
    Discovery,
    /// All objects of all resources that can be listed, watched and deleted, at least by their
    /// metadata, and who belongs to whom. Kinds come and go while it runs.
    Everything,
}

impl Sight {
    /// Whether a controller that watches these kinds by name hears of a change of this one.
    pub fn hears_of(self, watches: &[Watch], kind: Kind) -> bool {
        self == Self::Everything || watches.iter().any(|watch| watch.kind() == kind)
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::views::{Node, Pod};

    use super::*;

    const PODS: &[Watch] = &[Watch::of::<Pod>()];

    #[test]
    fn who_sees_everything_hears_of_everything() {
        for (sight, hears) in [(Sight::Named, false), (Sight::Everything, true)] {
            assert!(sight.hears_of(PODS, Pod::KIND));
            assert_eq!(sight.hears_of(PODS, Node::KIND), hears);
        }
    }
}
