//! The annotations by which a Deployment and its ReplicaSets remember a roll-out.

use flyball_api::Labels;
use flyball_api::views::Deployment;

use super::edits::Edit;
use super::limits::Limits;
use super::revisions::{Renumbered, renumber};
use super::sets::Set;

/// Which roll-out a ReplicaSet (or the Deployment's current template) belongs to.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The earlier roll-outs of a ReplicaSet that was rolled back to.
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's replicas when the ReplicaSet was last sized: a difference is a scaling.
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The same plus the surge: what a proportion is measured against.
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// Asks for a rollback to a revision; 0 means the previous one.
pub(super) const ROLLBACK_TO: &str = "deprecated.deployment.rollback.to";
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Whether an annotation belongs to one object alone and is not passed between a Deployment and
/// its ReplicaSets.
pub(super) fn is_own(key: &str) -> bool {
    let own = [
        LAST_APPLIED,
        REVISION,
        REVISION_HISTORY,
        DESIRED_REPLICAS,
        MAX_REPLICAS,
        ROLLBACK_TO,
    ];
    own.contains(&key)
}

/// The annotations that a Deployment passes on to its new ReplicaSet.
fn passed_on(annotations: &Labels) -> impl Iterator<Item = (&str, &str)> {
    annotations.iter().filter(|(key, _)| !is_own(key))
}

/// What a ReplicaSet remembers of the size of its Deployment.
pub(super) fn size_marks(limits: &Limits) -> [(&'static str, String); 2] {
    [
        (DESIRED_REPLICAS, limits.replicas.to_string()),
        (MAX_REPLICAS, limits.most().to_string()),
    ]
}

/// The number in an annotation, if it is one that is not negative.
pub(super) fn count(set: &Set, key: &str) -> Option<i32> {
    set.annotation(key)?
        .parse::<u32>()
        .ok()
        .and_then(|number| i32::try_from(number).ok())
}

/// What must change on the existing new ReplicaSet for it to carry its Deployment's annotations,
/// `minReadySeconds` and the newest revision. An annotation taken off the Deployment stays.
pub(super) fn bring_up_to_date(deployment: &Deployment, new: &Set, revision: i64) -> Edit {
    let mut edit = Edit::of(new);
    if new.view.spec.min_ready_seconds != deployment.spec.min_ready_seconds {
        edit.min_ready_seconds = Some(deployment.spec.min_ready_seconds);
    }
    match renumber(new, revision) {
        // Somebody else's numbering: leave its annotations alone, as upstream does.
        Renumbered::Unreadable => return edit,
        Renumbered::Keep => {}
        Renumbered::Change { revision, history } => {
            edit.annotate(REVISION, &revision);
            if let Some(history) = history {
                edit.annotate(REVISION_HISTORY, &history);
            }
        }
    }
    for (key, value) in passed_on(&deployment.metadata.annotations) {
        edit.annotate(key, value);
    }
    edit
}

/// The annotations of a ReplicaSet about to be created.
pub(super) fn of_created(deployment: &Deployment, revision: &str, limits: &Limits) -> Labels {
    let marks = size_marks(limits);
    passed_on(&deployment.metadata.annotations)
        .chain([(REVISION, revision)])
        .chain(marks.iter().map(|(key, value)| (*key, value.as_str())))
        .collect()
}

/// The annotations of a Deployment after a rollback: its own stay, the rest are the ReplicaSet's,
/// and the request is fulfilled.
pub(super) fn of_rolled_back(deployment: &Labels, set: &Labels) -> Labels {
    deployment
        .iter()
        .filter(|(key, _)| is_own(key) && *key != ROLLBACK_TO)
        .chain(passed_on(set))
        .collect()
}
