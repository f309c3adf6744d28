//! PersistentVolumeClaims, alone and as templates in other kinds.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`,
//! `pkg/registry/core/persistentvolumeclaim/strategy.go`.

use flyball_api::Quantity;
use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, quantity, same};
use super::fill::Fill::{By, Empty, OptionalText, Text};
use super::fill::{each, fill};
use super::labels;
use super::pod;
use super::quantities;
use super::sheet::Sheet;
use super::sources;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Meta, Object, at};

const ACCESS_MODES: &[&str] = &[
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
pub(super) const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];
const RESIZE_STATUSES: &[&str] = &[
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];
/// Where the class was said before there was a field.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(super) static PERSISTENT_VOLUME_CLAIM: Sheet = Sheet {
    defaults: &[],
    default: default_claim,
    create: |claim, _| {
        claim.insert("status".to_owned(), json!({"phase": "Pending"}));
        mirror_data_source(claim, None);
    },
    update: |claim, old| mirror_data_source(claim, Some(old)),
    check: |claim, errors| check_spec(&Spot::of(claim, "spec"), false, errors),
    check_whole_update: Some(|new, old, errors| {
        let had_group = ["dataSource", "dataSourceRef"]
            .iter()
            .any(|field| !at(old, "spec")[field]["apiGroup"].is_null());
        check_spec(&Spot::of(new, "spec"), had_group, errors);
        check_update(new, old, errors);
    }),
    check_status,
    fields: &["name"],
    ..Sheet::PLAIN
};

/// Fills up a claim, alone or as a template of a StatefulSet.
pub(super) fn default_claim(claim: &mut Object) {
    fill(
        claim,
        &[
            ("spec", Empty),
            ("spec.volumeMode", OptionalText("Filesystem")),
            ("spec.resources", Empty),
            ("spec.dataSource.apiGroup", By(|_| Some(Value::Null))),
            ("spec.dataSourceRef.apiGroup", By(|_| Some(Value::Null))),
            ("status", Empty),
            ("status.phase", Text("Pending")),
        ],
    );
    for resources in ["spec.resources", "status"] {
        each(claim, resources, &mut |resources| {
            for list in ["limits", "requests", "capacity"] {
                pod::round_list(resources, list);
            }
        });
    }
}

/// A claim's data comes from one source that stands in two fields, one of them for clients of old.
fn mirror_data_source(claim: &mut Object, old: Option<&Object>) {
    let had = |field: &str| old.is_some_and(|old| !at(old, "spec")[field].is_null());
    let had_any = had("dataSource") || had("dataSourceRef");
    each(claim, "spec", &mut |spec| {
        let get =
            |spec: &Object, field: &str| spec.get(field).filter(|value| !value.is_null()).cloned();
        let is_elsewhere =
            |source: &Value| !source["namespace"].as_str().unwrap_or_default().is_empty();
        // Sources in other namespaces are off by default upstream.
        if !had("dataSourceRef") && get(spec, "dataSourceRef").is_some_and(|it| is_elsewhere(&it)) {
            spec.remove("dataSourceRef");
        }
        // The older field can say little.
        if !had_any && get(spec, "dataSource").is_some_and(|source| !is_old_source(&source)) {
            spec.remove("dataSource");
        }
        match (get(spec, "dataSource"), get(spec, "dataSourceRef")) {
            (Some(source), None) => {
                spec.insert("dataSourceRef".to_owned(), source);
            }
            (None, Some(source)) if !is_elsewhere(&source) => {
                let mut source = source;
                if let Value::Object(fields) = &mut source {
                    fields.remove("namespace");
                }
                spec.insert("dataSource".to_owned(), source);
            }
            _ => {}
        }
    });
}

/// Whether a source is one of the two that there were when there was one field.
fn is_old_source(source: &Value) -> bool {
    let text = |field: &str| source[field].as_str().unwrap_or_default().to_owned();
    matches!(
        (text("apiGroup").as_str(), text("kind").as_str()),
        ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
    )
}

/// Ways in which nodes use a volume; the one that is for a single pod stands alone.
pub(super) fn check_access_modes(modes: &Spot, errors: &mut Errors) {
    let (mut alone, mut others) = (false, false);
    for mode in modes.items() {
        if !ACCESS_MODES.contains(&mode.text()) {
            errors.push(FieldError::not_supported(
                modes.path(),
                mode.text(),
                ACCESS_MODES,
            ));
        } else if mode.text() == "ReadWriteOncePod" {
            alone = true;
        } else {
            others = true;
        }
    }
    if alone && others {
        errors.push(modes.forbidden("may not use ReadWriteOncePod with other access modes"));
    }
}

/// The template of a claim that is made for a pod.
pub(super) fn check_template(template: &Spot, errors: &mut Errors) {
    sources::check_template_meta(&template.get("metadata"), errors);
    check_spec(&template.get("spec"), false, errors);
}

/// What a claim asks for. The group of its source is not looked at if it had one before.
pub(super) fn check_spec(spec: &Spot, had_group: bool, errors: &mut Errors) {
    let modes = spec.get("accessModes");
    if modes.is_empty() {
        errors.push(modes.required("at least 1 access mode is required"));
    }
    labels::check_selector(&spec.get("selector"), errors);
    check_access_modes(&modes, errors);
    let resources = spec.get("resources");
    let requests = resources.get("requests");
    let asked = resources.told_as_key("storage", requests.key("storage").value());
    if !asked.is_set() {
        errors.push(asked.required(""));
    } else {
        checks::quantity_positive(&asked, errors);
    }
    let class = spec.get("storageClassName");
    if !class.is_empty() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
    checks::one_of_if_set(&spec.get("volumeMode"), VOLUME_MODES, errors);
    check_sources(spec, had_group, errors);
    let class = spec.get("volumeAttributesClassName");
    if !class.is_empty() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
}

fn check_sources(spec: &Spot, had_group: bool, errors: &mut Errors) {
    let (source, reference) = (spec.get("dataSource"), spec.get("dataSourceRef"));
    for one in [&source, &reference] {
        if !one.is_set() {
            continue;
        }
        checks::required(&one.get("name"), errors);
        let kind = one.get("kind");
        checks::required(&kind, errors);
        let group = one.get("apiGroup");
        if group.is_empty() && kind.text() != "PersistentVolumeClaim" {
            let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.push(FieldError::invalid(one.path(), kind.text(), why));
        }
        if !group.is_empty() && !had_group {
            checks::name(&group, NameRule::Subdomain, errors);
        }
        let namespace = one.get("namespace");
        if !namespace.is_empty() {
            checks::name(&namespace, NameRule::Label, errors);
        }
    }
    // Upstream shows where the field is instead of what is in it.
    let told = |why: &str| FieldError::shown(spec.path(), "{}".to_owned(), why);
    if !reference.get("namespace").is_empty() {
        if source.is_set() {
            errors.push(told(
                "may not be specified when dataSourceRef.namespace is specified",
            ));
        }
        return;
    }
    let fields = ["apiGroup", "kind", "name"];
    let is_same = fields
        .iter()
        .all(|field| source.get(field).value() == reference.get(field).value());
    if source.is_set() && reference.is_set() && !is_same {
        errors.push(told("must match dataSourceRef"));
    }
}

/// Of a claim's spec only the size may grow, and what was left open may be filled once.
fn check_update(new: &Object, old: &Object, errors: &mut Errors) {
    let (after, before) = (at(new, "spec"), at(old, "spec"));
    let annotation = |claim: &Object| claim.meta()["annotations"][CLASS].clone();
    let (class_after, class_before) = (annotation(new), annotation(old));
    let takes_over = class_before.is_string()
        && before["storageClassName"].is_null()
        && after["storageClassName"] == class_before
        && (class_after.is_null() || class_after == class_before);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if !takes_over && text(&class_after) != text(&class_before) {
        let place = format!("metadata.annotations.{CLASS}");
        errors.push(FieldError::invalid(
            place,
            text(&class_after),
            "field is immutable",
        ));
    }
    let may_set_class = takes_over
        || (before["storageClassName"].is_null()
            && (class_before.is_null() || class_before == after["storageClassName"]));
    let is_bound = at(new, "status.phase") == "Bound";
    let rest = |spec: &Value| {
        let mut spec = spec.clone();
        if is_bound && after["resources"]["requests"].is_object() {
            spec["resources"]["requests"]["storage"] = Value::Null;
        }
        if is_bound {
            spec["volumeAttributesClassName"] = Value::Null;
        }
        if text(&before["volumeName"]).is_empty() {
            spec["volumeName"] = Value::Null;
        }
        if may_set_class && !after["storageClassName"].is_null() {
            spec["storageClassName"] = Value::Null;
        }
        spec
    };
    if !same(&rest(after), &rest(before)) {
        errors.push(FieldError::forbidden(
            "spec",
            "spec is immutable after creation except resources.requests and volumeAttributesClassName \
             for bound claims",
        ));
    }
    // A claim whose growth failed may ask for less again, but not for less than it has.
    let size = |spec: &Value| {
        quantity(&spec["resources"]["requests"]["storage"]).unwrap_or(Quantity::ZERO)
    };
    let had = quantity(&at(old, "status.capacity")["storage"]).unwrap_or(Quantity::ZERO);
    if size(after) < size(before) && size(after) <= had {
        errors.push(FieldError::forbidden(
            "spec.resources.requests.storage",
            "field can not be less than status.capacity",
        ));
    }
    if after["volumeMode"] != before["volumeMode"] {
        let mode = after["volumeMode"].clone();
        errors.push(FieldError::invalid(
            "volumeMode",
            mode,
            "field is immutable",
        ));
    }
    let class = "volumeAttributesClassName";
    let is_classed = !at(old, "status.currentVolumeAttributesClassName").is_null();
    if after[class] != before[class] && is_classed && text(&after[class]).is_empty() {
        let to = match after[class].is_null() {
            true => "nil",
            false => "empty string",
        };
        let why = format!(
            "update to {to} is forbidden when status.currentVolumeAttributesClassName is not nil"
        );
        errors.push(FieldError::forbidden(format!("spec.{class}"), why));
    }
}

fn check_status(claim: &Object, _: &Object, errors: &mut Errors) {
    let status = Spot::of(claim, "status");
    let capacity = status.get("capacity");
    for (name, _) in capacity.entries() {
        check_basic(&capacity.key(name), errors);
    }
    let statuses = status.get("allocatedResourceStatuses");
    for (name, value) in statuses.entries() {
        check_resource_key(&statuses, name, errors);
        if !RESIZE_STATUSES.contains(&value.as_str().unwrap_or_default()) {
            errors.push(FieldError::not_supported(
                statuses.path(),
                name.as_str(),
                RESIZE_STATUSES,
            ));
        }
    }
    let allocated = status.get("allocatedResources");
    for (name, _) in allocated.entries() {
        if !check_resource_key(&allocated, name, errors) {
            continue;
        }
        let amount = allocated.key(name);
        if check_basic(&amount, errors) {
            quantities::check_amount(&amount, "storage", errors);
        }
    }
}

fn check_basic(amount: &Spot, errors: &mut Errors) -> bool {
    let value = quantity(amount.value()).map_or(0, |amount| amount.value());
    if value < 0 {
        let why = "must be a valid resource quantity";
        errors.push(FieldError::invalid(amount.path(), value, why));
    }
    value >= 0
}

/// Of Kubernetes' own resources a claim has only its size.
fn check_resource_key(list: &Spot, name: &str, errors: &mut Errors) -> bool {
    let wrong = labels::key_mistakes(name);
    let fits = wrong.is_empty();
    let told = wrong.into_iter();
    errors.extend(told.map(|why| FieldError::invalid(list.path(), name, why)));
    let is_own = !name.contains('/') || name.contains("kubernetes.io/");
    if fits && is_own && name != "storage" {
        errors.push(FieldError::not_supported(list.path(), name, &["storage"]));
        return false;
    }
    fits
}
