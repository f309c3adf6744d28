//! Which ReplicaSets are ours: adopting what nobody has, releasing what no longer matches.

use flyball_api::OwnerReference;
use flyball_api::views::{Deployment, ReplicaSet};
use flyball_plan::rules::claim::{self, Claim};
use flyball_plan::{Action, Answer, Body, Pace, Subresource, Target};
use serde_json::{Value, json};

use super::observe::{Candidate, position_of_new};
use super::sequence::{Flow, Sync, failed, stuck};
use super::sets::{Family, Set};

/// Claims the ReplicaSets of the Deployment.
///
/// The server is asked once, before the first adoption, whether the Deployment still lives; if
/// not, nothing is adopted and the sync fails, but releases go out all the same.
pub(super) fn claim(sync: &Sync<'_>) -> Flow<Family> {
    let deployment = sync.deployment();
    let candidates = &sync.seen.candidates;
    let wanted = |claim: Claim| candidates.iter().any(|candidate| candidate.claim == claim);

    let mut refusal = None;
    if wanted(Claim::Adopt) {
        let recheck = || vec![claim::recheck(Deployment::KIND, &deployment.metadata)];
        let round = sync.run("recheck", Pace::InOrder, recheck)?;
        let answer = round.answers.first().unwrap_or(&Answer::Skipped);
        refusal = claim::may_adopt::<Deployment>(&deployment.metadata, answer).err();
    }

    let changes: Vec<&Candidate> = candidates
        .iter()
        .filter(|candidate| match candidate.claim {
            Claim::Release => true,
            Claim::Adopt => refusal.is_none(),
            Claim::Keep | Claim::Ignore => false,
        })
        .collect();
    let mut answers: &[Answer] = &[];
    if !changes.is_empty() {
        let round = sync.run("claim", Pace::Together, || {
            let change = |candidate: &&Candidate| match candidate.claim {
                Claim::Adopt => change_owner(&candidate.set, adopter(deployment)),
                _ => change_owner(&candidate.set, release(deployment)),
            };
            changes.iter().map(change).collect()
        })?;
        answers = &round.answers;
    }
    if let Some(refusal) = refusal {
        return Err(stuck(
            "may not adopt",
            format!("can't recheck before adopting: {refusal}"),
        ));
    }
    let claimed = settle(candidates, answers.iter())?;
    split(deployment, claimed, sync.seen.new_at)
        .map_err(|problem| stuck("cannot tell the new ReplicaSet", problem))
}

/// The entry that makes the Deployment the controller of something.
fn adopter(deployment: &Deployment) -> Value {
    let meta = &deployment.metadata;
    json!(OwnerReference::controller_of(
        Deployment::KIND,
        &meta.name,
        &meta.uid
    ))
}

/// The entry that takes the Deployment off the owners of something.
fn release(deployment: &Deployment) -> Value {
    json!({"$patch": "delete", "uid": deployment.metadata.uid.to_string()})
}

/// Changes the owners of a ReplicaSet, provided it is still as seen. Upstream asks only for the
/// same incarnation; but what was relabelled meanwhile is not ours to take, and the rest of the
/// sync writes on top of this, by what it saw before.
fn change_owner(set: &Set, owner: Value) -> Action {
    let precondition = set.unchanged();
    Action::Patch {
        target: Target::of(ReplicaSet::KIND, set.meta()),
        subresource: Subresource::None,
        body: Body::patch(
            &precondition,
            json!({"metadata": {"ownerReferences": [owner]}}),
        ),
        precondition,
    }
}

/// Those that are ours after all answers, in the order of the candidates; `None` for the others.
fn settle<'a>(
    candidates: &[Candidate],
    mut answers: impl Iterator<Item = &'a Answer>,
) -> Flow<Vec<Option<Set>>> {
    let mut claimed = Vec::with_capacity(candidates.len());
    for Candidate { set, claim } in candidates {
        claimed.push(match claim {
            Claim::Ignore => None,
            Claim::Keep => Some(set.clone()),
            Claim::Adopt => match answers.next() {
                Some(Answer::Done(written)) => {
                    let version = written.resource_version.clone();
                    Some(Set {
                        version,
                        ..set.clone()
                    })
                }
                // It is gone: nobody's.
                Some(Answer::Failed(error)) if error.is_not_found() => None,
                Some(Answer::Failed(error)) => return Err(failed("claim", error)),
                _ => None,
            },
            Claim::Release => match answers.next() {
                // Gone, or not ours any more: either is what was wanted.
                Some(Answer::Failed(error)) if !error.is_not_found() && !error.is_invalid() => {
                    return Err(failed("claim", error));
                }
                _ => None,
            },
        });
    }
    Ok(claimed)
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
