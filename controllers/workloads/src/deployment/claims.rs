//! Which ReplicaSets are ours: adopting what nobody has, releasing what no longer matches.

use flyball_api::views::{Deployment, ReplicaSet};
use flyball_plan::rules::claims::{Candidate, ClaimFailed, Fate, settle};
use flyball_plan::{Flow, Precondition, failed, stuck};

use super::observe::position_of_new;
use super::sets::{Family, Set};
use super::{Sync, report};

/// Claims the ReplicaSets of the Deployment. If one cannot be claimed, the sync fails.
///
/// A ReplicaSet must be exactly as seen. Upstream asks only for the same incarnation; but what was
/// relabelled meanwhile is not ours to take, and the rest of the sync writes on top of this, by
/// what it saw before.
pub(super) fn claim(sync: &Sync<'_>) -> Flow<Family> {
    let deployment = sync.deployment();
    let sets = &sync.seen.candidates;
    let candidates: Vec<_> = sets
        .iter()
        .map(|one| Candidate {
            meta: one.set.meta(),
            claim: one.claim,
        })
        .collect();
    let claims = settle::<Deployment, _>(
        sync,
        &deployment.metadata,
        ReplicaSet::KIND,
        &candidates,
        Precondition::unchanged,
    )?;
    match claims.failures.first() {
        None => {}
        Some(ClaimFailed::Refused { why, .. }) => {
            let why = format!("can't recheck before adopting: {why}");
            return Err(stuck(report::ADOPTION_REFUSED, why));
        }
        Some(ClaimFailed::Write(error)) => {
            return Err(failed("claim", &deployment.metadata.namespace, error));
        }
        Some(ClaimFailed::NotTried(set)) => {
            return Err(stuck(
                report::CLAIM_NOT_TRIED,
                format!("{set} was not claimed"),
            ));
        }
    }
    let fates = claims.fates.into_iter().zip(sets);
    let claimed = fates.map(|(fate, one)| match fate {
        Fate::NotOurs => None,
        Fate::Kept => Some(one.set.clone()),
        Fate::Adopted(written) => Some(Set {
            version: written.resource_version,
            ..one.set.clone()
        }),
    });
    split(deployment, claimed.collect(), sync.seen.new_at)
        .map_err(|problem| stuck(report::NEW_REPLICA_SET_UNKNOWN, problem))
}

fn split(
    deployment: &Deployment,
    claimed: Vec<Option<Set>>,
    new_at: Option<usize>,
) -> Result<Family, String> {
    let still_ours = new_at.filter(|at| claimed.get(*at).is_some_and(Option::is_some));
    let new_at = match (new_at, still_ours) {
        // The one that was to be adopted as the new one is gone: look among the others.
        (Some(_), None) => position_of_new(deployment, claimed.iter().map(Option::as_ref))?,
        (_, still_ours) => still_ours,
    };
    let mut family = Family::default();
    for (at, set) in claimed.into_iter().enumerate() {
        match set {
            Some(set) if Some(at) == new_at => family.new = Some(set),
            Some(set) => family.old.push(set),
            None => {}
        }
    }
    Ok(family)
}
