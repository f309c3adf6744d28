//! Mistakes in what is reported of a Job.
//!
//! Upstream: `validateJobStatus` and `ValidateJobStatusUpdate` in `pkg/apis/batch/validation/validation.go`,
//! `getStatusValidationOptions` in `pkg/registry/batch/job/strategy.go`.

use std::collections::BTreeSet;

use flyball_api::Timestamp;
use serde_json::Value;

use super::indexes;
use crate::kinds::checks::{self, same};
use crate::kinds::spot::{Errors, Spot};
use crate::object::{Object, at};

/// Whether a condition holds.
pub(super) fn is_true(job: &Object, kind: &str) -> bool {
    let all = at(job, "status.conditions")
        .as_array()
        .into_iter()
        .flatten();
    all.into_iter()
        .any(|one| one["type"] == kind && one["status"] == "True")
}

/// What is the same in two versions of a Job need not be right.
struct Change<'a> {
    new: &'a Object,
    old: &'a Object,
}

impl Change<'_> {
    fn of(&self, field: &str) -> bool {
        let path = format!("status.{field}");
        let number = |value: &Value| value.as_i64().unwrap_or(0);
        let (new, old) = (at(self.new, &path), at(self.old, &path));
        match field {
            "active" => number(new) != number(old),
            _ => !same(new, old),
        }
    }

    fn of_condition(&self, kinds: &[&str]) -> bool {
        let any = |job: &Object| kinds.iter().any(|kind| is_true(job, kind));
        any(self.new) != any(self.old)
    }
}

/// The mistakes in an update of the status.
pub(super) fn check(new: &Object, old: &Object, errors: &mut Errors) {
    let status = Spot::of(new, "status");
    for field in ["active", "succeeded", "failed", "ready", "terminating"] {
        checks::not_negative(&status.get(field), errors);
    }
    check_uncounted(&status.get("uncountedTerminatedPods"), errors);
    let change = Change { new, old };
    check_times(&status, &change, errors);
    check_finished(&status, &change, errors);
    check_indexes(&status, &change, errors);
    check_counts(&status, &change, errors);
    check_success(&status, &change, errors);
    check_kept(&status, &change, errors);
}

fn check_uncounted(pods: &Spot, errors: &mut Errors) {
    let mut seen = BTreeSet::new();
    for list in [pods.get("succeeded"), pods.get("failed")] {
        for pod in list.items() {
            if pod.is_empty() {
                errors.push(pod.invalid("must not be empty"));
            } else if !seen.insert(pod.text()) {
                errors.push(pod.duplicate());
            }
        }
    }
}

fn check_times(status: &Spot, change: &Change, errors: &mut Errors) {
    let new = change.new;
    let conditions = status.get("conditions");
    let (started, completed) = (status.get("startTime"), status.get("completionTime"));
    let is_complete = is_true(new, "Complete");
    let complete_changed = change.of_condition(&["Complete"]);
    if (complete_changed || change.of_condition(&["Failed"]))
        && is_complete
        && is_true(new, "Failed")
    {
        errors.push(
            conditions.invalid_unshown("cannot set Complete=True and Failed=true conditions"),
        );
    }
    if (complete_changed || change.of_condition(&["FailureTarget"]))
        && is_complete
        && is_true(new, "FailureTarget")
    {
        let why = "cannot set Complete=True and FailureTarget=true conditions";
        errors.push(conditions.invalid_unshown(why));
    }
    let time_changed = change.of("completionTime");
    if (complete_changed || time_changed) && completed.is_set() && !is_complete {
        let why = "cannot set completionTime when there is no Complete=True condition";
        errors.push(completed.invalid(why));
    }
    if (complete_changed || time_changed) && !completed.is_set() && is_complete {
        errors.push(completed.required("completionTime is required for Complete jobs"));
    }
    let moment = |spot: &Spot| spot.text().parse::<Timestamp>().ok();
    if (change.of("startTime") || time_changed)
        && moment(&completed)
            .zip(moment(&started))
            .is_some_and(|(end, start)| end < start)
    {
        errors.push(completed.invalid("must be equal to or after `startTime`"));
    }
}

fn check_finished(status: &Spot, change: &Change, errors: &mut Errors) {
    let new = change.new;
    let conditions = status.get("conditions");
    if (change.of_condition(&["Failed"]) || change.of("failedIndexes"))
        && is_true(new, "Failed")
        && !is_true(new, "FailureTarget")
    {
        let why = "cannot set Failed=True condition without the FailureTarget=true condition";
        errors.push(conditions.invalid_unshown(why));
    }
    if (change.of_condition(&["Complete"]) || change.of_condition(&["SuccessCriteriaMet"]))
        && is_true(new, "Complete")
        && !is_true(new, "SuccessCriteriaMet")
    {
        let why =
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition";
        errors.push(conditions.invalid_unshown(why));
    }
    let is_finished = is_true(new, "Complete") || is_true(new, "Failed");
    let finished_changed = change.of_condition(&["Complete", "Failed"]);
    let active = status.get("active");
    if (finished_changed || change.of("active")) && active.number() > 0 && is_finished {
        errors.push(active.invalid("active>0 is invalid for finished job"));
    }
    let never_runs =
        at(new, "spec.suspend") == &Value::Bool(true) && at(new, "spec.completions") == 0;
    let started = status.get("startTime");
    if (finished_changed || change.of("startTime"))
        && !never_runs
        && !started.is_set()
        && is_finished
    {
        errors.push(started.required("startTime is required for finished job"));
    }
    let pods = status.get("uncountedTerminatedPods");
    let counts = ["succeeded", "failed"].map(|field| pods.get(field));
    if (finished_changed || change.of("uncountedTerminatedPods"))
        && is_finished
        && counts.iter().any(|list| !list.is_empty())
    {
        errors.push(pods.invalid("must be empty for finished job"));
    }
}

fn check_indexes(status: &Spot, change: &Change, errors: &mut Errors) {
    let spec = |field: &str| at(change.new, &format!("spec.{field}")).clone();
    let completions = spec("completions").as_i64();
    let has_limit = !spec("backoffLimitPerIndex").is_null();
    let (done, failed) = (status.get("completedIndexes"), status.get("failedIndexes"));
    let (done_changed, failed_changed) =
        (change.of("completedIndexes"), change.of("failedIndexes"));
    let check = |spot: &Spot, field: &str, errors: &mut Errors| {
        let wrong = completions.and_then(|most| indexes::count(spot.text(), most).err());
        if let Some(why) = wrong {
            errors.push(spot.invalid(format!("error parsing {field}: {why}")));
        }
    };
    if done_changed {
        check(&done, "completedIndexes", errors);
    }
    if failed_changed && has_limit && failed.is_set() {
        check(&failed, "failedIndexes", errors);
    }
    if done_changed && !done.is_empty() && spec("completionMode") != "Indexed" {
        let why = "cannot set non-empty completedIndexes when non-indexed completion mode";
        errors.push(done.invalid(why));
    }
    if failed_changed && !has_limit && failed.is_set() {
        let why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null";
        errors.push(failed.invalid(why));
    }
    let both = completions.filter(|_| failed.is_set() && (done_changed || failed_changed));
    if let Some(index) = both.and_then(|most| indexes::overlap(done.text(), failed.text(), most)) {
        let why = format!("failedIndexes and completedIndexes overlap at index: {index}");
        errors.push(failed.invalid(why));
    }
}

fn check_counts(status: &Spot, change: &Change, errors: &mut Errors) {
    let new = change.new;
    let is_finished = is_true(new, "Complete") || is_true(new, "Failed");
    let finished_changed = change.of_condition(&["Complete", "Failed"]);
    let (stopping, ready) = (status.get("terminating"), status.get("ready"));
    if (finished_changed || change.of("terminating")) && stopping.number() > 0 && is_finished {
        errors.push(stopping.invalid("terminating>0 is invalid for finished job"));
    }
    if (change.of("ready") || change.of("active"))
        && ready.is_set()
        && ready.number() > status.get("active").number()
    {
        errors.push(ready.invalid("cannot set more ready pods than active"));
    }
}

fn check_success(status: &Spot, change: &Change, errors: &mut Errors) {
    let (new, conditions) = (change.new, status.get("conditions"));
    let is_met = is_true(new, "SuccessCriteriaMet");
    for (other, told) in [("Failed", "Failed"), ("FailureTarget", "FailureTarget")] {
        if is_met && is_true(new, other) {
            let why = format!("cannot set SuccessCriteriaMet=True and {told}=true conditions");
            errors.push(conditions.invalid_unshown(why));
        }
    }
    if !at(new, "spec.successPolicy").is_null() && !is_met && is_true(new, "Complete") {
        let why =
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True";
        errors.push(conditions.invalid_unshown(why));
    }
}

/// What has been reported for good stays.
fn check_kept(status: &Spot, change: &Change, errors: &mut Errors) {
    let (new, old, conditions) = (change.new, change.old, status.get("conditions"));
    for kind in ["Failed", "Complete", "FailureTarget"] {
        if is_true(old, kind) && !is_true(new, kind) {
            let why = format!("cannot disable the terminal {kind}=True condition");
            errors.push(conditions.invalid_unshown(why));
        }
    }
    let scales = at(new, "spec.completionMode") == "Indexed"
        && at(new, "spec.completions") == at(new, "spec.parallelism");
    for (field, counts) in [("failed", true), ("succeeded", !scales)] {
        let before = at(old, &format!("status.{field}")).as_i64().unwrap_or(0);
        if counts && status.get(field).number() < before {
            let why = format!("cannot decrease the {field} counter");
            errors.push(status.get(field).invalid_number(why));
        }
    }
    let completed = status.get("completionTime");
    let before = at(old, "status.completionTime");
    if completed.is_set() && !before.is_null() && completed.value() != before {
        errors.push(completed.invalid("field is immutable"));
    }
    let (started, before) = (status.get("startTime"), at(old, "status.startTime"));
    let is_suspended = |job: &Object, status: &str| {
        let all = at(job, "status.conditions")
            .as_array()
            .into_iter()
            .flatten();
        all.into_iter()
            .any(|one| one["type"] == "Suspended" && one["status"] == status)
    };
    let resumes = is_suspended(old, "True") && is_suspended(new, "False");
    if !before.is_null()
        && started.value() != before
        && !resumes
        && at(new, "spec.suspend") != &Value::Bool(true)
    {
        errors.push(started.invalid("field is immutable for unsuspended job once set"));
    }
    let met = "SuccessCriteriaMet";
    if is_true(old, met) && !is_true(new, met) {
        let why = "cannot disable the SuccessCriteriaMet=True condition";
        errors.push(conditions.invalid_unshown(why));
    }
    if is_true(old, "Complete") && !is_true(old, met) && is_true(new, met) {
        let why = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions";
        errors.push(conditions.invalid_unshown(why));
    }
}
