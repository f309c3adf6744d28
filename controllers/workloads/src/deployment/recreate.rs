//! Recreate: all old pods are gone before the first new one comes.
//!
//! Upstream: `recreate.go`.

use flyball_plan::{Flow, Step};

use super::creation;
use super::draft::Draft;
use super::edits::{self, Edit};
use super::limits::Limits;
use super::plan::{clean_up_when_complete, ensure_new, finish_rollout};
use super::sets::Family;
use super::{Sync, report};

/// Does the next step of a recreation: the old ReplicaSets go to zero, then their pods are waited
/// for, then the new one is created in full size.
pub(super) fn roll_out(sync: &Sync<'_>, family: Family, mut draft: Draft) -> Flow<Step> {
    let deployment = sync.deployment();
    let limits = Limits::of(deployment);

    let to_zero: Vec<Edit> = family
        .old
        .iter()
        .filter(|set| set.is_active())
        .map(|set| {
            let mut edit = Edit::of(set);
            edit.resize(0, &limits);
            edit
        })
        .collect();
    if !to_zero.is_empty() || old_pods_remain(&family) {
        // Not created here, so that nothing new runs beside the old.
        let edit = creation::take_up(sync, &family, &mut draft);
        let actions = || edits::actions(deployment, edit.iter().chain(&to_zero));
        if edit.as_ref().is_some_and(|edit| !edit.is_empty()) || !to_zero.is_empty() {
            sync.must("old", actions)?;
        }
        let rule = match to_zero.as_slice() {
            [] => report::OLD_PODS_REMAIN,
            _ => report::OLD_SCALED_TO_ZERO,
        };
        return finish_rollout(sync, &family, draft, rule, None);
    }

    let (family, new, mut edit) = ensure_new(sync, family, &mut draft)?;
    if new.replicas() != limits.replicas {
        edit.resize(limits.replicas, &limits);
    }
    if !edit.is_empty() {
        sync.must("new", || edits::actions(deployment, [&edit]))?;
    }
    let left_over = clean_up_when_complete(sync, &family)?;
    finish_rollout(sync, &family, draft, report::RECREATE, left_over)
}

/// Whether an old ReplicaSet says that it has pods, or has one that has not ended: a pod on its
/// way out no longer counts for its ReplicaSet, but it still runs.
pub(super) fn old_pods_remain(family: &Family) -> bool {
    family
        .old
        .iter()
        .any(|set| set.actual() > 0 || set.has_live_pods)
}
