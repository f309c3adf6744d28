//! When a controller may plan: the kinds it needs are complete, or have been waited for long enough.

use std::time::Duration;

use flyball_api::Kind;

/// How long a controller of all resources waits for the list of any one kind, as upstream's
/// garbage collector does.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it waits for a custom kind whose list fails, if nearly all others are complete.
const BROKEN_PATIENCE: Duration = Duration::from_secs(5);

/// Only one in so many kinds may be broken. Where more are, the server has trouble.
const BROKEN_SHARE: usize = 10;

/// What is known of the list of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) kind: Kind,
    /// Whether a list of the present round is published.
    pub(crate) is_current: bool,
    /// For how long it has been waited for.
    pub(crate) waited: Duration,
    /// Whether its requests fail.
    pub(crate) is_failing: bool,
}

/// The kinds whose list is waited for.
///
/// A controller of all resources takes the objects of any other missing kind for none. So kinds
/// that every server has are waited for as long as upstream does, whatever is wrong with them.
pub(crate) fn waited_for(all: &[Listed]) -> Vec<Kind> {
    let is_open = |one: &&Listed| !one.is_current && one.waited < PATIENCE;
    let open: Vec<&Listed> = all.iter().filter(is_open).collect();
    let few = open.len() * BROKEN_SHARE <= all.len();
    let is_broken = |one: &Listed| {
        few && one.is_failing && one.waited >= BROKEN_PATIENCE && is_custom(one.kind.group)
    };
    let waited = open.into_iter().filter(|one| !is_broken(one));
    waited.map(|one| one.kind).collect()
}

/// Whether the group is not one of Kubernetes' own, which have no domain or end in `.k8s.io`.
pub(crate) fn is_custom(group: &str) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

#[cfg(test)]
mod tests {
    use flyball_api::views::{Node, Pod};

    use super::*;

    const RELIC: Kind = Kind::namespaced("example.com", "v1", "Relic", "relics");

    fn listed(kind: Kind, is_current: bool, seconds: u64, is_failing: bool) -> Listed {
        Listed {
            kind,
            is_current,
            waited: Duration::from_secs(seconds),
            is_failing,
        }
    }

    #[test]
    fn a_broken_custom_kind_is_waited_for_less_than_any_other() {
        let cases = [
            // Complete kinds, one that is not, how long, whether it fails, whether it is waited for.
            (10, RELIC, 4, true, true),
            (10, RELIC, 5, true, false),
            (10, RELIC, 29, false, true),
            (10, RELIC, 30, false, false),
            (10, Pod::KIND, 29, true, true),
            (10, Pod::KIND, 30, true, false),
            // Where much is broken, it is the server.
            (8, RELIC, 29, true, true),
        ];
        for (complete, kind, seconds, failing, waited) in cases {
            let mut all = vec![listed(Node::KIND, true, 0, false); complete];
            all.push(listed(kind, false, seconds, failing));
            let expected: Vec<Kind> = waited.then_some(kind).into_iter().collect();
            assert_eq!(waited_for(&all), expected, "{all:?}");
        }
    }
}
