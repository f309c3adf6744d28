//! What a sync found out about the content of a namespace.

use std::collections::BTreeMap;
use std::time::Duration;

use flyball_api::{Kind, ObjectName, Text, Timestamp};
use flyball_plan::{Listed, Listing, Target, Until, Wait};

/// How long finalizers are given, in seconds, before somebody looks again.
const FINALIZERS_SECONDS: i64 = 15;

/// What was found, over all resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// Why it is not known which resources there are, or not of all of them.
    pub(super) discovery_failure: Option<String>,
    /// Which group version could not be understood.
    pub(super) parsing_failure: Option<String>,
    /// What could not be deleted, or not be looked at.
    pub(super) failures: Vec<String>,
    /// How many objects are left, by resource.
    pub(super) remaining: Vec<(Kind, u64)>,
    /// The first object that is left, one that finalizers hold before others, and its finalizers.
    pub(super) first: Option<(Target, Vec<Text>)>,
    /// How many objects each finalizer holds.
    pub(super) finalizers: BTreeMap<Text, u64>,
    /// In how many seconds what is left should be gone.
    pub(super) estimate_seconds: i64,
    /// Whether there is more to delete than one sync deletes.
    pub(super) unfinished: bool,
}

impl Findings {
    /// Takes note of what is left of a resource after everything in it was asked to go.
    ///
    /// Objects that may take their time are waited for, until that much time has passed since the
    /// namespace was asked to go; so are those that finalizers hold. Anything else should not be
    /// there any more.
    pub(super) fn left(&mut self, kind: Kind, left: &Listing, namespace: &str, since: Duration) {
        if left.is_empty() {
            return;
        }
        self.remaining.push((kind, left.count()));
        self.note_first(kind, left);
        for finalizer in left.items.iter().flat_map(|item| &item.finalizers) {
            *self.finalizers.entry(finalizer.clone()).or_default() += 1;
        }
        let grace = left.items.iter().map(|item| item.grace_seconds).max();
        let grace = grace.filter(|grace| since < seconds(*grace)).unwrap_or(0);
        let held = left.items.iter().any(|item| !item.finalizers.is_empty());
        let estimate = match (grace, held) {
            (0, true) => FINALIZERS_SECONDS,
            (grace, _) => grace,
        };
        if estimate > 0 {
            self.estimate_seconds = self.estimate_seconds.max(estimate);
        } else if !self.unfinished {
            let Kind {
                group,
                version,
                plural,
                ..
            } = kind;
            self.failures.push(format!(
                "unexpected items still remain in namespace: {namespace} for gvr: {group}/{version}, Resource={plural}"
            ));
        }
    }

    fn note_first(&mut self, kind: Kind, left: &Listing) {
        let held = |item: &&Listed| !item.finalizers.is_empty();
        let found = left.items.iter().find(held).or(left.items.first());
        let known = self
            .first
            .as_ref()
            .is_some_and(|(_, held)| !held.is_empty());
        if let Some(item) = found.filter(|item| self.first.is_none() || !known && held(item)) {
            let name = ObjectName::new(&item.namespace, &item.name);
            self.first = Some((Target { kind, name }, item.finalizers.clone()));
        }
    }

    /// What the namespace waits for: an object that is left, and how many others there are.
    pub(super) fn blocker(&self) -> Option<Wait> {
        let (target, finalizers) = self.first.clone()?;
        let until = match finalizers.is_empty() {
            true => Until::Deleted,
            false => Until::Finalized(finalizers),
        };
        let left = self.remaining.iter().map(|(_, count)| *count).sum::<u64>();
        Some(Wait::Object {
            target,
            until,
            others: usize::try_from(left.saturating_sub(1)).unwrap_or(usize::MAX),
        })
    }

    /// Whether a resource could not be emptied or looked at, or not all of them are known.
    pub(super) fn has_failed(&self) -> bool {
        self.whole().next().is_some() || !self.failures.is_empty()
    }

    /// Why it is not known what there is.
    fn whole(&self) -> impl Iterator<Item = &String> {
        self.discovery_failure.iter().chain(&self.parsing_failure)
    }

    /// All that went wrong, in a line.
    pub(super) fn error(&self) -> String {
        let all = self.whole().chain(&self.failures);
        all.map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// When to look again at what is left.
    pub(super) fn pause(&self) -> Duration {
        seconds(self.estimate_seconds / 2 + 1)
    }
}

/// How long ago the namespace was asked to go.
pub(super) fn since(deleted_at: Timestamp, now: Timestamp) -> Duration {
    now.saturating_since(deleted_at)
}

fn seconds(count: i64) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use flyball_plan::Listed;

    use super::*;

    const PODS: Kind = Kind::namespaced("", "v1", "Pod", "pods");

    fn item(grace_seconds: i64, finalizers: &[&str]) -> Listed {
        Listed {
            grace_seconds,
            deleting: true,
            finalizers: finalizers.iter().map(|it| Text::from(*it)).collect(),
            ..Listed::default()
        }
    }

    #[test]
    fn what_is_left_says_when_to_look_again() {
        let cases = [
            // Left, seconds since the namespace was asked to go, pause in seconds or failure.
            (vec![item(30, &[]), item(10, &[])], 5, Ok(16)),
            (vec![item(30, &["a.io/x"])], 29, Ok(16)),
            (vec![item(30, &["a.io/x"])], 30, Ok(8)),
            (vec![item(0, &["a.io/x"]), item(0, &[])], 5, Ok(8)),
            (
                vec![item(30, &[])],
                31,
                Err("unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods"),
            ),
        ];
        for (items, since, verdict) in cases {
            let mut found = Findings::default();
            let listing = Listing { items, more: 0 };
            found.left(PODS, &listing, "shop", Duration::from_secs(since));
            match verdict {
                Ok(pause) => assert_eq!(
                    (found.pause().as_secs(), found.error()),
                    (pause, String::new())
                ),
                Err(words) => assert_eq!(found.error(), words),
            }
            assert_eq!(found.remaining, [(PODS, listing.count())]);
        }
    }

    #[test]
    fn finalizers_are_counted_over_all_resources() {
        let mut found = Findings::default();
        let listing = Listing {
            items: vec![item(0, &["a.io/x", "b.io/x"]), item(0, &["a.io/x"])],
            more: 3,
        };
        found.left(PODS, &listing, "shop", Duration::ZERO);
        found.left(PODS, &listing, "shop", Duration::ZERO);
        assert_eq!(
            found.finalizers,
            [("a.io/x".into(), 4), ("b.io/x".into(), 2)].into()
        );
        assert_eq!(found.remaining, [(PODS, 5), (PODS, 5)]);
    }
}
