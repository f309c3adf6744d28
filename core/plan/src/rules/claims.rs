//! The claims of a sync: the parent checked, orphans adopted, strangers released.
//!
//! Upstream: `BaseControllerRefManager.ClaimObject` in `pkg/controller/controller_ref_manager.go`.

use flyball_api::{ApiError, Kind, LeanMeta, Object, ObjectName, Remedy, Uid};

use super::claim::{Claim, adopt, may_adopt, recheck, release};
use crate::{Answer, Failure, Flow, Pace, Precondition, Sync, Written};

/// A child, and what is to be done about it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The child.
    pub meta: &'a LeanMeta,
    /// What is to be done.
    pub claim: Claim,
}

/// Whose a child is after all answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It was the parent's all along.
    Kept,
    /// It is the parent's now.
    Adopted(Written),
    /// It is not the parent's, or could not be adopted.
    NotOurs,
}

/// Why a child could not be claimed or released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimFailed {
    /// The parent may not adopt any more.
    Refused {
        /// The child.
        child: ObjectName,
        /// Its incarnation.
        uid: Uid,
        /// Why the parent may not.
        why: String,
    },
    /// The server refused.
    Write(ApiError),
    /// It was not tried.
    NotTried(ObjectName),
}

impl ClaimFailed {
    /// Why the sync fails, in these words. Validation refuses to adopt a child only if another
    /// controller was faster, and to release one only if it was recreated: either is to be looked
    /// at again.
    pub fn failure(&self, namespace: &str, text: String) -> Failure {
        match self {
            Self::Write(error) => {
                let failure = Failure::of(error, namespace).in_words(text);
                let remedy = match failure.remedy {
                    Remedy::Edit => Remedy::LookAgain,
                    remedy => remedy,
                };
                Failure { remedy, ..failure }
            }
            Self::Refused { .. } | Self::NotTried(_) => text.into(),
        }
    }
}

/// What became of the claims of a sync.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    /// The fate of each candidate, in their order.
    pub fates: Vec<Fate>,
    /// What went wrong, in their order.
    pub failures: Vec<ClaimFailed>,
}

/// Carries the claims of a parent out.
///
/// Before the first adoption the server is asked whether the parent still lives, because a cache
/// may show one that was deleted or recreated. If it does not, nothing is adopted; releases go out
/// all the same. `demand` says what must hold of a child for its owners to be changed.
pub fn settle<T: Object, S>(
    sync: &Sync<'_, S>,
    parent: &LeanMeta,
    child_kind: Kind,
    candidates: &[Candidate<'_>],
    demand: fn(&LeanMeta) -> Precondition,
) -> Flow<Claims> {
    let mut refusal = None;
    if candidates.iter().any(|one| one.claim == Claim::Adopt) {
        let recheck = || vec![recheck(T::kind(), parent)];
        let round = sync.run("recheck", Pace::InOrder, recheck)?;
        let answer = round.answers.first().unwrap_or(&Answer::Skipped);
        refusal = may_adopt::<T>(parent, answer).err();
    }
    let is_change = |one: &&Candidate<'_>| match one.claim {
        Claim::Release => true,
        Claim::Adopt => refusal.is_none(),
        Claim::Keep | Claim::Ignore => false,
    };
    let round = sync.run_some("claim", Pace::Together, || {
        let changes = candidates.iter().filter(is_change);
        let change = |one: &Candidate<'_>| match one.claim {
            Claim::Adopt => adopt(T::kind(), parent, child_kind, one.meta, demand(one.meta)),
            _ => release(&parent.uid, child_kind, one.meta, demand(one.meta)),
        };
        changes.map(change).collect()
    })?;
    let mut answers = round.iter().flat_map(|round| round.answers.iter());
    let mut claims = Claims::default();
    for one in candidates {
        let (name, uid) = (one.meta.object_name(), one.meta.uid.clone());
        let fate = match (one.claim, &refusal) {
            (Claim::Keep, _) => Ok(Fate::Kept),
            (Claim::Ignore, _) => Ok(Fate::NotOurs),
            (Claim::Adopt, Some(why)) => Err(ClaimFailed::Refused {
                child: name,
                uid,
                why: why.clone(),
            }),
            (Claim::Adopt, None) => match answers.next() {
                Some(Answer::Done(written)) => Ok(Fate::Adopted(written.clone())),
                // It is gone: there is nothing to adopt.
                Some(Answer::Failed(error)) if error.is_not_found() => Ok(Fate::NotOurs),
                Some(Answer::Failed(error)) => Err(ClaimFailed::Write(error.clone())),
                _ => Err(ClaimFailed::NotTried(name)),
            },
            (Claim::Release, _) => match answers.next() {
                Some(Answer::Done(_)) => Ok(Fate::NotOurs),
                // Gone, or not the parent's any more: either is what was wanted.
                Some(Answer::Failed(error)) if error.is_not_found() || error.is_invalid() => {
                    Ok(Fate::NotOurs)
                }
                Some(Answer::Failed(error)) => Err(ClaimFailed::Write(error.clone())),
                _ => Err(ClaimFailed::NotTried(name)),
            },
        };
        let fate = fate.unwrap_or_else(|failure| {
            claims.failures.push(failure);
            Fate::NotOurs
        });
        claims.fates.push(fate);
    }
    Ok(claims)
}
