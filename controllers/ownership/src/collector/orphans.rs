//! Setting dependents free before their owner goes.
//!
//! Upstream, `garbagecollector.go`, `attemptToOrphanWorker`.

use std::time::Duration;

use flyball_api::views::Partial;
use flyball_api::{Object, OwnerReference};
use flyball_plan::{Action, Actions, Answer, Answers, Precondition, Round, Step, Target};
use serde_json::{Value, json};

use super::clash::{Live, unchanged};
use super::finalizers::{ORPHAN, merge, take_off};
use super::observe::{Dependent, Seen};
use super::status;

/// Takes the owner off its dependents, then the finalizer off the owner.
///
/// Dependents live on while this happens, and are written to: those with which it clashes are read
/// and tried once more.
pub(super) fn free(object: &Seen, dependents: &[Dependent], more: bool, answers: &Answers) -> Step {
    let report = || status::freeing(dependents.len());
    if let Some(next) = set_free(object, dependents, answers) {
        return match next {
            Ok(actions) => Step::Do(actions),
            Err(error) => Step::retry(error, report()),
        };
    }
    if more {
        return Step::rest_for(Duration::ZERO, report());
    }
    take_off(ORPHAN, object, answers, status::freed())
}

/// What is still to be done before all these dependents are free, or what stands in the way.
fn set_free(
    object: &Seen,
    dependents: &[Dependent],
    answers: &Answers,
) -> Option<Result<Actions, String>> {
    if dependents.is_empty() {
        return None;
    }
    let Some(round) = answers.stage("free") else {
        let freed = dependents.iter().map(|dependent| {
            let Dependent {
                target,
                precondition,
                owners,
            } = dependent;
            with_owners(target, precondition, owners)
        });
        return Some(Ok(Actions::together("free", freed.collect())));
    };
    let clashed = match clashes(dependents, round) {
        Ok(clashed) if clashed.is_empty() => return None,
        Ok(clashed) => clashed,
        Err(error) => return Some(Err(error)),
    };
    let Some(read) = answers.stage("read") else {
        let ask = |dependent: &&Dependent| {
            let uid = dependent.precondition.uid.clone();
            Action::Confirm {
                target: dependent.target.clone(),
                uid: uid.unwrap_or_default(),
            }
        };
        let asks = clashed.iter().map(ask).collect();
        return Some(Ok(Actions::together("read", asks)));
    };
    let bound = match still_bound(object, &clashed, read) {
        Ok(bound) if bound.is_empty() => return None,
        Ok(bound) => bound,
        Err(error) => return Some(Err(error)),
    };
    let Some(round) = answers.stage("free again") else {
        return Some(Ok(Actions::together("free again", bound)));
    };
    let mut errors = round.answers.iter().filter_map(Answer::error);
    let error = errors.find(|error| !error.is_not_found())?;
    Some(Err(error.to_string()))
}

/// The dependents that have changed since they were seen. One that is gone is free as well.
fn clashes<'a>(dependents: &'a [Dependent], round: &Round) -> Result<Vec<&'a Dependent>, String> {
    let mut clashed = Vec::new();
    for (dependent, answer) in dependents.iter().zip(&round.answers) {
        match answer.error() {
            None => {}
            Some(error) if error.is_not_found() || error.is_other_incarnation() => {}
            Some(error) if error.is_conflict() => clashed.push(dependent),
            Some(error) => return Err(error.to_string()),
        }
    }
    Ok(clashed)
}

/// Takes the owner off those that, as the server has them now, still name it.
fn still_bound(object: &Seen, asked: &[&Dependent], read: &Round) -> Result<Vec<Action>, String> {
    let mut bound = Vec::new();
    for (dependent, answer) in asked.iter().zip(&read.answers) {
        let live: Partial = match Live::of(answer) {
            Live::Is(live) => live,
            Live::Gone => continue,
            Live::Unknown => return Err("a dependent could not be read".to_owned()),
        };
        let owners = live.lineage().owners;
        let is_other = dependent.precondition.uid.as_ref() != Some(live.uid());
        if is_other || owners.iter().all(|owner| owner.uid != object.uid) {
            continue;
        }
        let stay = owners.iter().filter(|owner| owner.uid != object.uid);
        let stay: Vec<OwnerReference> = stay.cloned().collect();
        bound.push(with_owners(&dependent.target, &unchanged(&live), &stay));
    }
    Ok(bound)
}

/// Leaves an object with these owners, if it is as it was seen.
pub(super) fn with_owners(
    target: &Target,
    precondition: &Precondition,
    owners: &[OwnerReference],
) -> Action {
    // Null takes the list away; an empty one would stay on some servers.
    let owners = match owners {
        [] => Value::Null,
        owners => json!(owners),
    };
    merge(target, precondition, json!({"ownerReferences": owners}))
}
