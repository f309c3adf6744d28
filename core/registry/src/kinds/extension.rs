//! What extends the API itself: APIServices.
//!
//! Upstream: `kube-aggregator/pkg/apis/apiregistration/{v1/defaults.go,validation/validation.go}`.

use serde_json::json;

use super::NameRule;
use super::checks;
use super::fill::Fill::{Empty, Int};
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::meta::stamp;
use crate::object::{Object, at};

pub(super) static API_SERVICE: Sheet = Sheet {
    defaults: &[("spec", Empty), ("spec.service.port", Int(443))],
    fresh_status: true,
    create: |service, now| {
        // What this server answers itself is available as long as it answers.
        if at(service, "spec.service").is_null() {
            let available = json!({
                "type": "Available",
                "status": "True",
                "lastTransitionTime": stamp(now),
                "reason": "Local",
                "message": "Local APIServices are always available",
            });
            service.insert("status".to_owned(), json!({"conditions": [available]}));
        }
    },
    check,
    check_status: |service, _, errors| {
        let status = Spot::of(service, "status");
        let conditions = status.get("conditions");
        for condition in conditions.items() {
            let status = condition.get("status");
            let known = &["True", "False", "Unknown"];
            if !known.contains(&status.text()) {
                errors.push(status.not_supported(known));
            }
        }
    },
    names: NameRule::PathSegment,
    name_mistake: |service, name| {
        let text = |field: &str| at(service, field).as_str().unwrap_or_default();
        let expected = format!("{}.{}", text("spec.version"), text("spec.group"));
        let why = format!("must be `spec.version+\".\"+spec.group`: {expected:?}");
        (name != expected).then_some(why)
    },
    ..Sheet::PLAIN
};

fn check(service: &Object, errors: &mut Errors) {
    let spec = Spot::of(service, "spec");
    let (group, version) = (spec.get("group"), spec.get("version"));
    if group.is_empty() && version.text() != "v1" {
        errors.push(group.required("only v1 may have an empty group and it better be legacy kube"));
    }
    if !group.is_empty() {
        checks::name(&group, NameRule::Subdomain, errors);
    }
    checks::name(&version, NameRule::Label1035, errors);
    for (field, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let priority = spec.get(field);
        if !(1..=most).contains(&priority.number()) {
            let why = format!("must be positive and less than {most}");
            errors.push(priority.invalid_number(why));
        }
    }
    let (bundle, skips) = (spec.get("caBundle"), spec.get("insecureSkipTLSVerify"));
    let target = spec.get("service");
    if !target.is_set() {
        if !bundle.is_empty() {
            let size = format!("{} bytes", super::config::decoded_len(bundle.text()));
            let why = "local APIServices may not have a caBundle";
            errors.push(FieldError::invalid(bundle.path(), size, why));
        }
        if skips.flag() {
            errors.push(skips.invalid("local APIServices may not have insecureSkipTLSVerify"));
        }
        return;
    }
    checks::required(&target.get("namespace"), errors);
    checks::required(&target.get("name"), errors);
    let port = target.get("port");
    if !(1..=65_535).contains(&port.number()) {
        let why = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(port.invalid_number(why));
    }
    if skips.flag() && !bundle.is_empty() {
        errors.push(skips.invalid("may not be true if caBundle is present"));
    }
}
