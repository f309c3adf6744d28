//! PodSecurity: a namespace says by labels how far its pods may go.
//!
//! Each of three modes has a level and the version of the rules that it means: `enforce` refuses
//! pods, `warn` tells whoever makes them or what makes them, `audit` is for a log that is not kept
//! here. What may go on is in `baseline` and `restricted`.
//!
//! Upstream: `plugin/pkg/admission/security/podsecurity`, `pod-security-admission/admission`.

mod baseline;
mod checks;
mod policy;
mod restricted;
mod subject;

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Effects, Operation, Plugin, Review};
use crate::failure::Failure;
use crate::object::{Meta, Object, at};
use checks::Violations;
use policy::{Level, LevelVersion, Policy};
use subject::Subject;

/// How many pods of a namespace are looked at when its level is raised.
const PODS_MAX: usize = 3000;

/// Parts of pods that say nothing about what they may do; all others change containers.
const HARMLESS_PARTS: &[&str] = &[
    "exec",
    "attach",
    "binding",
    "eviction",
    "log",
    "portforward",
    "proxy",
    "status",
];

/// Refuses pods that go too far, and warns.
pub(super) struct PodSecurity;

impl Plugin for PodSecurity {
    fn validate(
        &self,
        review: &Review<'_>,
        object: &Object,
        effects: &mut Effects,
    ) -> Result<(), Failure> {
        if review.is_about("", "namespaces") {
            return check_namespace(review, object, effects);
        }
        let is_pod = review.is_of("", "pods") && !HARMLESS_PARTS.contains(&review.subresource);
        let template = match is_pod {
            true => None,
            false if !review.subresource.is_empty() => return Ok(()),
            false => match template_of(review) {
                Some(path) => Some(at(object, path)),
                None => return Ok(()),
            },
        };
        if template.is_some_and(Value::is_null) {
            return Ok(());
        }
        let Some(namespace) = review.find(("", "namespaces"), "", review.namespace) else {
            return Ok(());
        };
        let (policy, _) = Policy::of(&namespace);
        let subject = match template {
            Some(template) => Subject::of_template(template),
            None => Subject::of_pod(object),
        };
        if is_pod {
            let same = review
                .old
                .is_some_and(|old| subject.has_images_of(&Subject::of_pod(old)));
            if same {
                return Ok(());
            }
            if let Some(found) = checks::violations(&policy.enforce, &subject) {
                let why = format!(
                    "violates PodSecurity {:?}: {}",
                    policy.enforce.to_string(),
                    found.details()
                );
                return Err(review.forbidden(Some(object), why));
            }
        }
        if let Some(found) = checks::violations(&policy.warn, &subject) {
            let told = policy.warn.to_string();
            effects.warnings.push(format!(
                "would violate PodSecurity {told:?}: {}",
                found.details()
            ));
        }
        Ok(())
    }
}

/// Where a kind keeps the template of the pods that it makes.
fn template_of(review: &Review<'_>) -> Option<&'static str> {
    match (
        review.resource.group.as_str(),
        review.resource.plural.as_str(),
    ) {
        ("", "podtemplates") => Some("template"),
        ("", "replicationcontrollers")
        | ("apps", "replicasets" | "deployments" | "statefulsets" | "daemonsets")
        | ("batch", "jobs") => Some("spec.template"),
        ("batch", "cronjobs") => Some("spec.jobTemplate.spec.template"),
        _ => None,
    }
}

/// Refuses labels that make no sense, and warns of pods that a new level would not let in.
fn check_namespace(
    review: &Review<'_>,
    namespace: &Object,
    effects: &mut Effects,
) -> Result<(), Failure> {
    let (new, mistakes) = Policy::of(namespace);
    let invalid = || Failure::invalid("", "Namespace", namespace.name(), &mistakes);
    let Some(old) = review.old.filter(|_| review.operation == Operation::Update) else {
        return if mistakes.is_empty() {
            Ok(())
        } else {
            Err(invalid())
        };
    };
    let (before, mistakes_before) = Policy::of(old);
    if !mistakes.is_empty() && mistakes != mistakes_before {
        return Err(invalid());
    }
    let is_relaxed =
        new.enforce.version == before.enforce.version && new.enforce.level <= before.enforce.level;
    if new.enforce == before.enforce || new.enforce.level == Level::Privileged || is_relaxed {
        return Ok(());
    }
    effects
        .warnings
        .extend(existing(review, namespace.name(), &new.enforce));
    Ok(())
}

/// What to tell about pods that are there already.
fn existing(review: &Review<'_>, namespace: &str, enforce: &LevelVersion) -> Vec<String> {
    let pods = review.list_seen(("", "pods"), namespace).into_iter();
    let pods = one_of_each_first(pods.map(|(_, pod)| pod).collect());
    let mut counted: BTreeMap<String, (&str, usize)> = BTreeMap::new();
    for pod in pods.iter().take(PODS_MAX) {
        let found = checks::violations(enforce, &Subject::of_pod(pod));
        if let Some(reasons) = found.as_ref().map(Violations::reasons) {
            let (first, number) = counted.entry(reasons).or_insert((pod.name(), 0));
            *first = pod.name().min(*first);
            *number += 1;
        }
    }
    let mut warnings = Vec::new();
    if pods.len() > PODS_MAX {
        let all = pods.len();
        warnings.push(format!(
            "new PodSecurity enforce level only checked against the first {PODS_MAX} of {all} existing pods"
        ));
    }
    if !counted.is_empty() {
        let level = enforce.to_string();
        warnings.push(format!(
            "existing pods in namespace {namespace:?} violate the new PodSecurity enforce level {level:?}"
        ));
    }
    let mut told: Vec<String> = counted
        .into_iter()
        .map(|(reasons, (name, number))| match number {
            1 => format!("{name}: {reasons}"),
            2 => format!("{name} (and 1 other pod): {reasons}"),
            number => format!("{name} (and {} other pods): {reasons}", number - 1),
        })
        .collect();
    told.sort_unstable();
    warnings.append(&mut told);
    warnings
}

/// The pods with one of each controller in front, as the others of it are most likely like it.
fn one_of_each_first(pods: Vec<Object>) -> Vec<Object> {
    let mut seen = Vec::new();
    let (mut first, rest): (Vec<Object>, Vec<Object>) = pods.into_iter().partition(|pod| {
        let owners = pod.meta()["ownerReferences"].as_array();
        let mut owners = owners.into_iter().flatten();
        let Some(owner) = owners.find(|owner| owner["controller"] == true) else {
            return true;
        };
        let uid = owner["uid"].clone();
        let is_new = !seen.contains(&uid);
        seen.push(uid);
        is_new
    });
    first.extend(rest);
    first
}
