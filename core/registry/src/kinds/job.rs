//! Jobs.
//!
//! Upstream: `pkg/apis/batch/v1/defaults.go`, `pkg/apis/batch/validation/validation.go`,
//! `pkg/registry/batch/job/strategy.go`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, same};
use super::fill::Fill::{Bool, By, Empty, Int, OptionalText, Text};
use super::fill::{Line, each, map_in};
use super::labels;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use super::templates;
use crate::field_error::FieldError;
use crate::names;
use crate::object::{Meta, Object, at};

const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];
/// More pods at once than this cannot be told apart by index.
const INDEXED_PARALLELISM_MAX: i64 = 100_000;

const JOB_DEFAULTS: &[Line] = &[
    ("spec", Empty),
    (
        "spec.completions",
        By(|spec| {
            spec.get("parallelism")
                .is_none_or(Value::is_null)
                .then(|| json!(1))
        }),
    ),
    ("spec.parallelism", Int(1)),
    ("spec.backoffLimit", By(|spec| Some(backoff_limit(spec)))),
    ("spec.completionMode", OptionalText("NonIndexed")),
    ("spec.suspend", Bool(false)),
    (
        "spec.podReplacementPolicy",
        By(|spec| Some(replacement_policy(spec))),
    ),
    ("spec.manualSelector", Bool(false)),
    (
        "spec.podFailurePolicy.rules[].onPodConditions[].status",
        Text("True"),
    ),
    ("spec.template", Empty),
];

pub(super) static JOB: Sheet = Sheet {
    defaults: JOB_DEFAULTS,
    templates: &["spec.template"],
    default: |job| {
        let labels = at(job, "spec.template.metadata.labels").clone();
        let has_own = job.meta()["labels"]
            .as_object()
            .is_some_and(|own| !own.is_empty());
        if !has_own && labels.is_object() {
            job.meta_mut().insert("labels".to_owned(), labels);
        }
    },
    fresh_status: true,
    create: |job, _| {
        // Upstream's labels of the Job are those of the template, not a copy, if they come from
        // there: they change together.
        let template = "spec.template.metadata.labels";
        let is_lent = job.meta()["labels"].is_null() || &job.meta()["labels"] == at(job, template);
        if at(job, "spec.manualSelector") != &Value::Bool(true) {
            generate_selector(job);
        }
        if is_lent && at(job, template).is_object() {
            let labels = at(job, template).clone();
            job.meta_mut().insert("labels".to_owned(), labels);
        }
    },
    generation: &["spec"],
    check,
    check_update,
    fields: &["status.successful"],
    ..Sheet::PLAIN
};

/// Where each index has a limit of its own, the Job as a whole has none.
fn backoff_limit(spec: &Object) -> Value {
    match spec.get("backoffLimitPerIndex") {
        None | Some(Value::Null) => json!(6),
        Some(_) => json!(i32::MAX),
    }
}

fn replacement_policy(spec: &Object) -> Value {
    match spec.get("podFailurePolicy") {
        None | Some(Value::Null) => "TerminatingOrFailed".into(),
        Some(_) => "Failed".into(),
    }
}

/// A Job selects its pods by its own uid, so that no two Jobs ever have the same.
fn generate_selector(job: &mut Object) {
    let (name, uid) = (job.name().to_owned(), job.uid().to_owned());
    each(job, "spec", &mut |spec| {
        if let Some(labels) = map_in(spec, "template")
            .and_then(|template| map_in(template, "metadata"))
            .and_then(|meta| map_in(meta, "labels"))
        {
            let pairs = NAME_LABELS.map(|label| (label, &name));
            for (label, value) in pairs
                .into_iter()
                .chain(UID_LABELS.map(|label| (label, &uid)))
            {
                labels.entry(label).or_insert_with(|| value.as_str().into());
            }
        }
        let selector = map_in(spec, "selector");
        if let Some(labels) = selector.and_then(|selector| map_in(selector, "matchLabels")) {
            labels
                .entry(UID_LABELS[1])
                .or_insert_with(|| uid.as_str().into());
        }
    });
}

fn check(job: &Object, errors: &mut Errors) {
    let spec = Spot::of(job, "spec");
    let selector = spec.get("selector");
    if !spec.get("manualSelector").flag() && selector.is_set() {
        check_generated_selector(job, &spec, errors);
    }
    check_spec(&spec, errors);
    if !selector.is_set() {
        errors.push(selector.required(""));
    }
    labels::check_selector(&selector, errors);
    if let Some(compiled) = labels::compiled(selector.value()) {
        templates::check_selected(&spec.get("template"), &compiled, errors);
    }
    let completions = spec.get("completions").int().unwrap_or(0);
    if spec.get("completionMode").text() == "Indexed" && completions > 0 {
        let longest = format!("{}-{}", job.name(), completions - 1);
        if !names::mistakes(NameRule::Label, &longest, false).is_empty() {
            let why = format!("will not able to create pod with invalid DNS label: {longest}");
            errors.push(FieldError::invalid("metadata.name", job.name(), why));
        }
    }
}

/// A generated selector and its labels must be what they were generated as.
fn check_generated_selector(job: &Object, spec: &Spot, errors: &mut Errors) {
    let template = spec.get("template");
    let meta = template.get("metadata");
    let spot = meta.get("labels");
    let own = NAME_LABELS.map(|label| (label, job.name()));
    let own: Vec<(&str, &str)> = UID_LABELS
        .map(|label| (label, job.uid()))
        .into_iter()
        .chain(own)
        .collect();
    for (label, expected) in &own {
        match spot.key(label).value().as_str() {
            None => {
                let field = format!("{}[{label}]", spot.path());
                errors.push(FieldError::required(field, format!("must be '{expected}'")));
            }
            Some(value) if value != *expected => {
                let field = format!("{}[{label}]", spot.path());
                let (all, why) = (spot.value().clone(), format!("must be '{expected}'"));
                errors.push(FieldError::invalid(field, all, why));
            }
            Some(_) => {}
        }
    }
    let selector = spec.get("selector");
    let fits = labels::compiled(selector.value()).is_none_or(|compiled| {
        compiled.matches_with(|key| {
            own.iter()
                .find(|(label, _)| *label == key)
                .map(|pair| pair.1)
        })
    });
    if !fits {
        errors.push(selector.invalid("`selector` not auto-generated"));
    }
}

/// The spec of a Job, alone or as a template of a CronJob.
pub(super) fn check_spec(spec: &Spot, errors: &mut Errors) {
    for field in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        checks::not_negative(&spec.get(field), errors);
    }
    let per_index = ["backoffLimitPerIndex", "maxFailedIndexes"].map(|field| spec.get(field));
    if per_index[1].is_set() && !per_index[0].is_set() {
        errors.push(per_index[0].required("when maxFailedIndexes is specified"));
    }
    let mode = spec.get("completionMode");
    checks::one_of_if_set(&mode, &["NonIndexed", "Indexed"], errors);
    let (completions, parallelism) = (spec.get("completions"), spec.get("parallelism"));
    if mode.text() == "Indexed" {
        if !completions.is_set() {
            errors.push(completions.required("when completion mode is Indexed"));
        }
        if parallelism
            .int()
            .is_some_and(|number| number > INDEXED_PARALLELISM_MAX)
        {
            errors.push(parallelism.invalid(format!(
                "must be less than or equal to {INDEXED_PARALLELISM_MAX} when completion mode is Indexed"
            )));
        }
        let most = per_index[1].int().zip(completions.int());
        if most.is_some_and(|(failed, completions)| failed > completions) {
            errors.push(per_index[1].invalid("must be less than or equal to completions"));
        }
    } else {
        let indexed_only = per_index.into_iter().chain([spec.get("successPolicy")]);
        for field in indexed_only.filter(Spot::is_set) {
            errors.push(field.invalid("requires indexed completion mode"));
        }
    }
    let (failure, replacement) = (
        spec.get("podFailurePolicy"),
        spec.get("podReplacementPolicy"),
    );
    let known: &[&str] = if failure.is_set() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    checks::one_of_if_set(&replacement, known, errors);
    let template = spec.get("template");
    templates::check(&template, errors);
    let pod = template.get("spec");
    let policy = pod.get("restartPolicy");
    match policy.text() {
        "" | "Always" => errors.push(policy.required("valid values: \"OnFailure\", \"Never\"")),
        "OnFailure" if failure.is_set() => errors
            .push(policy.invalid("only \"Never\" is supported when podFailurePolicy is specified")),
        "OnFailure" | "Never" => {}
        _ => errors.push(policy.not_supported(&["OnFailure", "Never"])),
    }
}

fn check_update(new: &Object, old: &Object, errors: &mut Errors) {
    let (spec, before) = (Spot::of(new, "spec"), at(old, "spec"));
    let completions = spec.get("completions");
    if spec.get("completionMode").text() != "Indexed" {
        checks::immutable(&completions, &before["completions"], errors);
    } else if completions.value() != &before["completions"]
        && completions.is_set()
        && completions.int() != spec.get("parallelism").int()
    {
        errors.push(completions.invalid("can only be modified in tandem with spec.parallelism"));
    }
    checks::immutable(&spec.get("selector"), &before["selector"], errors);
    check_template_is_kept(&spec.get("template"), old, errors);
    for field in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        checks::immutable(&spec.get(field), &before[field], errors);
    }
}

/// The template stays, but for where pods go and what they ask for while the Job is suspended and
/// has not started.
fn check_template_is_kept(template: &Spot, old: &Object, errors: &mut Errors) {
    let before = at(old, "spec.template");
    let is_suspended = at(old, "spec.suspend") == &Value::Bool(true);
    let has_started = !at(old, "status.startTime").is_null();
    if !is_suspended || has_started {
        checks::immutable(template, before, errors);
        return;
    }
    let rest = |pod: &Value| {
        let mut pod = pod.clone();
        for field in ["nodeSelector", "tolerations", "schedulingGates"] {
            pod[field] = Value::Null;
        }
        if pod["affinity"].is_object() {
            pod["affinity"]["nodeAffinity"] = Value::Null;
        }
        for list in ["containers", "initContainers"] {
            let containers = pod[list].as_array_mut().into_iter().flatten();
            containers.for_each(|container| container["resources"] = Value::Null);
        }
        pod
    };
    let pod = template.get("spec");
    if !same(&rest(pod.value()), &rest(&before["spec"])) {
        errors.push(pod.invalid("field is immutable"));
    }
}
