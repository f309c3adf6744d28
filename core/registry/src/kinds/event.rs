//! Events, which two groups serve as one kind.
//!
//! Upstream: `pkg/apis/core/validation/events.go`, `pkg/registry/core/event/strategy.go`.

use serde_json::Value;

use super::NameRule;
use super::checks;
use super::fill::Fill::{By, Empty, OptionalText};
use super::fill::Line;
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};

const LENGTH_MAX: usize = 128;
const NOTE_MAX: usize = 1024;

pub(super) static CORE: Sheet = Sheet {
    defaults: &[
        ("eventTime", By(|_| Some(Value::Null))),
        ("firstTimestamp", By(|_| Some(Value::Null))),
        ("involvedObject", Empty),
        ("lastTimestamp", By(|_| Some(Value::Null))),
        ("reportingComponent", OptionalText("")),
        ("reportingInstance", OptionalText("")),
        ("source", Empty),
    ],
    check: |event, errors| {
        check(
            event,
            "involvedObject",
            "reportingComponent",
            "message",
            errors,
        )
    },
    fields: &[
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ],
    // Events of old are named after objects of any kind, whatever those are called.
    names: NameRule::PathSegment,
    creates_on_update: true,
    ..Sheet::PLAIN
};

const EVENTS_DEFAULTS: &[Line] = &[
    ("eventTime", By(|_| Some(Value::Null))),
    ("deprecatedFirstTimestamp", By(|_| Some(Value::Null))),
    ("deprecatedLastTimestamp", By(|_| Some(Value::Null))),
    ("deprecatedSource", Empty),
    ("regarding", Empty),
];

pub(super) static EVENTS: Sheet = Sheet {
    defaults: EVENTS_DEFAULTS,
    check: |event, errors| {
        check(event, "regarding", "reportingController", "note", errors);
    },
    check_create: |event, errors| {
        check_series(event, errors);
        if at(event, "eventTime").is_null() {
            errors.push(FieldError::required("eventTime", ""));
        }
        let kind = at(event, "type").as_str().unwrap_or_default();
        if !matches!(kind, "Normal" | "Warning") {
            let why = format!("has invalid value: {kind}");
            errors.push(FieldError::invalid("type", "", why));
        }
        for (field, told) in [
            ("deprecatedFirstTimestamp", "firstTimestamp"),
            ("deprecatedLastTimestamp", "lastTimestamp"),
            ("deprecatedCount", "count"),
        ] {
            let value = at(event, field);
            if value != 0 && !checks::same(value, &Value::Null) {
                errors.push(FieldError::invalid(told, "", "needs to be unset"));
            }
        }
        let source = at(event, "deprecatedSource");
        let is_given = |field: &str| source[field].as_str().is_some_and(|text| !text.is_empty());
        if is_given("component") || is_given("host") {
            errors.push(FieldError::invalid("source", "", "needs to be unset"));
        }
    },
    check_update: check_kept,
    fields: &[
        "regarding.kind",
        "regarding.namespace",
        "regarding.name",
        "regarding.uid",
        "regarding.apiVersion",
        "regarding.resourceVersion",
        "regarding.fieldPath",
        "reason",
        "reportingController",
        "type",
    ],
    names: NameRule::Subdomain,
    ..CORE
};

/// A series has at least two events, and a last one.
fn check_series(event: &Object, errors: &mut Errors) {
    let series = at(event, "series");
    if series.is_null() {
        return;
    }
    if series["count"].as_i64().unwrap_or_default() < 2 {
        errors.push(FieldError::invalid(
            "series.count",
            "",
            "should be at least 2",
        ));
    }
    if series["lastObservedTime"].is_null() {
        errors.push(FieldError::required("series.lastObservedTime", ""));
    }
}

/// What an update may not change, with the names by which upstream tells of it.
const KEPT: [(&str, &str); 14] = [
    ("regarding", "involvedObject"),
    ("reason", "reason"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// Only the series of an event goes on.
fn check_kept(new: &Object, old: &Object, errors: &mut Errors) {
    if at(new, "series") != at(old, "series") {
        check_series(new, errors);
    }
    for (field, told) in KEPT {
        if !checks::same(at(new, field), at(old, field)) {
            let is_text = at(old, field).is_string() && !told.ends_with("Time");
            let value = match at(new, field) {
                Value::Null if is_text => "".into(),
                value => value.clone(),
            };
            errors.push(FieldError::invalid(told, value, "field is immutable"));
        }
    }
}

fn check(
    event: &Object,
    regarding: &'static str,
    controller: &'static str,
    note: &'static str,
    errors: &mut Errors,
) {
    let own = event.namespace();
    let other = at(event, regarding)["namespace"]
        .as_str()
        .unwrap_or_default();
    let is_new = !at(event, "eventTime").is_null();
    let agrees = match (is_new, other.is_empty()) {
        (false, true) => matches!(own, "" | "default"),
        (false, false) => own == other,
        (true, true) => matches!(own, "default" | "kube-system"),
        (true, false) => true,
    };
    if !agrees {
        // Both groups are told the name of the older one.
        errors.push(FieldError::invalid(
            "involvedObject.namespace",
            other,
            "does not match event.namespace",
        ));
    }
    if !is_new {
        return;
    }
    let reporter = Spot::of(event, controller);
    if reporter.is_empty() {
        errors.push(reporter.required(""));
    }
    for why in labels::key_mistakes(reporter.text()) {
        errors.push(FieldError::invalid(reporter.path(), reporter.text(), why));
    }
    for (field, max, is_required) in [
        ("reportingInstance", LENGTH_MAX, true),
        ("action", LENGTH_MAX, true),
        ("reason", LENGTH_MAX, true),
        (note, NOTE_MAX, false),
    ] {
        let text = Spot::of(event, field);
        if is_required && text.is_empty() {
            errors.push(text.required(""));
        }
        if text.text().len() > max {
            let why = format!("can have at most {max} characters");
            // Both groups are told the name of the older one.
            let told = if field == note { "message" } else { field };
            errors.push(FieldError::invalid(told, "", why));
        }
    }
}
