//! Mistakes in the rules by which a Job fails or succeeds.
//!
//! Upstream: `pkg/apis/batch/validation/validation.go`.

use std::collections::BTreeSet;

use super::indexes;
use crate::kinds::checks;
use crate::kinds::labels;
use crate::kinds::spot::{Errors, Spot};

const ACTIONS: &[&str] = &["Count", "FailIndex", "FailJob", "Ignore"];
const STATUSES: &[&str] = &["False", "True", "Unknown"];
const RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;
const INDEXES_MAX: usize = 64 << 10;

/// What failures of pods mean for the Job.
pub(super) fn check_failure(spec: &Spot, policy: &Spot, errors: &mut Errors) {
    let rules = policy.get("rules");
    if rules.items().count() > RULES_MAX {
        errors.push(rules.too_many(RULES_MAX));
    }
    let template = spec.get("template");
    let pod = template.get("spec");
    let lists = [pod.get("containers"), pod.get("initContainers")];
    let names: BTreeSet<&str> = lists
        .iter()
        .flat_map(|list| list.items().map(|container| container.get("name").text()))
        .collect();
    for rule in rules.items() {
        let action = rule.get("action");
        match action.text() {
            "" => errors.push(action.required(&valid(ACTIONS))),
            "FailIndex" if !spec.get("backoffLimitPerIndex").is_set() => {
                errors.push(action.invalid("requires the backoffLimitPerIndex to be set"));
            }
            _ => checks::one_of(&action, ACTIONS, errors),
        }
        let (codes, conditions) = (rule.get("onExitCodes"), rule.get("onPodConditions"));
        if codes.is_set() {
            check_exit_codes(&codes, &names, errors);
        }
        check_conditions(&conditions, errors);
        match (codes.is_set(), !conditions.is_empty()) {
            (true, true) => errors.push(rule.invalid_unshown(
                "specifying both OnExitCodes and OnPodConditions is not supported",
            )),
            (false, false) => {
                errors.push(rule.invalid_unshown(
                    "specifying one of OnExitCodes and OnPodConditions is required",
                ))
            }
            _ => {}
        }
    }
}

/// Values as Go shows a list of texts.
fn valid(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("valid values: [{}]", quoted.join(" "))
}

fn check_exit_codes(codes: &Spot, names: &BTreeSet<&str>, errors: &mut Errors) {
    let operator = codes.get("operator");
    match operator.is_empty() {
        true => errors.push(operator.required(&valid(&["In", "NotIn"]))),
        false => checks::one_of(&operator, &["In", "NotIn"], errors),
    }
    let name = codes.get("containerName");
    if name.is_set() && !names.contains(name.text()) {
        errors.push(
            name.invalid("must be one of the container or initContainer names in the pod template"),
        );
    }
    let values = codes.get("values");
    let count = values.items().count();
    if count == 0 {
        errors.push(values.invalid("at least one value is required"));
    } else if count > EXIT_CODES_MAX {
        errors.push(values.too_many(EXIT_CODES_MAX));
    }
    let mut seen = BTreeSet::new();
    let mut last = i64::MIN;
    let mut is_ordered = true;
    for value in values.items() {
        if operator.text() == "In" && value.number() == 0 {
            errors.push(value.invalid("must not be 0 for the In operator"));
        }
        if !seen.insert(value.number()) {
            errors.push(value.duplicate());
        }
        is_ordered &= last <= value.number();
        last = value.number();
    }
    if !is_ordered {
        errors.push(values.invalid("must be ordered"));
    }
}

fn check_conditions(conditions: &Spot, errors: &mut Errors) {
    if conditions.items().count() > RULES_MAX {
        errors.push(conditions.too_many(RULES_MAX));
    }
    for condition in conditions.items() {
        labels::check_qualified_name(&condition.get("type"), errors);
        let status = condition.get("status");
        match status.is_empty() {
            true => errors.push(status.required(&valid(STATUSES))),
            false => checks::one_of(&status, STATUSES, errors),
        }
    }
}

/// Which successes are enough for the Job.
pub(super) fn check_success(spec: &Spot, policy: &Spot, errors: &mut Errors) {
    let rules = policy.get("rules");
    if rules.is_empty() {
        let why = "at least one rules must be specified when the successPolicy is specified";
        errors.push(rules.required(why));
    }
    if rules.items().count() > RULES_MAX {
        errors.push(rules.too_many(RULES_MAX));
    }
    let completions = spec.get("completions").number();
    for rule in rules.items() {
        let (count, named) = (rule.get("succeededCount"), rule.get("succeededIndexes"));
        if !count.is_set() && !named.is_set() {
            let why = "at least one of succeededCount or succeededIndexes must be specified";
            errors.push(rule.required(why));
        }
        let mut total = 0;
        if named.is_set() {
            if named.text().len() > INDEXES_MAX {
                errors.push(named.too_long(INDEXES_MAX));
            }
            match indexes::count(named.text(), completions) {
                Ok(count) => total = count,
                Err(why) => {
                    errors.push(named.invalid(format!("error parsing succeededIndexes: {why}")));
                }
            }
        }
        checks::not_negative(&count, errors);
        let most = [
            (true, completions, "completions"),
            (
                named.is_set(),
                total,
                "indexes in the specified succeededIndexes field",
            ),
        ];
        for (counts, most, of) in most {
            let of = match of {
                "completions" => "specified completions",
                other => other,
            };
            if counts && count.int().is_some_and(|count| count > most) {
                let why = format!("must be less than or equal to {most} (the number of {of})");
                errors.push(count.invalid(why));
            }
        }
    }
}
