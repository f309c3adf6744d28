//! What may be in metadata, and what is said of what may not.
//!
//! Upstream: `apimachinery/pkg/api/validation/objectmeta.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::field_error::{FieldError, ListErrors};
use crate::kinds::{NameRule, label_key_mistakes, label_value_mistakes};
use crate::names;
use crate::object::{Meta, Object};
use crate::registry::Call;

/// What all annotations together may weigh.
const ANNOTATIONS_BYTES_MAX: usize = 256 << 10;

/// The mistakes in the metadata of an object.
pub(crate) fn validate(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    let mut errors = all_but_finalizers(call, object);
    if checks_finalizers(call) {
        errors.extend(unqualified_finalizers(object));
    }
    errors
}

/// The mistakes in metadata with a simple name, whose finalizers have to be qualified.
pub(crate) fn simple_mistakes(object: &Object) -> Vec<FieldError> {
    let names = |name: &str, is_prefix| names::mistakes(NameRule::Subdomain, name, is_prefix);
    let mut errors = names_and_shared(names, object);
    errors.extend(unqualified_finalizers(object));
    errors
}

fn all_but_finalizers(call: &Call<'_>, object: &Object) -> Vec<FieldError> {
    // Events have two groups, of which one is strict about names.
    let rule = match call.resource.group.as_str() {
        "events.k8s.io" => NameRule::Subdomain,
        _ => call.rules().name_rule(),
    };
    // What comes of a prefix is looked at, and of these kinds only that.
    let skips_prefix = matches!(
        call.resource.plural.as_str(),
        "deviceclasses" | "replicationcontrollers"
    );
    let names = |name: &str, is_prefix: bool| {
        if is_prefix && skips_prefix {
            return Vec::new();
        }
        let mut wrong = names::mistakes(rule, name, is_prefix);
        if wrong.is_empty() {
            wrong.extend(call.rules().name_mistake(object, name));
        }
        wrong
    };
    names_and_shared(names, object)
}

fn names_and_shared(
    mistakes: impl Fn(&str, bool) -> Vec<String>,
    object: &Object,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let prefix = object.meta_text("generateName");
    if !prefix.is_empty() {
        for mistake in mistakes(prefix, true) {
            errors.push(FieldError::invalid(
                "metadata.generateName",
                prefix,
                mistake,
            ));
        }
    }
    match object.name() {
        "" => {
            let detail = "name or generateName is required";
            errors.push(FieldError::required("metadata.name", detail));
        }
        name => {
            for mistake in mistakes(name, false) {
                errors.push(FieldError::invalid("metadata.name", name, mistake));
            }
        }
    }
    errors.extend(shared(object.meta()));
    errors
}

fn unqualified_finalizers(object: &Object) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (at, name) in object.finalizers().enumerate() {
        let is_standard = matches!(name, "kubernetes" | "orphan" | "foregroundDeletion");
        if !name.contains('/') && !is_standard {
            let place = format!("metadata.finalizers[{at}]");
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            errors.push(FieldError::invalid(place, name, why));
        }
    }
    errors
}

/// Whether a kind wants the names of finalizers to be qualified; some of upstream's groups do not ask.
fn checks_finalizers(call: &Call<'_>) -> bool {
    let group = call.resource.group.as_str();
    let is_old_event = group.is_empty() && call.resource.plural == "events";
    call.resource.of_definition().is_none()
        && !is_old_event
        && !matches!(
            group,
            "admissionregistration.k8s.io"
                | "apiextensions.k8s.io"
                | "apiregistration.k8s.io"
                | "coordination.k8s.io"
                | "node.k8s.io"
                | "policy"
        )
}

/// The mistakes in what every kind's metadata has.
fn shared(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if let Some(generation) = meta["generation"].as_i64().filter(|number| *number < 0) {
        let why = "must be greater than or equal to 0";
        errors.push(FieldError::invalid("metadata.generation", generation, why));
    }
    for (key, value) in meta["labels"].as_object().into_iter().flatten() {
        for why in label_key_mistakes(key) {
            errors.push(FieldError::invalid("metadata.labels", key.as_str(), why));
        }
        let value = value.as_str().unwrap_or_default();
        for why in label_value_mistakes(value) {
            errors.push(FieldError::invalid("metadata.labels", value, why));
        }
    }
    let mut weight = 0;
    for (key, value) in meta["annotations"].as_object().into_iter().flatten() {
        for why in label_key_mistakes(&key.to_lowercase()) {
            let place = "metadata.annotations";
            errors.push(FieldError::invalid(place, key.as_str(), why));
        }
        weight += key.len() + value.as_str().unwrap_or_default().len();
    }
    if weight > ANNOTATIONS_BYTES_MAX {
        let detail = format!("may not be more than {ANNOTATIONS_BYTES_MAX} bytes");
        errors.push(FieldError::too_long("metadata.annotations", detail));
    }
    errors.extend(owners(meta));
    errors.extend(finalizer_mistakes(meta));
    errors.extend(manager_mistakes(meta));
    errors
}

fn finalizer_mistakes(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let all = meta["finalizers"].as_array().into_iter().flatten();
    let all: Vec<&str> = all.filter_map(Value::as_str).collect();
    for name in &all {
        for why in label_key_mistakes(name) {
            errors.push(FieldError::invalid("metadata.finalizers", *name, why));
        }
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        let why = "finalizer orphan and foregroundDeletion cannot be both set";
        let value = Value::from(all);
        errors.push(FieldError::invalid("metadata.finalizers", value, why));
    }
    errors
}

fn manager_mistakes(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let all = meta["managedFields"].as_array().into_iter().flatten();
    for (at, entry) in all.enumerate() {
        let text = |field: &str| entry[field].as_str().unwrap_or_default();
        let place = |field: &str| format!("metadata.managedFields[{at}].{field}");
        let operation = text("operation");
        if !matches!(operation, "Apply" | "Update") {
            let why = "must be `Apply` or `Update`";
            errors.push(FieldError::invalid(place("operation"), operation, why));
        }
        let kind = text("fieldsType");
        if !matches!(kind, "" | "FieldsV1") {
            let why = "must be `FieldsV1`";
            errors.push(FieldError::invalid(place("fieldsType"), kind, why));
        }
    }
    errors
}

/// The mistakes in an update's metadata, which come before those of its kind.
pub(crate) fn validate_update(call: &Call<'_>, new: &Object, old: &Object) -> Vec<FieldError> {
    let mut errors = all_but_finalizers(call, new);
    if leaves_prefix(call) {
        errors.retain(|error| error.field != "metadata.generateName");
    }
    if old.is_deleting() {
        let kept: BTreeSet<&str> = old.finalizers().collect();
        let is_new = |one: &&str| !kept.contains(one);
        let mut added: Vec<&str> = new.finalizers().filter(is_new).collect();
        added.sort_unstable();
        added.dedup();
        if !added.is_empty() {
            let added: Vec<String> = added.iter().map(|one| format!("{one:?}")).collect();
            let detail = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
            );
            errors.push(FieldError::forbidden("metadata.finalizers", detail));
        }
    }
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        let (is, was) = (&new.meta()[field], &old.meta()[field]);
        if is != was {
            let place = format!("metadata.{field}");
            let why = "field is immutable";
            errors.push(FieldError::invalid(place, is.clone(), why));
        }
    }
    // Of the status of a CronJob nothing of its own is looked at.
    let is_cron_status =
        call.resource.plural == "cronjobs" && call.path.subresource.as_str() == "status";
    if checks_finalizers(call) && !is_cron_status {
        errors.extend(unqualified_finalizers(new));
    }
    errors
}

/// Whether nobody looks at the prefix of a name any more when there is one: so with some kinds, and with more of them if
/// it is the status that is written.
fn leaves_prefix(call: &Call<'_>) -> bool {
    let resource = (call.resource.group.as_str(), call.resource.plural.as_str());
    let always = matches!(
        resource,
        ("", "nodes" | "podtemplates" | "resourcequotas" | "services")
            | (
                "apps",
                "daemonsets" | "deployments" | "replicasets" | "statefulsets"
            )
            | ("autoscaling", "horizontalpodautoscalers")
            | ("batch", "cronjobs")
            | ("coordination.k8s.io", "leases")
            | ("networking.k8s.io", "networkpolicies")
            | ("scheduling.k8s.io", "priorityclasses")
            | ("storage.k8s.io", "csidrivers")
    );
    let of_status = matches!(
        resource,
        (
            "",
            "namespaces" | "persistentvolumeclaims" | "persistentvolumes" | "pods"
        ) | ("batch", "jobs")
            | ("networking.k8s.io", "ingresses")
    );
    always || (of_status && call.path.subresource.as_str() == "status")
}

fn owners(meta: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let count = meta["ownerReferences"].as_array().map_or(0, Vec::len);
    // Upstream shows the whole list with each further controller.
    let mut shown = ListErrors::of(count);
    let mut first: Option<String> = None;
    for owner in meta["ownerReferences"].as_array().into_iter().flatten() {
        let group_version = owner["apiVersion"].as_str().unwrap_or_default();
        // What has more parts than a group and a version is taken for having neither.
        if group_version.is_empty()
            || group_version.matches('/').count() > 1
            || group_version.ends_with('/')
        {
            let (place, why) = (
                "metadata.ownerReferences.apiVersion",
                "version must not be empty",
            );
            errors.push(FieldError::invalid(place, group_version, why));
        }
        for field in ["kind", "name", "uid"] {
            if owner[field].as_str().unwrap_or_default().is_empty() {
                let place = format!("metadata.ownerReferences.{field}");
                errors.push(FieldError::invalid(place, "", "must not be empty"));
            }
        }
        let (kind, name) = (
            owner["kind"].as_str().unwrap_or_default(),
            owner["name"].as_str().unwrap_or_default(),
        );
        if owner["apiVersion"] == "v1" && kind == "Event" {
            let why = "/v1, Kind=Event is disallowed from being an owner";
            let place = "metadata.ownerReferences";
            errors.push(FieldError::invalid(place, owner.clone(), why));
        }
        if owner["controller"] != true {
            continue;
        }
        let told = format!("{kind}/{name}");
        match &first {
            None => first = Some(told),
            Some(_) if !shown.take() => {}
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {told}"
                );
                let place = "metadata.ownerReferences";
                let all = meta["ownerReferences"].clone();
                errors.push(FieldError::invalid(place, all, detail));
            }
        }
    }
    errors
}
