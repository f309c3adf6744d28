//! What is to be done about an item: all branching, top to bottom.

use std::time::Duration;

use flyball_plan::{Action, Actions, Answers, Keys, Step};

use super::item::Item;
use super::observe::{Observation, Seen, Standing, State, Unseen};
use super::owners::Verdict;
use super::{orphans, owners, status, waiting};

/// When to look again at what cannot be judged before discovery tells of its kind.
pub(super) const UNKNOWN_KIND: Duration = Duration::from_secs(10);

/// When to look again at an owner that the server has and the caches should show.
const UNSEEN: Duration = Duration::from_secs(10);

/// When to look again at an owner whose kind nobody can watch.
const UNWATCHED: Duration = Duration::from_secs(300);

pub(super) fn step(seen: &Observation, answers: &Answers) -> Step {
    match seen {
        Observation::Owner(owner) => look_for(owner, answers),
        Observation::Object(object) => judge(object, answers),
    }
}

fn judge(object: &Seen, answers: &Answers) -> Step {
    match &object.state {
        State::Going => Step::rest(status::going()),
        State::Freeing(dependents, more) => orphans::free(object, dependents, *more, answers),
        State::Waiting(blocking) => waiting::release(object, blocking.as_ref(), answers),
        State::Staying { owners, .. } if owners.is_empty() => Step::rest(status::unowned()),
        State::Staying {
            owners,
            has_dependents,
            in_a_circle,
        } => owners::collect(object, owners, *has_dependents, *in_a_circle, answers),
    }
}

/// Asks the server for an owner that no cache shows.
fn look_for(owner: &Unseen, answers: &Answers) -> Step {
    let target = match &owner.standing {
        Standing::Doubtful { target, .. } => target,
        Standing::Unknown => return Step::rest_for(UNKNOWN_KIND, status::unknown_kind()),
        Standing::Misplaced => return Step::rest(status::misplaced()),
        // A cache has come to show it.
        Standing::Alive => return Step::rest(status::owner_alive()),
    };
    let Some(verdict) = verdict(owner, answers) else {
        let ask = Action::Confirm {
            target: target.clone(),
            uid: owner.uid.clone(),
        };
        return Step::Do(Actions::in_order("owner", vec![ask]));
    };
    match verdict {
        Verdict::Gone => Step::rest(status::owner_gone(owner.dependents.len())),
        Verdict::Alive | Verdict::Waiting => {
            let again = if owner.cached { UNSEEN } else { UNWATCHED };
            Step::rest_for(again, status::owner_unseen())
        }
        Verdict::Unanswered(error) => Step::retry(error, status::owner_unanswered()),
    }
}

fn verdict(owner: &Unseen, answers: &Answers) -> Option<Verdict> {
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
