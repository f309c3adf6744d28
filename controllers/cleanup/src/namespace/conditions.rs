//! What the conditions of a namespace on its way out say, in upstream's words.
//!
//! Upstream: `pkg/controller/namespace/deletion/status_condition_utils.go`.

use flyball_api::{Kind, Timestamp};
use serde_json::{Value, json};

use super::findings::Findings;

/// A condition: its type, and reason and message while all is well.
struct Known {
    kind: &'static str,
    reason: &'static str,
    message: &'static str,
}

const DISCOVERY: Known = Known {
    kind: "NamespaceDeletionDiscoveryFailure",
    reason: "ResourcesDiscovered",
    message: "All resources successfully discovered",
};

const PARSING: Known = Known {
    kind: "NamespaceDeletionGroupVersionParsingFailure",
    reason: "ParsedGroupVersions",
    message: "All legacy kube types successfully parsed",
};

const CONTENT: Known = Known {
    kind: "NamespaceDeletionContentFailure",
    reason: "ContentDeleted",
    message: "All content successfully deleted, may be waiting on finalization",
};

const REMAINING: Known = Known {
    kind: "NamespaceContentRemaining",
    reason: "ContentRemoved",
    message: "All content successfully removed",
};

const FINALIZERS: Known = Known {
    kind: "NamespaceFinalizersRemaining",
    reason: "ContentHasNoFinalizers",
    message: "All content-preserving finalizers finished",
};

/// The conditions after what was found, if that changes any of them. Those of others stay.
pub(super) fn updated(before: &[Value], found: &Findings, now: Timestamp) -> Option<Vec<Value>> {
    let trouble = [
        (
            DISCOVERY,
            whole("DiscoveryFailed", &found.discovery_failure),
        ),
        (
            PARSING,
            whole("GroupVersionParsingFailed", &found.parsing_failure),
        ),
        (CONTENT, content_failed(&found.failures)),
        (REMAINING, remaining(&found.remaining)),
        (FINALIZERS, finalizers(found)),
    ];
    let mut conditions = before.to_vec();
    let mut changed = false;
    for (known, trouble) in trouble {
        let (status, reason, message) = match &trouble {
            Some((reason, message)) => ("True", *reason, message.as_str()),
            None => ("False", known.reason, known.message),
        };
        let old = conditions.iter_mut().find(|it| it["type"] == known.kind);
        let mut new = json!({
            "type": known.kind, "status": status, "lastTransitionTime": now,
            "reason": reason, "message": message,
        });
        match old {
            None => conditions.push(new),
            Some(old) => {
                let same = |field: &str| old[field] == new[field];
                if same("status") && same("reason") && same("message") {
                    continue;
                }
                if same("status") {
                    new["lastTransitionTime"] = old["lastTransitionTime"].clone();
                }
                *old = new;
            }
        }
        changed = true;
    }
    changed.then_some(conditions)
}

type Trouble = Option<(&'static str, String)>;

fn whole(reason: &'static str, failure: &Option<String>) -> Trouble {
    Some((reason, failure.clone()?))
}

fn content_failed(failures: &[String]) -> Trouble {
    let count = failures.len();
    let words = format!("Failed to delete all resource types, {count} remaining");
    told("ContentDeletionFailed", &words, failures.iter().cloned())
}

fn remaining(remaining: &[(Kind, u64)]) -> Trouble {
    let each = remaining.iter().map(|(kind, count)| {
        let (plural, group) = (kind.plural, kind.group);
        format!("{plural}.{group} has {count} resource instances")
    });
    told("SomeResourcesRemain", "Some resources are remaining", each)
}

fn finalizers(found: &Findings) -> Trouble {
    let each = found.finalizers.iter();
    let each = each.map(|(name, count)| format!("{name} in {count} resource instances"));
    let words = "Some content in the namespace has finalizers remaining";
    told("SomeFinalizersRemain", words, each)
}

/// All of them in order after some words; no trouble if there are none.
fn told(reason: &'static str, words: &str, each: impl Iterator<Item = String>) -> Trouble {
    let mut each: Vec<String> = each.collect();
    each.sort_unstable();
    (!each.is_empty()).then(|| (reason, format!("{words}: {}", each.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-01-01T00:00:09Z";

    fn now() -> Timestamp {
        serde_json::from_value(json!(NOW)).unwrap()
    }

    fn said(found: &Findings) -> Vec<String> {
        let conditions = updated(&[], found, now()).unwrap();
        let text = |it: &Value, field: &str| it[field].as_str().unwrap_or_default().to_owned();
        conditions
            .iter()
            .map(|it| {
                ["status", "reason", "message"]
                    .map(|field| text(it, field))
                    .join(" ")
            })
            .collect()
    }

    #[test]
    fn all_five_are_written_when_all_is_well() {
        let all = [
            "False ResourcesDiscovered All resources successfully discovered",
            "False ParsedGroupVersions All legacy kube types successfully parsed",
            "False ContentDeleted All content successfully deleted, may be waiting on finalization",
            "False ContentRemoved All content successfully removed",
            "False ContentHasNoFinalizers All content-preserving finalizers finished",
        ];
        assert_eq!(said(&Findings::default()), all);
    }

    /// Upstream, `status_condition_utils_test.go` and what a real server shows.
    #[test]
    fn what_is_in_the_way_is_named_in_order() {
        let kind = |group, plural| Kind::namespaced(group, "v1", "Thing", plural);
        let found = Findings {
            discovery_failure: Some("no answer".to_owned()),
            parsing_failure: Some("unexpected GroupVersion string: a/b/v1".to_owned()),
            failures: vec!["second".to_owned(), "first".to_owned()],
            remaining: vec![(kind("", "pods"), 2), (kind("apps", "deployments"), 1)],
            finalizers: [("b.io/x".into(), 1), ("a.io/x".into(), 3)].into(),
            ..Findings::default()
        };
        let all = [
            "True DiscoveryFailed no answer",
            "True GroupVersionParsingFailed unexpected GroupVersion string: a/b/v1",
            "True ContentDeletionFailed Failed to delete all resource types, 2 remaining: first, second",
            "True SomeResourcesRemain Some resources are remaining: deployments.apps has 1 resource instances, \
             pods. has 2 resource instances",
            "True SomeFinalizersRemain Some content in the namespace has finalizers remaining: a.io/x in 3 resource \
             instances, b.io/x in 1 resource instances",
        ];
        assert_eq!(said(&found), all);
    }

    #[test]
    fn only_a_change_of_status_is_a_transition_and_no_change_is_none() {
        let before = updated(
            &[json!({"type": "Other", "status": "True"})],
            &Findings::default(),
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap(),
        );
        let before = before.unwrap();
        assert_eq!(before.len(), 6, "the condition of somebody else stays");
        assert_eq!(updated(&before, &Findings::default(), now()), None);
        let failing = |words: &str| Findings {
            failures: vec![words.to_owned()],
            ..Findings::default()
        };
        let first = updated(&before, &failing("a"), now()).unwrap();
        assert_eq!(first[3]["lastTransitionTime"], NOW);
        let later = serde_json::from_value(json!("2026-01-01T00:00:30Z")).unwrap();
        let second = updated(&first, &failing("b"), later).unwrap();
        assert_eq!(second[3]["lastTransitionTime"], NOW);
        assert_eq!(second[1]["lastTransitionTime"], "2026-01-01T00:00:00Z");
    }
}
