//! Selectors in a question about a list: checked, and passed over by roles, which know none.
//!
//! Upstream: `pkg/apis/authorization/validation`, `pkg/registry/authorization/util/helpers.go`.

use flyball_api::Selector;
use flyball_api::selector::FieldSelector;
use serde_json::Value;

use crate::field_error::FieldError;
use crate::kinds::labels::{key_mistakes, value_mistakes};

const PLACE: &str = "spec.resourceAttributes";

/// What is wrong with the selectors of a question.
pub(super) fn mistakes(resource: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for name in ["fieldSelector", "labelSelector"] {
        let selector = &resource[name];
        if !selector.is_object() {
            continue;
        }
        let place = format!("{PLACE}.{name}");
        let raw = raw(selector);
        let requirements = requirements(selector);
        if !raw.is_empty() && !requirements.is_empty() {
            let why = "may not specified at the same time as requirements";
            errors.push(FieldError::invalid(
                format!("{place}.rawSelector"),
                raw,
                why,
            ));
        }
        if raw.is_empty() && requirements.is_empty() {
            let why = format!("when {place} is specified, requirements or rawSelector is required");
            errors.push(FieldError::required(format!("{place}.requirements"), why));
        }
        for (at, one) in requirements.iter().enumerate() {
            let place = format!("{place}.requirements[{at}]");
            match name {
                "fieldSelector" => on_field(one, &place, &mut errors),
                _ => on_label(one, &place, &mut errors),
            }
        }
    }
    errors
}

fn on_field(one: &Value, place: &str, errors: &mut Vec<FieldError>) {
    if key(one).is_empty() {
        errors.push(FieldError::required(
            format!("{place}.key"),
            "must be specified",
        ));
    }
    values_fit(one, place, errors);
}

fn on_label(one: &Value, place: &str, errors: &mut Vec<FieldError>) {
    values_fit(one, place, errors);
    for why in key_mistakes(key(one)) {
        errors.push(FieldError::invalid(format!("{place}.key"), key(one), why));
    }
    for (at, value) in values(one).into_iter().enumerate() {
        for why in value_mistakes(value) {
            errors.push(FieldError::invalid(
                format!("{place}.values[{at}]"),
                value,
                why,
            ));
        }
    }
}

/// Operators that are not known here may be known to whoever sent them: they pass.
fn values_fit(one: &Value, place: &str, errors: &mut Vec<FieldError>) {
    let (operator, values) = (operator(one), values(one));
    if matches!(operator, "In" | "NotIn") && values.is_empty() {
        let why = "must be specified when `operator` is 'In' or 'NotIn'";
        errors.push(FieldError::required(format!("{place}.values"), why));
    }
    if matches!(operator, "Exists" | "DoesNotExist") && !values.is_empty() {
        let why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.push(FieldError::forbidden(format!("{place}.values"), why));
    }
}

/// What to say of selectors that could not be understood, all or in part.
pub(super) fn ignored(resource: &Value) -> Vec<String> {
    let mut told = Vec::new();
    for name in ["fieldSelector", "labelSelector"] {
        let selector = &resource[name];
        let (raw, requirements) = (raw(selector), requirements(selector));
        let is_field = name == "fieldSelector";
        let understood = requirements.iter().filter(|one| match is_field {
            true => matches!(operator(one), "In" | "NotIn") && values(one).len() == 1,
            false => matches!(operator(one), "In" | "NotIn" | "Exists" | "DoesNotExist"),
        });
        let understood = understood.count();
        let unreadable = !raw.is_empty()
            && match is_field {
                true => FieldSelector::parse(raw).is_err(),
                false => Selector::parse(raw).is_err(),
            };
        if unreadable || (understood == 0 && !requirements.is_empty()) {
            told.push(format!("{PLACE}.{name} ignored due to parse error"));
        } else if understood < requirements.len() {
            told.push(format!(
                "{PLACE}.{name} partially ignored due to parse error"
            ));
        }
    }
    told
}

fn raw(selector: &Value) -> &str {
    selector["rawSelector"].as_str().unwrap_or_default()
}

fn requirements(selector: &Value) -> &[Value] {
    selector["requirements"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
}

fn key(requirement: &Value) -> &str {
    requirement["key"].as_str().unwrap_or_default()
}

fn operator(requirement: &Value) -> &str {
    requirement["operator"].as_str().unwrap_or_default()
}

fn values(requirement: &Value) -> Vec<&str> {
    let all = requirement["values"].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}
