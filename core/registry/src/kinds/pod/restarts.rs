//! Mistakes in what happens to a container that ends, or whose resources change.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::BTreeSet;

use crate::field_error::{FieldError, Mistake};
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const POLICIES: &[&str] = &["Always", "Never", "OnFailure"];
const ACTIONS: &[&str] = &["Restart", "RestartAllContainers"];
const RULES_MAX: usize = 20;
const EXIT_CODES_MAX: usize = 255;

/// A container's own policy, and the rules that go before it.
pub(super) fn check_policy(container: &Spot, errors: &mut Errors) {
    let (policy, rules) = (
        container.get("restartPolicy"),
        container.get("restartPolicyRules"),
    );
    if !policy.is_set() {
        if rules.is_empty() {
            return;
        }
        errors.push(policy.required("must specify restartPolicy when restart rules are used"));
    }
    checks::one_of_if_set(&policy, POLICIES, errors);
    if rules.items().count() > RULES_MAX {
        errors.push(rules.too_many(RULES_MAX));
    }
    for rule in rules.items() {
        let (action, codes) = (rule.get("action"), rule.get("exitCodes"));
        if !ACTIONS.contains(&action.text()) {
            errors.push(action.not_supported(ACTIONS));
        }
        if !codes.is_set() {
            errors.push(codes.required("must be specified"));
            continue;
        }
        let operator = codes.get("operator");
        if !["In", "NotIn"].contains(&operator.text()) {
            errors.push(operator.not_supported(&["In", "NotIn"]));
        }
        if codes.get("values").items().count() > EXIT_CODES_MAX {
            errors.push(codes.get("values").too_many(EXIT_CODES_MAX));
        }
    }
}

/// What a change of each resource asks for.
pub(super) fn check_resize(policies: &Spot, pod_policy: &str, errors: &mut Errors) {
    let mut resources = BTreeSet::new();
    for policy in policies.items() {
        let (resource, restart) = (policy.get("resourceName"), policy.get("restartPolicy"));
        if !resources.insert(resource.text()) {
            errors.push(FieldError {
                field: policy.path(),
                mistake: Mistake::Duplicate(resource.text().into()),
                detail: String::new(),
            });
        }
        // Upstream tells of all of them as of the list.
        let known: [(&Spot, &[&str]); 2] = [
            (&resource, &["cpu", "memory"]),
            (&restart, &["NotRequired", "RestartContainer"]),
        ];
        for (value, known) in known {
            if value.is_empty() {
                errors.push(policies.required(""));
            } else if !known.contains(&value.text()) {
                errors.push(FieldError::not_supported(
                    policies.path(),
                    value.text(),
                    known,
                ));
            }
        }
        if pod_policy == "Never" && restart.text() != "NotRequired" {
            let why = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.push(FieldError::invalid(policies.path(), restart.text(), why));
        }
    }
}
