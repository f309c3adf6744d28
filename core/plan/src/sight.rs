//! What a controller sees besides the kinds it watches by name, and what follows from it.

use std::time::Duration;

use flyball_api::Kind;
use flyball_informer::{Readiness, Snapshot, Watch};

/// How long who watches everything waits for the first list of any one kind, as upstream's
/// garbage collector does.
const EVERYTHING_PATIENCE: Duration = Duration::from_secs(30);

/// How long it waits for a kind of other people whose list fails, if nearly all others are there.
const BROKEN_PATIENCE: Duration = Duration::from_secs(5);

/// Only so few of all kinds may be broken: where more are, it is the server that has trouble.
const BROKEN_SHARE: usize = 10;

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
        named && (self != Self::Everything || has_settled(readiness))
    }
}

/// Whether no kind need be waited for any longer.
///
/// Who begins without a kind takes its objects for none: dependents of that kind are not set free,
/// and hold nobody up. So kinds that every server has are waited for as long as upstream does,
/// whatever is the matter with them.
fn has_settled(readiness: &[(Kind, Readiness)]) -> bool {
    let is_open = |ready: &Readiness| !ready.synced && ready.since < EVERYTHING_PATIENCE;
    let open: Vec<_> = readiness.iter().filter(|(_, it)| is_open(it)).collect();
    let is_broken = |(kind, ready): &&(Kind, Readiness)| {
        ready.last_error.is_some() && ready.since >= BROKEN_PATIENCE && is_custom(kind.group)
    };
    open.len() * BROKEN_SHARE <= readiness.len() && open.iter().all(is_broken)
}

/// Whether other people have brought the group: those of upstream have no domain, or its own.
fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
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
    fn a_broken_kind_of_other_people_is_waited_for_less_than_anything_else() {
        const RELIC: Kind = Kind::namespaced("example.com", "v1", "Relic", "relics");
        let broken = |seconds| Readiness {
            last_error: Some("no conversion".to_owned()),
            ..readiness(false, seconds)
        };
        let cases = [
            // Kinds that are listed, one that is not, and whether it need not be waited for.
            (10, RELIC, broken(4), false),
            (10, RELIC, broken(5), true),
            (10, RELIC, readiness(false, 29), false),
            (10, RELIC, readiness(false, 30), true),
            (10, Pod::KIND, broken(29), false),
            (10, Pod::KIND, broken(30), true),
            // Where much is broken, it is the server.
            (8, RELIC, broken(29), false),
        ];
        for (listed, kind, open, settled) in cases {
            let mut all = vec![(Node::KIND, readiness(true, 0)); listed];
            all.push((kind, open));
            assert_eq!(has_settled(&all), settled, "{all:?}");
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
