//! What a sync decides, from top to bottom.

use std::cmp::Ordering;
use std::time::Duration;

use flyball_api::views::{Pod, ReplicaSetStatus};
use flyball_api::{Class, Object, Selector, Timestamp};
use flyball_plan::rules::claim::recheck;
use flyball_plan::rules::pods::available_in;
use flyball_plan::rules::ranking::Ranking;
use flyball_plan::{Action, Actions, Answer, Answers, Report, Round, Step};

use super::adoption::{self, Claims};
use super::outcome::Outcome;
use super::report::report;
use super::{Observation, Owner, ReplicaKind, ReplicasSettings, creation, deletion, status};

const TELL: &str = "tell";
const REFRESH: &str = "refresh";
const TELL_AGAIN: &str = "tell-again";

pub(super) fn step<K: ReplicaKind>(
    settings: &ReplicasSettings,
    seen: &Observation<K>,
    answers: &Answers,
    now: Timestamp,
) -> Step {
    let owner = K::owner(&seen.object);
    let selector = match &seen.selector {
        Ok(selector) => selector,
        Err(why) => {
            let report = Report::new("no usable selector").saw("because", why);
            return Step::rest(report.waits_for("a selector that selects something in particular"));
        }
    };

    let pods = match adoption::settle(seen, &owner, selector, answers) {
        Claims::Settled(pods) => pods,
        Claims::Unsettled(step) => return step,
    };

    let outcome = match manage(settings, seen, &owner, selector, &pods, answers, now) {
        Managed::Done(outcome) => outcome,
        Managed::Pending(actions) => return Step::Do(actions),
    };

    let terminating =
        (settings.terminating_replicas && K::COUNTS_TERMINATING).then_some(seen.terminating);
    let status = status::next(&owner, &pods, terminating, outcome.failure.as_ref(), now);
    let report = report(&owner, &pods, &outcome, &status, now);
    match tell::<K>(&owner, &status, answers) {
        Told::Done => {}
        Told::Pending(actions) => return Step::Do(actions),
        Told::Gone => return Step::rest(report.waits_for("its own deletion to be seen")),
        Told::Failed(error) => return Step::retry(error, report),
    }

    if let Some(failure) = outcome.failure {
        return Step::retry(failure.message, report);
    }
    match next_availability(&owner, &pods, &status, now) {
        Some(delay) => Step::rest_for(delay, report),
        None => Step::rest(report),
    }
}

enum Managed {
    Done(Outcome),
    Pending(Actions),
}

/// Brings the number of pods to what is desired, or as far as one sync may.
fn manage<K: ReplicaKind>(
    settings: &ReplicasSettings,
    seen: &Observation<K>,
    owner: &Owner<'_>,
    selector: &Selector,
    pods: &[&Pod],
    answers: &Answers,
    now: Timestamp,
) -> Managed {
    if owner.meta.is_deleting() {
        return Managed::Done(Outcome::default());
    }
    match pods.len().cmp(&owner.replicas) {
        Ordering::Equal => Managed::Done(Outcome::default()),
        Ordering::Less => match answers.stage(creation::STAGE) {
            Some(round) => Managed::Done(creation::outcome(round)),
            None => match creation::actions(owner, selector, owner.replicas - pods.len()) {
                Ok(actions) => Managed::Pending(actions),
                Err(failure) => Managed::Done(Outcome::refused(failure)),
            },
        },
        Ordering::Greater => match answers.stage(deletion::STAGE) {
            Some(round) => Managed::Done(deletion::outcome(round)),
            None => {
                let deletion_cost = settings.deletion_cost;
                let ranking = Ranking {
                    on_node: &seen.on_node,
                    deletion_cost,
                    now,
                };
                let excess = pods.len() - owner.replicas;
                Managed::Pending(deletion::actions(pods, excess, ranking))
            }
        },
    }
}

enum Told {
    Done,
    Pending(Actions),
    Gone,
    Failed(String),
}

/// Tells people what was done and the owner how its pods fare; should the owner have changed
/// meanwhile, once more from its newest state.
fn tell<K: ReplicaKind>(owner: &Owner<'_>, status: &ReplicaSetStatus, answers: &Answers) -> Told {
    let Some(told) = answers.stage(TELL) else {
        let mut items = records(owner, answers);
        if status::is_news(owner, status) {
            items.push(status::put(owner.kind, owner.meta, status));
        }
        if items.is_empty() {
            return Told::Done;
        }
        return Told::Pending(Actions::in_order(TELL, items));
    };
    match status_error(told) {
        None => return Told::Done,
        Some((Class::NotFound, _)) => return Told::Gone,
        Some(_) => {}
    }

    let Some(refreshed) = answers.stage(REFRESH) else {
        let ask = recheck(owner.kind, owner.meta);
        return Told::Pending(Actions::in_order(REFRESH, vec![ask]));
    };
    let live = match refreshed.answers.first() {
        Some(Answer::Read(json)) => match K::Object::decode(json.json().as_bytes()) {
            Ok(live) => live,
            Err(error) => return Told::Failed(error.to_string()),
        },
        Some(Answer::Failed(error)) if error.class() == Class::NotFound => return Told::Gone,
        Some(Answer::Failed(error)) => return Told::Failed(error.to_string()),
        _ => return Told::Failed("the owner was not read".to_owned()),
    };
    if *live.uid() != owner.meta.uid {
        return Told::Gone;
    }

    match answers.stage(TELL_AGAIN) {
        None => {
            let put = status::put(owner.kind, K::owner(&live).meta, status);
            Told::Pending(Actions::in_order(TELL_AGAIN, vec![put]))
        }
        Some(round) => match status_error(round) {
            None => Told::Done,
            Some((_, error)) => Told::Failed(error),
        },
    }
}

fn records(owner: &Owner<'_>, answers: &Answers) -> Vec<Action> {
    if let Some(round) = answers.stage(creation::STAGE) {
        creation::records(owner, round)
    } else if let Some(round) = answers.stage(deletion::STAGE) {
        deletion::records(owner, round)
    } else {
        Vec::new()
    }
}

/// Why the status write of a stage failed, if there was one and it did.
fn status_error(round: &Round) -> Option<(Class, String)> {
    let write = round.actions.items.iter().position(Action::is_write)?;
    match round.answers.get(write)? {
        Answer::Failed(error) => Some((error.class(), error.to_string())),
        Answer::Skipped => Some((
            Class::Transient,
            "the status write was not tried".to_owned(),
        )),
        _ => None,
    }
}

/// When the next pod will have been ready for long enough, if that is all it takes. A pod that
/// does not say since when it is ready is looked at again after the whole time.
fn next_availability(
    owner: &Owner<'_>,
    pods: &[&Pod],
    status: &ReplicaSetStatus,
    now: Timestamp,
) -> Option<Duration> {
    if owner.min_ready_seconds <= 0 || status.ready_replicas == status.available_replicas {
        return None;
    }
    let waits = pods
        .iter()
        .filter_map(|pod| available_in(pod, owner.min_ready_seconds, now));
    let longest = Duration::from_secs(owner.min_ready_seconds.unsigned_abs().into());
    Some(
        waits
            .filter(|wait| !wait.is_zero())
            .min()
            .unwrap_or(longest),
    )
}
