//! Setting dependents free before their owner goes.
//!
//! Upstream, `garbagecollector.go`, `attemptToOrphanWorker`.

use std::time::Duration;

use flyball_api::views::Partial;
use flyball_api::{Object, OwnerReference};
use flyball_plan::{Action, Failure, Flow, Pace, Precondition, Read, Round, Step, Target};
use serde_json::{Value, json};

use super::clash::{Live, unchanged};
use super::finalizers::{ORPHAN, merge, take_off};
use super::observe::{Dependent, Seen};
use super::plan::Sync;
use super::report;
use super::waiting::unlisted;

/// Takes the owner off its dependents, then the finalizer off the owner.
///
/// Dependents live on while this happens, and are written to: those with which it clashes are read
/// and tried once more.
pub(super) fn free(
    sync: &Sync<'_>,
    object: &Seen,
    dependents: &[Dependent],
    more: bool,
) -> Flow<Step> {
    let report = || report::freeing(dependents.len());
    if let Err(error) = set_free(sync, object, dependents)? {
        return Ok(Step::retry(error, report()));
    }
    if more {
        return Ok(Step::rest_for(Duration::ZERO, report()));
    }
    if let Some(wait) = unlisted(object) {
        return Ok(wait);
    }
    take_off(sync, ORPHAN, object, report::freed())
}

/// Sets all these dependents free; what stands in the way, if something does.
fn set_free(sync: &Sync<'_>, object: &Seen, dependents: &[Dependent]) -> Flow<Result<(), Failure>> {
    let freed = sync.run_some("free", Pace::Together, || {
        let free = |one: &Dependent| with_owners(&one.target, &one.precondition, &one.owners);
        dependents.iter().map(free).collect()
    })?;
    let clashed = match freed.map(|round| clashes(dependents, round)) {
        None => return Ok(Ok(())),
        Some(Ok(clashed)) => clashed,
        Some(Err(error)) => return Ok(Err(error)),
    };
    let read = sync.run_some("read", Pace::Together, || {
        let ask = |dependent: &&Dependent| {
            let uid = dependent.precondition.uid.clone();
            Read::exists(dependent.target.clone(), uid.unwrap_or_default()).into()
        };
        clashed.iter().map(ask).collect()
    })?;
    let bound = match read.map(|round| still_bound(object, &clashed, round)) {
        None => return Ok(Ok(())),
        Some(Ok(bound)) => bound,
        Some(Err(error)) => return Ok(Err(error)),
    };
    let round = sync.run_some("free again", Pace::Together, || bound)?;
    let mut errors = round.iter().flat_map(|round| round.answers.iter());
    let error = errors.find_map(|it| it.error().filter(|error| !error.is_object_not_found()));
    Ok(error.map_or(Ok(()), |error| Err(error.into())))
}

/// The dependents that have changed since they were seen. One that is gone is free as well; a 404
/// that names no object says only that this version of the kind is not served any more.
fn clashes<'a>(dependents: &'a [Dependent], round: &Round) -> Result<Vec<&'a Dependent>, Failure> {
    let mut clashed = Vec::new();
    for (dependent, answer) in dependents.iter().zip(&round.answers) {
        match answer.error() {
            None => {}
            Some(error) if error.is_object_not_found() || error.is_other_incarnation() => {}
            Some(error) if error.is_conflict() => clashed.push(dependent),
            Some(error) => return Err(error.into()),
        }
    }
    Ok(clashed)
}

/// Takes the owner off those that, as the server has them now, still name it.
fn still_bound(object: &Seen, asked: &[&Dependent], read: &Round) -> Result<Vec<Action>, Failure> {
    let mut bound = Vec::new();
    for (dependent, answer) in asked.iter().zip(&read.answers) {
        let live: Partial = match Live::of(answer) {
            Live::Is(live) => live,
            Live::Gone => continue,
            Live::Unknown => return Err("a dependent could not be read".into()),
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
