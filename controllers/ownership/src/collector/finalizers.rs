//! The two finalizers by which a server asks the collector to act before an object goes.

use flyball_api::{ApiError, Lineage, Object, Text};
use flyball_informer::Brief;
use flyball_plan::{Action, Flow, Pace, Precondition, Report, Step, Target, Write};
use serde_json::{Value, json};

use super::clash::{look_again, unchanged};
use super::observe::Seen;
use super::plan::Sync;
use super::report;

/// Dependents are to be set free first.
pub(super) const ORPHAN: &str = "orphan";

/// Dependents are to be gone first.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// Whether an object has been asked to go and waits for its dependents to be gone.
pub(super) fn waits_for_dependents(seen: &Brief<'_>) -> bool {
    seen.deleting && has(&seen.lineage, FOREGROUND)
}

/// Whether an object has been asked to go and waits for its dependents to be set free.
pub(super) fn waits_for_freedom(seen: &Brief<'_>) -> bool {
    seen.deleting && has(&seen.lineage, ORPHAN)
}

/// The finalizers that hold a terminating object; none of an object that is not terminating.
pub(super) fn held_by<'a>(seen: &Brief<'a>) -> &'a [Text] {
    match seen.deleting {
        true => seen.lineage.finalizers,
        false => &[],
    }
}

fn has(lineage: &Lineage<'_>, finalizer: &str) -> bool {
    lineage.finalizers.iter().any(|one| one == finalizer)
}

/// Takes a finalizer off an object, and rests with this report.
///
/// What waits for its dependents is often written to while they go, so a clash is answered with a
/// look at the object itself and one more try.
pub(super) fn take_off(
    sync: &Sync<'_>,
    finalizer: &str,
    object: &Seen,
    report: Report,
) -> Flow<Step> {
    let round = sync.run("finalize", Pace::InOrder, || {
        let before = object.unchanged();
        vec![without(finalizer, &object.finalizers, object, before)]
    })?;
    let refusal = match round.first_error() {
        Some(error) if error.is_conflict() => error,
        error => return Ok(taken_off(error, report)),
    };
    let live = look_again(sync, object, refusal, &report)?;
    if !has(&live.lineage(), finalizer) {
        return Ok(Step::rest(report::gone_already()));
    }
    let round = sync.run("finalize again", Pace::InOrder, || {
        let finalizers = live.lineage().finalizers;
        vec![without(finalizer, finalizers, object, unchanged(&live))]
    })?;
    Ok(taken_off(round.first_error(), report))
}

fn taken_off(error: Option<&ApiError>, report: Report) -> Step {
    match error {
        None => Step::rest(report),
        Some(error) if error.is_not_found() => Step::rest(report::gone_already()),
        Some(error) => Step::retry(error, report),
    }
}

fn without(finalizer: &str, all: &[Text], object: &Seen, precondition: Precondition) -> Action {
    let rest: Vec<&str> = all
        .iter()
        .map(Text::as_str)
        .filter(|one| *one != finalizer)
        .collect();
    // Null takes the list away; an empty one would stay on some servers.
    let rest = if rest.is_empty() {
        Value::Null
    } else {
        json!(rest)
    };
    merge(&object.target, &precondition, json!({"finalizers": rest}))
}

/// Changes the metadata of an object that is as it was seen.
pub(super) fn merge(target: &Target, precondition: &Precondition, metadata: Value) -> Action {
    let patch = json!({"metadata": metadata});
    Write::merge(target.clone(), precondition.clone(), patch).into()
}
