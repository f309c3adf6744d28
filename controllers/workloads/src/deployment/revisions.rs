//! Revisions: which roll-out a ReplicaSet belongs to, counted from 1 in an annotation.
//!
//! Upstream: `MaxRevision`, `LastRevision`, `SetNewReplicaSetAnnotations` in
//! `pkg/controller/deployment/util`.

use super::annotations::{REVISION, REVISION_HISTORY};
use super::sets::Set;

/// The longest revision history that is kept, in characters.
const HISTORY_LENGTH_MAX: usize = 2000;

/// The revision of a ReplicaSet: 0 if it says none, `None` if what it says is no number.
pub(super) fn revision(set: &Set) -> Option<i64> {
    match set.annotation(REVISION) {
        None => Some(0),
        Some(text) => text.parse().ok(),
    }
}

/// The highest revision; those that are no number are passed over.
pub(super) fn highest<'a>(sets: impl IntoIterator<Item = &'a Set>) -> i64 {
    sets.into_iter().filter_map(revision).fold(0, i64::max)
}

/// The second highest revision, which is the one before the current; 0 if there is none.
pub(super) fn previous(revisions: impl Iterator<Item = i64>) -> i64 {
    let (mut highest, mut second) = (0, 0);
    for revision in revisions {
        if revision >= highest {
            (highest, second) = (revision, highest);
        } else {
            second = second.max(revision);
        }
    }
    second
}

/// What a ReplicaSet's annotations must become for it to carry revision `wanted`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Renumbered {
    /// It carries that revision or a later one already.
    Keep,
    /// What it carries is no number: nobody knows what to make of it.
    Unreadable,
    /// It becomes the newest, perhaps once more: then its earlier revision joins its history.
    Change {
        revision: String,
        history: Option<String>,
    },
}

/// Gives a ReplicaSet the revision `wanted`, unless it has a later one: some old ReplicaSets may
/// have been deleted since, so that counting them comes out lower.
pub(super) fn renumber(set: &Set, wanted: i64) -> Renumbered {
    let current = set.annotation(REVISION).filter(|text| !text.is_empty());
    let number = match current.map(str::parse::<i64>) {
        None => 0,
        Some(Ok(number)) => number,
        Some(Err(_)) => return Renumbered::Unreadable,
    };
    if number >= wanted {
        return Renumbered::Keep;
    }
    let history = current.and_then(|current| {
        extend_history(
            set.annotation(REVISION_HISTORY).unwrap_or_default(),
            current,
        )
    });
    Renumbered::Change {
        revision: wanted.to_string(),
        history,
    }
}

/// Appends a revision to a comma-separated history and drops the oldest until it is short enough;
/// `None` if it cannot be.
fn extend_history(history: &str, revision: &str) -> Option<String> {
    if history.is_empty() || history.starts_with(',') {
        return Some(revision.to_owned());
    }
    let mut kept = history;
    while kept.len() + 1 + revision.len() > HISTORY_LENGTH_MAX {
        match kept.split_once(',') {
            Some((_, later)) => kept = later,
            None if revision.len() <= HISTORY_LENGTH_MAX => return Some(revision.to_owned()),
            None => return None,
        }
    }
    Some(format!("{kept},{revision}"))
}
