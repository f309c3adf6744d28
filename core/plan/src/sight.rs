//! What a controller sees besides the kinds it watches by name, and what follows from it.

use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{Readiness, Snapshot, Watch};

/// How long who watches everything waits for the first list of any one kind, as upstream's
/// garbage collector does.
const EVERYTHING_PATIENCE: Duration = Duration::from_secs(30);

/// How long it waits for a kind whose list fails instead of being on its way.
const BROKEN_PATIENCE: Duration = Duration::from_secs(5);

/// What a controller sees besides the kinds it watches by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// Nothing.
    #[default]
    Named,
    /// Which resources the server has: snapshots have a [`Snapshot::discovery`]. It is asked for
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

    /// Whether a controller that watches these kinds by name may begin: each of them has been
    /// listed. Each controller waits only for its own kinds: one that is broken stalls only what
    /// needs it. Who watches everything waits for all that was discovered, but not for ever:
    /// something is always broken.
    pub fn may_begin(
        self,
        watches: &[Watch],
        store: &Snapshot,
        readiness: &[(Kind, Readiness)],
    ) -> bool {
        if self != Self::Named && store.discovery().is_none() {
            return false;
        }
        let named = watches.iter().all(|watch| {
            readiness
                .iter()
                .any(|(kind, ready)| *kind == watch.kind() && ready.synced)
        });
        let mut others = readiness.iter().map(|(_, ready)| ready);
        named && (self != Self::Everything || others.all(is_settled))
    }
}

/// Whether a kind need not be waited for any longer.
fn is_settled(ready: &Readiness) -> bool {
    let patience = match ready.last_error {
        Some(_) => BROKEN_PATIENCE,
        None => EVERYTHING_PATIENCE,
    };
    ready.synced || ready.since >= patience
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use flyball_api::views::{Node, Pod};

    use super::*;

    const PODS: &[Watch] = &[Watch::of::<Pod>()];

    fn readiness(synced: bool, seconds: u64) -> Readiness {
        Readiness {
            synced,
            why: None,
            last_error: None,
            since: Duration::from_secs(seconds),
        }
    }

    #[test]
    fn who_sees_everything_hears_of_everything() {
        for (sight, hears) in [(Sight::Named, false), (Sight::Everything, true)] {
            assert!(sight.hears_of(PODS, Pod::KIND));
            assert_eq!(sight.hears_of(PODS, Node::KIND), hears);
        }
    }

    #[test]
    fn what_is_broken_is_waited_for_less_than_what_is_slow() {
        for (synced, broken, seconds, settled) in [
            (true, true, 0, true),
            (false, false, 29, false),
            (false, false, 30, true),
            (false, true, 4, false),
            (false, true, 5, true),
        ] {
            let mut ready = readiness(synced, seconds);
            ready.last_error = broken.then(|| "no conversion".to_owned());
            assert_eq!(is_settled(&ready), settled);
        }
    }

    #[test]
    fn nobody_begins_before_its_kinds_were_listed() {
        let known = Snapshot::default().discovered(Arc::default());
        let cases = [
            // Sight, discovered, pods listed, another kind listed, seconds since, whether it may.
            (Sight::Named, false, true, false, 0, true),
            (Sight::Named, true, false, true, 99, false),
            (Sight::Discovery, false, true, true, 99, false),
            (Sight::Discovery, true, true, false, 0, true),
            (Sight::Everything, true, true, false, 29, false),
            (Sight::Everything, true, true, false, 30, true),
            (Sight::Everything, true, true, true, 0, true),
        ];
        for (sight, discovered, pods, nodes, seconds, may) in cases {
            let store = match discovered {
                true => known.clone(),
                false => Snapshot::default(),
            };
            let readiness = [
                (Pod::KIND, readiness(pods, seconds)),
                (Node::KIND, readiness(nodes, seconds)),
            ];
            let case = (sight, discovered, pods, nodes, seconds);
            assert_eq!(sight.may_begin(PODS, &store, &readiness), may, "{case:?}");
        }
    }
}
