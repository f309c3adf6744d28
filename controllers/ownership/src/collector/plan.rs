//! What is to be done about an item: all branching, top to bottom.

use std::time::Duration;

use flyball_plan::{Answers, Flow, Keys, Read, Step};

use super::item::Item;
use super::observe::{Observation, Seen, Standing, State, Unseen};
use super::owners::Verdict;
use super::{orphans, owners, report, waiting};

/// When to look again at what cannot be judged before discovery tells of its kind.
pub(super) const UNKNOWN_KIND: Duration = Duration::from_secs(10);

/// When to look again at an owner that the server has and the caches should show.
const UNSEEN: Duration = Duration::from_secs(10);

/// When to look again at an owner whose kind nobody can watch.
const UNWATCHED: Duration = Duration::from_secs(300);

/// A sync of one item.
pub(super) type Sync<'a> = flyball_plan::Sync<'a, Observation>;

pub(super) fn plan(sync: &Sync<'_>) -> Flow<Step> {
    match sync.seen {
        Observation::Owner(owner) => look_for(sync, owner),
        Observation::Object(object) => judge(sync, object),
    }
}

fn judge(sync: &Sync<'_>, object: &Seen) -> Flow<Step> {
    match &object.state {
        State::Going => Ok(Step::rest(report::going())),
        State::Freeing(dependents, more) => orphans::free(sync, object, dependents, *more),
        State::Waiting(blocking) => waiting::release(sync, object, blocking.as_ref()),
        State::Staying { owners, .. } if owners.is_empty() => Ok(Step::rest(report::unowned())),
        State::Staying {
            owners,
            has_dependents,
            in_a_circle,
        } => owners::collect(sync, object, owners, *has_dependents, *in_a_circle),
    }
}

/// Asks the server for an owner that no cache shows.
fn look_for(sync: &Sync<'_>, owner: &Unseen) -> Flow<Step> {
    let target = match &owner.standing {
        Standing::Doubtful { target, .. } => target,
        Standing::Unknown => return Ok(Step::rest_for(UNKNOWN_KIND, report::unknown_kind())),
        Standing::Misplaced => return Ok(Step::rest(report::misplaced())),
        Standing::Absent { .. } => {
            return Ok(Step::rest(report::owner_gone(owner.dependents.len())));
        }
        // A cache has come to show it.
        Standing::Alive => return Ok(Step::rest(report::owner_alive())),
    };
    let ask = || Read::exists(target.clone(), owner.uid.clone());
    let answer = sync.ask("owner", ask)?;
    Ok(match Verdict::of(&owner.uid, answer) {
        Verdict::Gone => Step::rest(report::owner_gone(owner.dependents.len())),
        Verdict::Alive | Verdict::Waiting => {
            let again = if owner.cached { UNSEEN } else { UNWATCHED };
            Step::rest_for(again, report::owner_unseen(target))
        }
        Verdict::Unanswered(error) => Step::retry(error, report::owner_unanswered()),
    })
}

fn verdict(owner: &Unseen, answers: &Answers) -> Option<Verdict> {
    if matches!(owner.standing, Standing::Absent { .. }) {
        return Some(Verdict::Gone);
    }
    let answer = answers.stage("owner")?.answers.first()?;
    Some(Verdict::of(&owner.uid, answer))
}

/// Once an owner is known to be gone, all who name it are to be looked at.
pub(super) fn follow(seen: &Observation, answers: &Answers) -> Keys<Item> {
    match seen {
        Observation::Owner(owner) if verdict(owner, answers) == Some(Verdict::Gone) => {
            owner.dependents.clone()
        }
        _ => Keys::new(),
    }
}
