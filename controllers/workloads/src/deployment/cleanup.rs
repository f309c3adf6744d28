//! Which old ReplicaSets are deleted: those beyond the history that is to be kept.

use flyball_api::ApiError;
use flyball_api::views::{Deployment, ReplicaSet};
use flyball_plan::{Answer, Flow, Pace, Target, Write, failed};

use super::Sync;
use super::revisions::revision;
use super::sets::Set;

/// The old ReplicaSets to delete: the lowest revisions beyond `revisionHistoryLimit`, but never
/// one that has or is to have pods, or whose status does not speak of its newest state.
///
/// Upstream: `cleanupDeployment`. A revision that is no number counts as the lowest.
pub(super) fn surplus<'a>(deployment: &Deployment, old: &'a [Set]) -> Vec<&'a Set> {
    let Some(limit) = deployment
        .spec
        .revision_history_limit
        .filter(|n| *n != i32::MAX)
    else {
        return Vec::new();
    };
    let mut alive: Vec<&Set> = old.iter().filter(|set| !set.meta().is_deleting()).collect();
    let beyond = alive
        .len()
        .saturating_sub(usize::try_from(limit).unwrap_or(0));
    alive.sort_by(|a, b| revision(a).cmp(&revision(b)).then_with(|| a.by_age(b)));
    alive.truncate(beyond);
    alive.retain(|set| {
        let observed = set.view.status.observed_generation >= set.meta().generation;
        set.actual() == 0 && set.replicas() == 0 && observed
    });
    alive
}

/// Deletes the surplus; `Some` is the clash that leaves the rest to another sync.
///
/// Bound to the state seen: a ReplicaSet that is rolled back to just now is not deleted.
pub(super) fn clean_up<'a>(sync: &Sync<'a>, old: &[Set]) -> Flow<Option<&'a ApiError>> {
    const STAGE: &str = "clean-up";
    let surplus = surplus(sync.deployment(), old);
    if surplus.is_empty() {
        return Ok(None);
    }
    let round = sync.run(STAGE, Pace::InOrder, || {
        let delete = |set: &&Set| {
            let target = Target::of(ReplicaSet::KIND, set.meta());
            Write::delete_if(target, set.unchanged()).into()
        };
        surplus.iter().map(delete).collect()
    })?;
    match round.answers.iter().find_map(Answer::error) {
        None => Ok(None),
        // Another client deleted or changed it, and the rest was skipped: the status is written all
        // the same.
        Some(error) if error.is_not_found() || error.is_conflict() => Ok(Some(error)),
        Some(error) => Err(failed(STAGE, round.failed_namespace(), error)),
    }
}
