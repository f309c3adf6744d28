//! What extends the API itself: definitions, services and webhooks; and signing requests.
//!
//! Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`,
//! `kube-aggregator/pkg/apis/apiregistration/v1/defaults.go`,
//! `pkg/apis/admissionregistration/v1/defaults.go`, `pkg/registry/certificates`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks;
use super::fill::Fill::{By, Empty, Int, Text};
use super::fill::{Line, fill_each};
use super::sheet::Sheet;
use super::spot::Spot;
use crate::field_error::FieldError;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};

pub(super) static DEFINITION: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.names", Empty),
        (
            "spec.names.singular",
            By(|names| Some(kind(names).to_ascii_lowercase().into())),
        ),
        (
            "spec.names.listKind",
            By(|names| {
                let kind = kind(names);
                (!kind.is_empty()).then(|| format!("{kind}List").into())
            }),
        ),
        ("spec.conversion", Empty),
        ("spec.conversion.strategy", Text("None")),
        (
            "spec.conversion.webhook.clientConfig.service.port",
            Int(443),
        ),
    ],
    default: |definition| {
        // No version was stored yet when the definition was made, so its storage version will be.
        let stored = at(definition, "spec.versions")
            .as_array()
            .and_then(|versions| {
                let storage = versions.iter().find(|version| version["storage"] == true)?;
                Some(storage["name"].clone())
            });
        if let Some(status) = definition.get_mut("status").and_then(Value::as_object_mut) {
            let has_any = status
                .get("storedVersions")
                .and_then(Value::as_array)
                .is_some_and(|all| !all.is_empty());
            if let Some(name) = stored.filter(|_| !has_any) {
                status.insert("storedVersions".to_owned(), json!([name]));
            }
        }
    },
    create: |definition, _| {
        let versions = at(definition, "spec.versions").as_array();
        let storage = versions
            .into_iter()
            .flatten()
            .find(|version| version["storage"] == true);
        let stored: Vec<Value> = storage
            .map(|version| version["name"].clone())
            .into_iter()
            .collect();
        definition.insert(
            "status".to_owned(),
            json!({
                "acceptedNames": {"kind": "", "plural": ""},
                "conditions": null,
                "storedVersions": stored,
            }),
        );
    },
    update: |new, old| {
        // A version that becomes the one for storage is remembered, until whoever migrates says so.
        let storage = at(new, "spec.versions").as_array().and_then(|versions| {
            let storage = versions.iter().find(|version| version["storage"] == true)?;
            storage["name"].as_str().map(str::to_owned)
        });
        let mut stored = at(old, "status.storedVersions")
            .as_array()
            .cloned()
            .unwrap_or_default();
        if let Some(name) = storage
            && !stored.iter().any(|one| one == name.as_str())
        {
            stored.push(name.into());
        }
        let mut status = at(old, "status").as_object().cloned().unwrap_or_default();
        status.insert("storedVersions".to_owned(), Value::Array(stored));
        new.insert("status".to_owned(), Value::Object(status));
    },
    generation: &["spec"],
    check: |definition, errors| {
        let spec = Spot::of(definition, "spec");
        let names = spec.get("names");
        let (group, plural) = (spec.get("group"), names.get("plural"));
        let expected = format!("{}.{}", plural.text(), group.text());
        if definition.name() != expected {
            errors.push(FieldError::invalid(
                "metadata.name",
                definition.name(),
                "must be spec.names.plural+\".\"+spec.group",
            ));
        }
        checks::required_name(&group, NameRule::Subdomain, errors);
        checks::one_of(&spec.get("scope"), &["Cluster", "Namespaced"], errors);
        let versions = spec.get("versions");
        let stored = versions
            .items()
            .filter(|version| version.get("storage").flag())
            .count();
        if stored != 1 {
            errors
                .push(versions.invalid("must have exactly one version marked as storage version"));
        }
        for version in versions.items() {
            checks::name(&version.get("name"), NameRule::Label1035, errors);
        }
        checks::required_name(&plural, NameRule::Label1035, errors);
        checks::required(&names.get("kind"), errors);
    },
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        for field in ["group", "scope"] {
            checks::immutable(&spec.get(field), &at(old, "spec")[field], errors);
        }
    },
    ..Sheet::PLAIN
};

fn kind(names: &Object) -> &str {
    names
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

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

/// What a client certificate is for, if the request does not say.
pub(super) static SIGNING_REQUEST: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    fresh_status: true,
    update: |new, old| {
        // A request is what it was; whoever wants another makes another.
        if let Some(spec) = old.get("spec") {
            new.insert("spec".to_owned(), spec.clone());
        }
    },
    check: |request, errors| {
        let spec = Spot::of(request, "spec");
        checks::required(&spec.get("usages"), errors);
        let signer = spec.get("signerName");
        if checks::required(&signer, errors) {
            let is_qualified = signer
                .text()
                .split_once('/')
                .is_some_and(|(domain, path)| domain.contains('.') && !path.is_empty());
            if !is_qualified {
                errors.push(signer.invalid(
                    "must be a fully qualified domain and path of the form \
                                            'example.com/signer-name'",
                ));
            }
        }
        let seconds = spec.get("expirationSeconds");
        if seconds.int().is_some_and(|seconds| seconds < 600) {
            errors.push(
                seconds.invalid("may not specify a duration less than 600 seconds (10 minutes)"),
            );
        }
    },
    fields: &["spec.signerName"],
    names: NameRule::PathSegment,
    ..Sheet::PLAIN
};
