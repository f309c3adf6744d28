//! What extends the API itself: services and webhooks; and signing requests.
//!
//! Upstream: `kube-aggregator/pkg/apis/apiregistration/v1/defaults.go`,
//! `pkg/apis/admissionregistration/v1/defaults.go`, `pkg/registry/certificates`.

use serde_json::json;

use super::NameRule;
use super::checks;
use super::fill::Fill::{Empty, Int, Text};
use super::fill::{Line, fill_each};
use super::sheet::Sheet;
use super::spot::Spot;
use crate::meta::stamp;
use crate::object::at;

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
    ..Sheet::PLAIN
};

const WEBHOOK: &[Line] = &[
    ("clientConfig", Empty),
    ("clientConfig.service.port", Int(443)),
    ("failurePolicy", Text("Fail")),
    ("matchPolicy", Text("Equivalent")),
    ("namespaceSelector", Empty),
    ("objectSelector", Empty),
    ("timeoutSeconds", Int(10)),
    ("rules[].scope", Text("*")),
];

pub(super) static VALIDATING_WEBHOOKS: Sheet = Sheet {
    default: |object| fill_each(object, "webhooks[]", WEBHOOK),
    generation: &["webhooks"],
    check: |object, errors| {
        let webhooks = Spot::of(object, "webhooks");
        for webhook in webhooks.items() {
            checks::required_name(&webhook.get("name"), NameRule::Subdomain, errors);
            checks::one_of_if_set(&webhook.get("failurePolicy"), &["Fail", "Ignore"], errors);
            checks::one_of_if_set(
                &webhook.get("matchPolicy"),
                &["Equivalent", "Exact"],
                errors,
            );
            let effects = &["None", "NoneOnDryRun"];
            checks::one_of(&webhook.get("sideEffects"), effects, errors);
            let timeout = webhook.get("timeoutSeconds");
            if timeout
                .int()
                .is_some_and(|seconds| !(1..=30).contains(&seconds))
            {
                errors.push(timeout.invalid("the timeout value must be between 1 and 30 seconds"));
            }
            let reviewed = webhook.get("admissionReviewVersions");
            if reviewed.is_empty() {
                errors.push(reviewed.required("must specify one of v1, v1beta1"));
            }
        }
    },
    ..Sheet::PLAIN
};

pub(super) static MUTATING_WEBHOOKS: Sheet = Sheet {
    default: |object| {
        fill_each(object, "webhooks[]", WEBHOOK);
        fill_each(
            object,
            "webhooks[]",
            &[("reinvocationPolicy", Text("Never"))],
        );
    },
    ..VALIDATING_WEBHOOKS
};

const MATCH_RESOURCES: &[Line] = &[
    ("matchPolicy", Text("Equivalent")),
    ("namespaceSelector", Empty),
    ("objectSelector", Empty),
    ("resourceRules[].scope", Text("*")),
    ("excludeResourceRules[].scope", Text("*")),
];

pub(super) static ADMISSION_POLICY: Sheet = Sheet {
    defaults: &[("spec", Empty), ("spec.failurePolicy", Text("Fail"))],
    default: |policy| fill_each(policy, "spec.matchConstraints", MATCH_RESOURCES),
    create: |policy, _| {
        if at(policy, "kind") == "ValidatingAdmissionPolicy" {
            policy.insert("status".to_owned(), json!({}));
        }
    },
    generation: &["spec"],
    ..Sheet::PLAIN
};

pub(super) static ADMISSION_BINDING: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    default: |binding| fill_each(binding, "spec.matchResources", MATCH_RESOURCES),
    generation: &["spec"],
    ..Sheet::PLAIN
};
