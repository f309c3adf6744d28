//! Following which resources a server has: when to ask, and what to watch of the answer.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::Kind;
use flyball_api::discovery::Discovery;

use crate::Sight;

/// How often the server is asked, as upstream's garbage collector does.
const PERIOD: Duration = Duration::from_secs(30);

/// Resources whose objects bring and take resources.
const ANNOUNCERS: &[(&str, &str)] = &[
    ("apiextensions.k8s.io", "customresourcedefinitions"),
    ("apiregistration.k8s.io", "apiservices"),
];

/// Resources that nobody who watches everything watches: there are many, they own nothing, nobody
/// owns them, and they go by themselves.
const IGNORED: &[(&str, &str)] = &[("", "events"), ("events.k8s.io", "events")];

/// What is known of a server's resources, and what is to be watched of them.
#[derive(Clone, Debug)]
pub struct Following {
    sight: Sight,
    known: Arc<Discovery>,
}

impl Following {
    /// How long after a sign of change the server is asked: it needs a moment to serve what it was
    /// told of, and signs come in flocks.
    pub const SETTLING: Duration = Duration::from_secs(1);

    /// Nothing is known yet.
    pub fn new(sight: Sight) -> Self {
        Self {
            sight,
            known: Arc::default(),
        }
    }

    /// Whether a change of an object of this kind may bring or take resources.
    pub fn is_announced_by(kind: Kind) -> bool {
        ANNOUNCERS.contains(&(kind.group, kind.plural))
    }

    /// What is seen besides declared kinds.
    pub fn sight(&self) -> Sight {
        self.sight
    }

    /// What the server was last found to have.
    pub fn known(&self) -> &Arc<Discovery> {
        &self.known
    }

    /// How long to wait before the server is asked again, if nothing hints at a change.
    pub fn pause(&self) -> Duration {
        match self.known.is_empty() {
            // Somebody waits for the first answer.
            true => Self::SETTLING,
            false => PERIOD,
        }
    }

    /// Takes an answer; whether anything is different now. What could not be told this time stays
    /// as it was known.
    pub fn take(&mut self, found: Discovery) -> Result<bool, &'static str> {
        if found.is_empty() {
            return Err("the server tells of no resources");
        }
        let found = found.or_known(&self.known);
        let has_moved = found != *self.known;
        if has_moved {
            self.known = Arc::new(found);
        }
        Ok(has_moved)
    }

    /// The kinds to be watched because they were discovered.
    pub fn wanted(&self) -> impl Iterator<Item = Kind> {
        let all = self.known.watchable().map(|resource| resource.kind);
        all.filter(|kind| match self.sight {
            Sight::Everything => !IGNORED.contains(&(kind.group, kind.plural)),
            Sight::Discovery | Sight::Named => Self::is_announced_by(*kind),
        })
    }
}

#[cfg(test)]
mod tests {
    use flyball_api::discovery::{Failure, Resource, Verbs};

    use super::*;

    const THINGS: Kind = Kind::namespaced("a.io", "v1", "Thing", "things");
    const EVENTS: Kind = Kind::namespaced("", "v1", "Event", "events");
    const DEFINITIONS: Kind = Kind::namespaced(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    );

    fn found(kinds: &[Kind], failed: &[&str]) -> Discovery {
        let resources = kinds.iter().map(|kind| Resource {
            kind: *kind,
            verbs: Verbs::named(["list", "watch", "delete"]),
            preferred: true,
        });
        let failures = failed.iter().map(|group| Failure {
            group: (*group).into(),
            version: "v1".into(),
            reason: String::new(),
        });
        Discovery::of(resources, failures)
    }

    #[test]
    fn what_is_watched_depends_on_who_looks() {
        for (sight, wanted) in [
            (Sight::Everything, vec![THINGS, DEFINITIONS]),
            (Sight::Discovery, vec![DEFINITIONS]),
        ] {
            let mut following = Following::new(sight);
            let all = found(&[THINGS, EVENTS, DEFINITIONS], &[]);
            assert_eq!(following.take(all.clone()), Ok(true));
            assert_eq!(following.take(all), Ok(false));
            assert_eq!(following.wanted().collect::<Vec<_>>(), wanted);
        }
    }

    #[test]
    fn a_group_that_fails_is_kept_and_one_that_went_is_left() {
        let mut following = Following::new(Sight::Everything);
        assert_eq!(following.pause(), Following::SETTLING);
        assert_eq!(following.take(found(&[THINGS, DEFINITIONS], &[])), Ok(true));
        assert_eq!(following.pause(), PERIOD);
        assert_eq!(
            following.take(found(&[DEFINITIONS], &["a.io"])),
            Ok(true),
            "the failure is news"
        );
        let wanted = |following: &Following| following.wanted().collect::<Vec<_>>();
        assert!(wanted(&following).contains(&THINGS));
        assert_eq!(following.take(found(&[DEFINITIONS], &[])), Ok(true));
        assert_eq!(wanted(&following), [DEFINITIONS]);
    }

    #[test]
    fn no_server_has_nothing() {
        let mut following = Following::new(Sight::Everything);
        assert_eq!(following.take(found(&[THINGS], &[])), Ok(true));
        assert!(following.take(Discovery::default()).is_err());
        assert_eq!(following.wanted().count(), 1);
    }
}
