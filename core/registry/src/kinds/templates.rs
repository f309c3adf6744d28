//! Pod templates inside workloads, and the selectors that must fit them.
//!
//! Upstream: `pkg/apis/apps/validation/validation.go`, `pkg/apis/core/validation/validation.go`.

use flyball_api::Selector;
use serde_json::Value;

use super::labels;
use super::pod;
use super::spot::{Errors, Spot};

/// The template itself.
pub(super) fn check(template: &Spot, errors: &mut Errors) {
    let value = template.value();
    let spec = template.get("spec");
    let meta = &value["metadata"];
    labels::check_labels(&template.told_as("labels", &meta["labels"]), errors);
    let annotations = template.told_as("annotations", &meta["annotations"]);
    labels::check_annotations(&annotations, errors);
    pod::check_annotations(&annotations, &spec, errors);
    pod::check_spec(&spec, None, None, errors);
    pod::check_profiles(&meta["annotations"], &spec, errors);
    let debuggers = spec.get("ephemeralContainers");
    if !debuggers.is_empty() {
        errors.push(debuggers.forbidden("ephemeral containers not allowed in pod template"));
    }
}

/// The template must have the labels that its owner selects.
pub(super) fn check_selected(template: &Spot, selector: &Selector, errors: &mut Errors) {
    let meta = template.get("metadata");
    let spot = meta.get("labels");
    if !selector.is_empty() && !labels::accepts(selector, spot.value()) {
        errors.push(spot.invalid("`selector` does not match template `labels`"));
    }
}

/// Pods of this owner run until they are deleted.
pub(super) fn check_runs_forever(template: &Spot, owner: &str, errors: &mut Errors) {
    let spec = template.get("spec");
    let policy = spec.get("restartPolicy");
    if policy.text() != "Always" {
        errors.push(policy.not_supported(&["Always"]));
    }
    let deadline = spec.get("activeDeadlineSeconds");
    if deadline.is_set() {
        errors
            .push(deadline.forbidden(format!("activeDeadlineSeconds in {owner} is not Supported")));
    }
}

/// A selector that must select something, and the template that it must fit.
pub(super) fn check_with_selector(spec: &Spot, owner: &str, empty: &str, errors: &mut Errors) {
    let selector = spec.get("selector");
    if selector.is_set() {
        labels::check_selector(&selector, errors);
        if is_empty_selector(selector.value()) {
            errors.push(selector.invalid(format!("empty selector is invalid for {empty}")));
        }
    }
    let template = spec.get("template");
    match labels::compiled(selector.value()) {
        Some(compiled) => {
            check_selected(&template, &compiled, errors);
            check(&template, errors);
            check_runs_forever(&template, owner, errors);
        }
        None => errors.push(selector.invalid("invalid label selector")),
    }
}

/// Whether a selector selects everything, by saying nothing.
pub(super) fn is_empty_selector(selector: &Value) -> bool {
    let is_empty = |part: &Value| {
        part.as_object().is_none_or(|map| map.is_empty())
            && part.as_array().is_none_or(|list| list.is_empty())
    };
    is_empty(&selector["matchLabels"]) && is_empty(&selector["matchExpressions"])
}
