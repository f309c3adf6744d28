//! Storage: PersistentVolumes, PersistentVolumeClaims, StorageClasses, CSI drivers.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`,
//! `pkg/apis/storage/{v1/defaults.go,validation/validation.go}`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, quantity, same};
use super::fill::Fill::{Bool, By, Empty, OneText, OptionalText, Text};
use super::fill::{each, fill};
use super::labels;
use super::pod;
use super::sheet::Sheet;
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::object::{Object, at};
use flyball_api::Quantity;

const ACCESS_MODES: &[&str] = &[
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];
const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];
/// The fields of a volume's spec that are not its source.
const VOLUME_FIELDS: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

pub(super) static PERSISTENT_VOLUME: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.persistentVolumeReclaimPolicy", Text("Retain")),
        ("spec.volumeMode", OptionalText("Filesystem")),
        ("spec.hostPath.type", OptionalText("")),
        ("spec.iscsi.iscsiInterface", Text("default")),
        ("spec.rbd.pool", Text("rbd")),
        ("spec.rbd.user", Text("admin")),
        ("spec.rbd.keyring", Text("/etc/ceph/keyring")),
        ("spec.azureDisk.cachingMode", OptionalText("ReadWrite")),
        ("spec.azureDisk.fsType", OptionalText("ext4")),
        ("spec.azureDisk.readOnly", Bool(false)),
        ("spec.azureDisk.kind", OptionalText("Shared")),
        ("spec.scaleIO.storageMode", Text("ThinProvisioned")),
        ("spec.scaleIO.fsType", Text("xfs")),
        ("status", Empty),
        ("status.phase", Text("Pending")),
    ],
    default: |volume| {
        each(volume, "spec", &mut |spec| {
            pod::round_list(spec, "capacity")
        })
    },
    create: |volume, now| {
        let status = json!({"phase": "Pending", "lastPhaseTransitionTime": now});
        volume.insert("status".to_owned(), status);
    },
    check: check_volume,
    check_update: |new, old, errors| {
        if !same(&source(new), &source(old)) {
            errors.push(FieldError::forbidden(
                "spec.persistentvolumesource",
                "spec.persistentvolumesource is immutable after creation",
            ));
        }
        if at(new, "spec.volumeMode") != at(old, "spec.volumeMode") {
            let mode = at(new, "spec.volumeMode").clone();
            errors.push(FieldError::invalid(
                "volumeMode",
                mode,
                "field is immutable",
            ));
        }
    },
    fields: &["name"],
    ..Sheet::PLAIN
};

pub(super) static PERSISTENT_VOLUME_CLAIM: Sheet = Sheet {
    defaults: &[],
    default: default_claim,
    create: |claim, _| {
        claim.insert("status".to_owned(), json!({"phase": "Pending"}));
        mirror_data_source(claim);
    },
    check: |claim, errors| check_claim(&Spot::of(claim, "spec"), errors),
    check_update: check_claim_update,
    fields: &["name"],
    ..Sheet::PLAIN
};

pub(super) static STORAGE_CLASS: Sheet = Sheet {
    defaults: &[
        ("reclaimPolicy", OptionalText("Delete")),
        ("volumeBindingMode", OptionalText("Immediate")),
    ],
    check: |class, errors| {
        checks::required(&Spot::of(class, "provisioner"), errors);
        checks::one_of_if_set(
            &Spot::of(class, "reclaimPolicy"),
            &["Delete", "Retain"],
            errors,
        );
        let mode = Spot::of(class, "volumeBindingMode");
        checks::one_of_if_set(&mode, &["Immediate", "WaitForFirstConsumer"], errors);
    },
    check_update: |new, old, errors| {
        for field in ["parameters", "provisioner", "reclaimPolicy"] {
            checks::immutable(&Spot::of(new, field), at(old, field), errors);
        }
        let mode = Spot::of(new, "volumeBindingMode");
        checks::immutable(&mode, at(old, "volumeBindingMode"), errors);
    },
    ..Sheet::PLAIN
};

pub(super) static CSI_DRIVER: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.attachRequired", Bool(true)),
        ("spec.podInfoOnMount", Bool(false)),
        ("spec.storageCapacity", Bool(false)),
        (
            "spec.fsGroupPolicy",
            OptionalText("ReadWriteOnceWithFSType"),
        ),
        ("spec.volumeLifecycleModes", OneText("Persistent")),
        ("spec.requiresRepublish", Bool(false)),
        ("spec.seLinuxMount", Bool(false)),
    ],
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
fn mirror_data_source(claim: &mut Object) {
    each(claim, "spec", &mut |spec| {
        let get = |field: &str| spec.get(field).filter(|value| !value.is_null()).cloned();
        match (get("dataSource"), get("dataSourceRef")) {
            (Some(source), None) => {
                spec.insert("dataSourceRef".to_owned(), source);
            }
            (None, Some(source)) if source["namespace"].as_str().unwrap_or_default().is_empty() => {
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

fn source(volume: &Object) -> Value {
    let mut spec = at(volume, "spec").as_object().cloned().unwrap_or_default();
    spec.retain(|field, _| !VOLUME_FIELDS.contains(&field.as_str()));
    Value::Object(spec)
}

fn check_access_modes(modes: &Spot, missing: &str, errors: &mut Errors) {
    if modes.is_empty() {
        errors.push(modes.required(missing));
    }
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

fn check_positive(amount: &Value, path: String, errors: &mut Errors) {
    if quantity(amount).is_some_and(|amount| amount <= Quantity::ZERO) {
        errors.push(FieldError::invalid(
            path,
            amount.clone(),
            "must be greater than zero",
        ));
    }
}

fn check_volume(volume: &Object, errors: &mut Errors) {
    let spec = Spot::of(volume, "spec");
    check_access_modes(&spec.get("accessModes"), "", errors);
    let capacity = spec.get("capacity");
    if capacity.is_empty() {
        errors.push(capacity.required(""));
    }
    if !capacity.key("storage").is_set() || capacity.entries().count() > 1 {
        let all = capacity.value().clone();
        errors.push(FieldError::not_supported(
            capacity.path(),
            all,
            &["storage"],
        ));
    }
    for (name, amount) in capacity.entries() {
        check_positive(amount, capacity.key(name).path(), errors);
    }
    let policies = &["Delete", "Recycle", "Retain"];
    checks::one_of_if_set(&spec.get("persistentVolumeReclaimPolicy"), policies, errors);
    let source = source(volume);
    let sources = source
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| !value.is_null());
    match sources.count() {
        0 => errors.push(spec.required("must specify a volume type")),
        1 => {}
        _ => errors.push(spec.forbidden("may not specify more than 1 volume type")),
    }
    let class = spec.get("storageClassName");
    if !class.is_empty() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
    checks::one_of_if_set(&spec.get("volumeMode"), VOLUME_MODES, errors);
    let local = spec.get("local");
    if local.is_set() && !spec.get("nodeAffinity").is_set() {
        errors.push(
            spec.get("nodeAffinity")
                .required("Local volume requires node affinity"),
        );
    }
}

fn check_claim(spec: &Spot, errors: &mut Errors) {
    check_access_modes(
        &spec.get("accessModes"),
        "at least 1 access mode is required",
        errors,
    );
    labels::check_selector(&spec.get("selector"), errors);
    let resources = spec.get("resources");
    let asked = &resources.value()["requests"]["storage"];
    let path = format!("{}[storage]", resources.path());
    match asked.is_null() {
        true => errors.push(FieldError::required(path, "")),
        false => check_positive(asked, path, errors),
    }
    let class = spec.get("storageClassName");
    if !class.is_empty() {
        checks::name(&class, NameRule::Subdomain, errors);
    }
    checks::one_of_if_set(&spec.get("volumeMode"), VOLUME_MODES, errors);
}

/// Of a claim's spec only the size may grow, and what was left open may be filled once.
fn check_claim_update(new: &Object, old: &Object, errors: &mut Errors) {
    let (after, before) = (at(new, "spec"), at(old, "spec"));
    let is_bound = at(old, "status.phase") == "Bound";
    let rest = |spec: &Value| {
        let mut spec = spec.clone();
        if is_bound {
            spec["resources"]["requests"]["storage"] = Value::Null;
            spec["volumeAttributesClassName"] = Value::Null;
        }
        for field in ["volumeName", "storageClassName"] {
            if before[field].is_null() {
                spec[field] = Value::Null;
            }
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
    let size = |spec: &Value| quantity(&spec["resources"]["requests"]["storage"]);
    let had = quantity(&at(old, "status.capacity")["storage"]).unwrap_or(Quantity::ZERO);
    if size(after) < size(before) && size(after) <= Some(had) {
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
}
