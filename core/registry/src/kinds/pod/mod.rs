//! Pods, and the specs of pods inside other kinds.
//!
//! Upstream: `pkg/registry/core/pod/strategy.go`.

mod annotations;
mod containers;
mod defaults;
mod dns;
mod env;
pub(super) mod field_refs;
mod image;
mod label_keys;
mod level;
mod parts;
mod placement;
mod probes;
mod resources;
mod restarts;
mod security;
mod spec;
mod status;
#[cfg(test)]
mod tests;
mod update;
mod volumes;
mod windows;

use flyball_api::Timestamp;
use serde_json::{Map, Value, json};

use super::Rules;
use super::fill::{Fill, each, map_in};
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::kinds::NameRule;
use crate::names;
use crate::object::{Meta, Object, at};

pub(super) use annotations::{check as check_annotations, check_profiles};
pub(super) use defaults::default_template;
pub(super) use placement::{EFFECTS, check_node_selector, check_tolerations};
pub(super) use resources::round_list;
pub(super) use spec::check as check_spec;

pub(super) struct Pod;

/// Templates kept as objects of their own.
pub(super) static TEMPLATE: Sheet = Sheet {
    defaults: &[("template", Fill::Empty)],
    templates: &["template"],
    generation: &["template"],
    check: |object, errors| super::templates::check(&Spot::of(object, "template"), errors),
    ..Sheet::PLAIN
};

impl Rules for Pod {
    fn default(&self, pod: &mut Object) {
        defaults::default_pod(pod);
    }

    fn prepare_create(&self, pod: &mut Object, now: Timestamp) {
        each(pod, "spec", &mut defaults::mirror_service_account);
        label_keys::resolve(pod);
        let spec = pod.get("spec").and_then(Value::as_object);
        let class = spec.map_or("BestEffort", resources::qos_class);
        let mut status = json!({"phase": "Pending", "qosClass": class});
        let gates = at(pod, "spec.schedulingGates").as_array();
        if gates.is_some_and(|gates| !gates.is_empty()) {
            status["conditions"] = json!([{
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": null,
                "lastTransitionTime": now,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }]);
        }
        pod.insert("status".to_owned(), status);
    }

    fn prepare_update(&self, new: &mut Object, old: &Object) {
        match old.get("status") {
            Some(status) => new.insert("status".to_owned(), status.clone()),
            None => new.remove("status"),
        };
    }

    fn prepare_status_update(&self, new: &mut Object, old: &Object) {
        if let Some(spec) = old.get("spec") {
            new.insert("spec".to_owned(), spec.clone());
        }
        // Kubelets of old spoiled owner references when they wrote a status.
        let meta = new.meta_mut();
        match old.meta().get("ownerReferences") {
            Some(owners) => meta.insert("ownerReferences".to_owned(), owners.clone()),
            None => meta.remove("ownerReferences"),
        };
        let before = at(old, "status");
        if let Some(status) = map_in(new, "status") {
            keep_if_missing(status, before, "qosClass");
            keep_if_missing(status, before, "observedGeneration");
        }
    }

    fn has_generation(&self) -> bool {
        true
    }

    fn validate_create(&self, pod: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        check_pod(pod, None, &mut errors);
        let spec = Spot::of(pod, "spec");
        let debuggers = spec.get("ephemeralContainers");
        if !debuggers.is_empty() {
            errors.push(debuggers.forbidden("cannot be set on create"));
        }
        let (node, gates) = (spec.get("nodeName"), spec.get("schedulingGates"));
        if !node.is_empty() && !gates.is_empty() {
            errors
                .push(node.forbidden("cannot be set until all schedulingGates have been cleared"));
        }
        annotations::check_profiles(&pod.meta()["annotations"], &spec, &mut errors);
        errors
    }

    fn validate_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        check_pod(new, Some(old), &mut errors);
        annotations::check_update(new, old, &mut errors);
        update::check(new, old, &mut errors);
        errors
    }

    fn validate_status_update(&self, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        annotations::check_update(new, old, &mut errors);
        status::check(new, old, &mut errors);
        errors
    }

    fn prepare_part(&self, part: &str, new: &mut Object, old: &Object, _now: Timestamp) {
        match part {
            "ephemeralcontainers" => parts::prepare_ephemeral(new, old),
            "resize" => parts::prepare_resize(new, old),
            _ => {}
        }
    }

    fn validate_part(&self, part: &str, new: &Object, old: &Object) -> Vec<FieldError> {
        let mut errors = Errors::new();
        check_pod(new, Some(old), &mut errors);
        match part {
            "ephemeralcontainers" => parts::check_ephemeral(new, old, &mut errors),
            "resize" => parts::check_resize(new, old, &mut errors),
            _ => {}
        }
        errors
    }

    fn validate_emptied(&self, emptied: &[String], _old: &Object) -> Vec<FieldError> {
        containers::emptied_mistakes(emptied)
    }

    fn warnings(&self, pod: &Object) -> Vec<String> {
        let wrong = names::mistakes(NameRule::Label, pod.name(), false);
        if wrong.is_empty() {
            return Vec::new();
        }
        vec![format!(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS \
             label is recommended: [{}]",
            wrong.join(" ")
        )]
    }

    fn warnings_on_update(&self, _new: &Object, _old: &Object) -> Vec<String> {
        // Whoever updates a pod cannot change its name.
        Vec::new()
    }

    fn selectable_fields(&self) -> &'static [&'static str] {
        &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ]
    }
}

fn keep_if_missing(new: &mut Map<String, Value>, old: &Value, field: &str) {
    let is_missing = match new.get(field) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Number(number)) => number.as_i64() == Some(0),
        Some(_) => false,
    };
    if is_missing && !old[field].is_null() {
        new.insert(field.to_owned(), old[field].clone());
    }
}

fn check_pod(pod: &Object, old: Option<&Object>, errors: &mut Errors) {
    let spec = Spot::of(pod, "spec");
    let meta = Spot::of(pod, "metadata");
    annotations::check(&meta.get("annotations"), &spec, errors);
    spec::check(
        &spec,
        Some(pod.name()),
        old.and_then(|old| old.get("spec")),
        errors,
    );
    spec::check_tokens(&spec, errors);
    for field in ["containers", "initContainers"] {
        let containers = spec.get(field);
        containers
            .items()
            .for_each(|container| containers::check_image(&container, errors));
    }
}
