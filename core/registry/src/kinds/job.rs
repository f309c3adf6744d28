//! Jobs.
//!
//! Upstream: `pkg/apis/batch/v1/defaults.go`, `pkg/apis/batch/validation/validation.go`,
//! `pkg/registry/batch/job/strategy.go`.

mod indexes;
mod policies;
mod status;

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
const INDEXED_MAX: i64 = 100_000;
/// What there may be of anything where there are more completions than that.
const MANY_COMPLETIONS_MAX: i64 = 10_000;
const MANAGED_BY_MAX: usize = 63;

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
        each(job, "spec", &mut |spec| {
            if spec.get("podReplacementPolicy").is_none_or(Value::is_null) {
                spec.insert("podReplacementPolicy".to_owned(), replacement_policy(spec));
            }
        });
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
    check: |job, errors| check(job, None, errors),
    check_whole_update: Some(|new, old, errors| {
        check(new, Some(old), errors);
        check_update(new, old, errors);
    }),
    check_status: status::check,
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

fn check(job: &Object, old: Option<&Object>, errors: &mut Errors) {
    let spec = Spot::of(job, "spec");
    let selector = spec.get("selector");
    if !spec.get("manualSelector").flag() && selector.is_set() {
        // Jobs of old have only labels without a prefix.
        let had = |old: &Object| {
            let labels = at(old, "spec.template.metadata.labels");
            !labels[UID_LABELS[1]].is_null() && !labels[NAME_LABELS[1]].is_null()
        };
        check_generated_selector(job, &spec, old.is_none_or(had), errors);
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
fn check_generated_selector(job: &Object, spec: &Spot, prefixed: bool, errors: &mut Errors) {
    let template = spec.get("template");
    let meta = template.get("metadata");
    let spot = meta.get("labels");
    let count = if prefixed { 2 } else { 1 };
    let pairs = UID_LABELS.into_iter().zip(NAME_LABELS).take(count);
    let own: Vec<(&str, &str)> = pairs
        .flat_map(|(uid, name)| [(uid, job.uid()), (name, job.name())])
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
    let manager = spec.get("managedBy");
    if manager.is_set() {
        checks::domain_prefixed_path(&manager, errors);
        if manager.text().len() > MANAGED_BY_MAX {
            errors.push(manager.too_long(MANAGED_BY_MAX));
        }
    }
    let mode = spec.get("completionMode");
    checks::one_of_if_set(&mode, &["NonIndexed", "Indexed"], errors);
    let is_indexed = mode.text() == "Indexed";
    if is_indexed {
        check_indexed(spec, errors);
    } else if !mode.is_set() || mode.text() == "NonIndexed" {
        for field in per_index.iter().filter(|field| field.is_set()) {
            errors.push(field.invalid("requires indexed completion mode"));
        }
    }
    let failure = spec.get("podFailurePolicy");
    if failure.is_set() {
        policies::check_failure(spec, &failure, errors);
    }
    let success = spec.get("successPolicy");
    if success.is_set() && !is_indexed {
        errors.push(success.invalid("requires indexed completion mode"));
    } else if success.is_set() {
        policies::check_success(spec, &success, errors);
    }
    let known: &[&str] = if failure.is_set() {
        &["Failed"]
    } else {
        &["Failed", "TerminatingOrFailed"]
    };
    checks::one_of_if_set(&spec.get("podReplacementPolicy"), known, errors);
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

/// What a Job whose pods are numbered must say, and how much it may.
fn check_indexed(spec: &Spot, errors: &mut Errors) {
    let [completions, parallelism, failed, limit] = [
        "completions",
        "parallelism",
        "maxFailedIndexes",
        "backoffLimitPerIndex",
    ]
    .map(|field| spec.get(field));
    let above = |spot: &Spot, most: i64| spot.int().is_some_and(|number| number > most);
    if !completions.is_set() {
        errors.push(completions.required("when completion mode is Indexed"));
    }
    if above(&parallelism, INDEXED_MAX) {
        errors.push(parallelism.invalid(format!(
            "must be less than or equal to {INDEXED_MAX} when completion mode is Indexed"
        )));
    }
    if completions.int().is_some_and(|most| above(&failed, most)) {
        errors.push(failed.invalid("must be less than or equal to completions"));
    }
    if above(&failed, INDEXED_MAX) {
        errors.push(failed.invalid(format!("must be less than or equal to {INDEXED_MAX}")));
    }
    if !above(&completions, INDEXED_MAX) || !limit.is_set() {
        return;
    }
    if !failed.is_set() {
        let why = format!("must be specified when completions is above {INDEXED_MAX}");
        errors.push(failed.required(&why));
    }
    for number in [&parallelism, &failed] {
        if above(number, MANY_COMPLETIONS_MAX) {
            errors.push(number.invalid(format!(
                "must be less than or equal to {MANY_COMPLETIONS_MAX} when completions are above {INDEXED_MAX} and \
                 used with backoff limit per index"
            )));
        }
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
/// nothing of it runs.
fn check_template_is_kept(template: &Spot, old: &Object, errors: &mut Errors) {
    let before = at(old, "spec.template");
    let is_suspended = at(old, "spec.suspend") == &Value::Bool(true);
    let has_started = !at(old, "status.startTime").is_null() && !status::is_true(old, "Suspended");
    let is_active = at(old, "status.active").as_i64().unwrap_or(0) != 0;
    if !is_suspended || has_started || is_active {
        checks::immutable(template, before, errors);
        return;
    }
    let rest = |pod: &Value, other: &Value| {
        let mut pod = pod.clone();
        for field in ["nodeSelector", "tolerations", "schedulingGates"] {
            pod[field] = Value::Null;
        }
        if pod["affinity"].is_object() {
            pod["affinity"]["nodeAffinity"] = Value::Null;
        }
        for list in ["containers", "initContainers"] {
            let others = other[list].as_array().map_or(&[][..], Vec::as_slice);
            let containers = pod[list].as_array_mut();
            let containers = containers.filter(|all| all.len() == others.len());
            for (container, other) in containers.into_iter().flatten().zip(others) {
                if container["name"] == other["name"] {
                    container["resources"] = Value::Null;
                }
            }
        }
        pod
    };
    let pod = template.get("spec");
    let (after, before) = (pod.value(), &before["spec"]);
    if !same(&rest(after, before), &rest(before, after)) {
        errors.push(pod.invalid("field is immutable"));
    }
}
