//! Webhooks that are asked before objects are stored: what their configurations may say.
//!
//! Upstream: `pkg/apis/admissionregistration/{v1/defaults.go,validation/validation.go}`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::NameRule;
use super::checks::{self, same};
use super::definition::conversion;
use super::fill::Fill::{Empty, Int, OptionalText};
use super::fill::{Line, fill_each};
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Object, at};

const WEBHOOK: &[Line] = &[
    ("clientConfig", Empty),
    ("clientConfig.service.port", Int(443)),
    ("failurePolicy", OptionalText("Fail")),
    ("matchPolicy", OptionalText("Equivalent")),
    ("namespaceSelector", Empty),
    ("objectSelector", Empty),
    ("timeoutSeconds", Int(10)),
    ("rules[].scope", OptionalText("*")),
];
const OPERATIONS: &[&str] = &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
pub(super) const FAILURE_POLICIES: &[&str] = &["Fail", "Ignore"];
pub(super) const MATCH_POLICIES: &[&str] = &["Equivalent", "Exact"];
const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];
pub(super) const REINVOCATION_POLICIES: &[&str] = &["IfNeeded", "Never"];
const CONDITIONS_MAX: usize = 64;

pub(super) static VALIDATING_WEBHOOKS: Sheet = Sheet {
    default: |object| fill_each(object, "webhooks[]", WEBHOOK),
    generation: &["webhooks"],
    counts_empty: "webhooks",
    check: |object, errors| check(object, None, errors),
    check_whole_update: Some(|new, old, errors| check(new, Some(old), errors)),
    ..Sheet::PLAIN
};

pub(super) static MUTATING_WEBHOOKS: Sheet = Sheet {
    default: |object| {
        fill_each(object, "webhooks[]", WEBHOOK);
        fill_each(
            object,
            "webhooks[]",
            &[("reinvocationPolicy", OptionalText("Never"))],
        );
    },
    ..VALIDATING_WEBHOOKS
};

fn check(object: &Object, old: Option<&Object>, errors: &mut Errors) {
    let webhooks = Spot::of(object, "webhooks");
    let conditions = |object: &Object| -> Vec<Value> {
        let all = at(object, "webhooks").as_array().into_iter().flatten();
        all.map(|hook| hook["matchConditions"].clone()).collect()
    };
    // Conditions that stay as they are have been looked at before.
    let checks_conditions =
        old.is_none_or(|old| !same(&conditions(object).into(), &conditions(old).into()));
    let mut seen = BTreeSet::new();
    for webhook in webhooks.items() {
        check_one(&webhook, checks_conditions, errors);
        let versions = webhook.get("admissionReviewVersions");
        let missing = "must specify one of v1, v1beta1";
        conversion::check_reviews(versions.value(), &versions.path(), missing, errors);
        let name = webhook.get("name");
        if !name.is_empty() && !seen.insert(name.text()) {
            errors.push(name.duplicate());
        }
    }
}

fn check_one(webhook: &Spot, checks_conditions: bool, errors: &mut Errors) {
    check_full_name(&webhook.get("name"), errors);
    let rules = webhook.get("rules");
    rules.items().for_each(|rule| check_rule(&rule, errors));
    checks::one_of_if_set(&webhook.get("failurePolicy"), FAILURE_POLICIES, errors);
    checks::one_of_if_set(&webhook.get("matchPolicy"), MATCH_POLICIES, errors);
    let effects = webhook.get("sideEffects");
    match effects.is_set() {
        false => errors.push(effects.required("must specify one of None, NoneOnDryRun")),
        true => checks::one_of_if_set(&effects, SIDE_EFFECTS, errors),
    }
    let timeout = webhook.get("timeoutSeconds");
    if timeout
        .int()
        .is_some_and(|seconds| !(1..=30).contains(&seconds))
    {
        errors.push(timeout.invalid("the timeout value must be between 1 and 30 seconds"));
    }
    labels::check_selector(&webhook.get("namespaceSelector"), errors);
    labels::check_selector(&webhook.get("objectSelector"), errors);
    let again = webhook.get("reinvocationPolicy");
    checks::one_of_if_set(&again, REINVOCATION_POLICIES, errors);
    check_client(&webhook.get("clientConfig"), errors);
    if checks_conditions {
        check_conditions(&webhook.get("matchConditions"), errors);
    }
}

fn check_client(client: &Spot, errors: &mut Errors) {
    let (url, service) = (client.get("url"), client.get("service"));
    match (url.is_set(), service.is_set()) {
        (true, false) => conversion::check_url(url.text(), &url.path(), errors),
        (false, true) => {
            // Upstream takes the two names for each other.
            let mut told = service.value().clone();
            told["name"] = service.value()["namespace"].clone();
            told["namespace"] = service.value()["name"].clone();
            conversion::check_service(&told, &service.path(), errors);
        }
        _ => errors.push(client.required("exactly one of url or service is required")),
    }
}

/// A domain of at least three labels.
fn check_full_name(name: &Spot, errors: &mut Errors) {
    if !checks::required(name, errors) {
        return;
    }
    let wrong = names::mistakes(NameRule::Subdomain, name.text(), false);
    if !wrong.is_empty() {
        errors.push(name.invalid(wrong.join(",")));
    } else if name.text().split('.').count() < 3 {
        errors.push(
            name.invalid("should be a domain with at least three segments separated by dots"),
        );
    }
}

/// What requests a webhook or a policy is about.
pub(super) fn check_rule(rule: &Spot, errors: &mut Errors) {
    let has_star =
        |list: &Spot| list.items().count() > 1 && list.items().any(|item| item.text() == "*");
    let operations = rule.get("operations");
    checks::required(&operations, errors);
    if has_star(&operations) {
        errors.push(operations.invalid("if '*' is present, must not specify other operations"));
    }
    for operation in operations.items() {
        checks::one_of_if_set(&operation, OPERATIONS, errors);
    }
    let groups = rule.get("apiGroups");
    checks::required(&groups, errors);
    if has_star(&groups) {
        errors.push(groups.invalid("if '*' is present, must not specify other API groups"));
    }
    let versions = rule.get("apiVersions");
    checks::required(&versions, errors);
    if has_star(&versions) {
        errors.push(versions.invalid("if '*' is present, must not specify other API versions"));
    }
    for version in versions.items() {
        checks::required(&version, errors);
    }
    check_resources(&rule.get("resources"), errors);
    checks::one_of_if_set(&rule.get("scope"), &["*", "Cluster", "Namespaced"], errors);
}

fn check_resources(resources: &Spot, errors: &mut Errors) {
    checks::required(resources, errors);
    let (mut of_any_part, mut of_any_resource) = (BTreeSet::new(), BTreeSet::new());
    let (mut everything, mut every_resource, mut is_bare) = (false, false, false);
    for resource in resources.items() {
        let text = resource.text();
        if !checks::required(&resource, errors) {
            continue;
        }
        everything |= text == "*/*";
        every_resource |= text == "*";
        let Some((name, part)) = text.split_once('/') else {
            is_bare = text != "*";
            continue;
        };
        if of_any_part.contains(name) {
            let why = format!("if '{name}/*' is present, must not specify {text}");
            errors.push(resource.invalid(why));
        }
        if of_any_resource.contains(part) {
            let why = format!("if '*/{part}' is present, must not specify {text}");
            errors.push(resource.invalid(why));
        }
        if part == "*" {
            of_any_part.insert(name);
        }
        if name == "*" {
            of_any_resource.insert(part);
        }
    }
    if everything && resources.items().count() > 1 {
        errors.push(resources.invalid("if '*/*' is present, must not specify other resources"));
    }
    if every_resource && is_bare {
        let why = "if '*' is present, must not specify other resources without subresources";
        errors.push(resources.invalid(why));
    }
}

/// Conditions under which a webhook or a policy is asked. Their expressions are not compiled.
pub(super) fn check_conditions(conditions: &Spot, errors: &mut Errors) {
    if conditions.items().count() > CONDITIONS_MAX {
        errors.push(conditions.too_many(CONDITIONS_MAX));
    }
    let mut seen = BTreeSet::new();
    for condition in conditions.items() {
        let (name, expression) = (condition.get("name"), condition.get("expression"));
        if expression.text().trim().is_empty() {
            errors.push(FieldError::required(expression.path(), ""));
        }
        if checks::required(&name, errors) {
            labels::check_qualified_name(&name, errors);
            if !seen.insert(name.text()) {
                errors.push(name.duplicate());
            }
        }
    }
}
