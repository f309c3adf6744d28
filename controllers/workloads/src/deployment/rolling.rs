//! Rolling update: new pods come and old pods go, one step in each sync.
//!
//! Upstream: `rolling.go`.

use flyball_plan::{Flow, Pace, Step, stuck};

use super::draft::Draft;
use super::edits::{self, Edit};
use super::limits::{Limits, Strategy};
use super::plan::{clean_up_when_complete, ensure_new, finish_rollout};
use super::sets::{Family, Set, sum};
use super::{Sync, report};

/// Does the next step of a rolling update: the new ReplicaSet grows if it can, or else the old
/// ones shrink if they can, or else the history is cleaned up if all is done.
pub(super) fn roll_out(sync: &Sync<'_>, family: Family, mut draft: Draft) -> Flow<Step> {
    let deployment = sync.deployment();
    let limits = Limits::of(deployment);
    let (family, new, mut edit) = ensure_new(sync, family, &mut draft)?;

    let size = if new.replicas() >= limits.replicas {
        limits.replicas
    } else {
        limits
            .size_of_new(&Strategy::RollingUpdate, family.replicas(), new.replicas())
            .map_err(|error| stuck(report::UNKNOWN_STRATEGY, error))?
    };
    let scales = size != new.replicas();
    if scales {
        edit.resize(size, &limits);
    }
    if !edit.is_empty() {
        sync.must("new", || edits::actions(deployment, [&edit]))?;
    }
    if scales {
        return finish_rollout(sync, &family, draft, report::NEW_SCALED, None);
    }

    let shrunk = shrink(&limits, &new, &family.old);
    if !shrunk.is_empty() {
        let scale = || edits::actions(deployment, &shrunk);
        let round = sync.run("old", Pace::InOrder, scale)?;
        let error = round.first_error();
        return finish_rollout(sync, &family, draft, report::OLD_SCALED_DOWN, error);
    }

    let left_over = clean_up_when_complete(sync, &family)?;
    finish_rollout(sync, &family, draft, report::ROLLING_UPDATE, left_over)
}

/// The old ReplicaSets that can shrink, each with its new size.
///
/// Pods that are not available go first, because they only hold up the roll-out: as many as there
/// are beyond what must be available, not counting those of the new ReplicaSet that are still to
/// become so. After them available pods, as many as are not needed; where upstream counts pods
/// that an earlier step has taken away already, these do not count.
pub(super) fn shrink(limits: &Limits, new: &Set, old: &[Set]) -> Vec<Edit> {
    let active: Vec<&Set> = old.iter().filter(|set| set.is_active()).collect();
    let total = sum(active.iter().map(|set| set.replicas())).saturating_add(new.replicas());
    let new_unavailable = new.replicas() - new.staying();
    let beyond = total
        .saturating_sub(limits.least())
        .saturating_sub(new_unavailable);
    if active.is_empty() || beyond <= 0 {
        return Vec::new();
    }

    let mut sizes: Vec<i32> = active.iter().map(|set| set.replicas()).collect();
    let statuses_are_current = remove_unavailable(&active, &mut sizes, beyond);
    if statuses_are_current {
        let staying = sum(active.iter().map(|set| set.staying())).saturating_add(new.staying());
        remove_available(&mut sizes, staying.saturating_sub(limits.least()));
    }
    active
        .iter()
        .zip(sizes)
        .filter(|(set, size)| set.replicas() != *size)
        .map(|(set, size)| {
            let mut edit = Edit::of(set);
            edit.resize(size, limits);
            edit
        })
        .collect()
}

/// Takes away unavailable pods, the oldest ReplicaSet's first. Tells whether all the statuses it
/// needed are of use: one with more pods available than there are to be has not caught up.
fn remove_unavailable(active: &[&Set], sizes: &mut [i32], most: i32) -> bool {
    let mut left = most;
    for (set, size) in active.iter().zip(sizes) {
        if left <= 0 {
            break;
        }
        let unavailable = *size - set.available();
        if unavailable < 0 {
            return false;
        }
        let removed = unavailable.min(left);
        *size -= removed;
        left -= removed;
    }
    true
}

/// Takes away available pods, the oldest ReplicaSet's first.
fn remove_available(sizes: &mut [i32], most: i32) {
    let mut left = most;
    for size in sizes {
        if left <= 0 {
            break;
        }
        let removed = left.min(*size);
        *size -= removed;
        left -= removed;
    }
}
