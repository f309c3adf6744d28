//! What provides storage: StorageClasses, VolumeAttributesClasses, VolumeAttachments, and CSI's kinds.
//!
//! Upstream: `pkg/apis/storage/{v1/defaults.go,validation/validation.go}`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, same};
use super::fill::Fill::{Bool, Empty, OneText, OptionalText};
use super::labels;
use super::sheet::Sheet;
use super::sources;
use super::spot::{Errors, Spot};
use super::volumes;
use crate::field_error::{FieldError, Mistake};
use crate::object::{Meta, Object, at};

const PARAMETERS_MAX: usize = 512;
const PARAMETERS_BYTES_MAX: usize = 256 << 10;
const ERROR_MESSAGE_MAX: usize = 1024;
const NODE_ID_MAX: usize = 256;
const TOKEN_SECONDS_MIN: i64 = 600;
const TOKEN_SECONDS_MAX: i64 = 1 << 32;

pub(super) static STORAGE_CLASS: Sheet = Sheet {
    defaults: &[
        ("reclaimPolicy", OptionalText("Delete")),
        ("volumeBindingMode", OptionalText("Immediate")),
    ],
    check: |class, errors| {
        check_provisioner(&Spot::of(class, "provisioner"), errors);
        check_parameters(&Spot::of(class, "parameters"), true, errors);
        let policy = Spot::of(class, "reclaimPolicy");
        if !policy.is_empty() {
            checks::one_of(&policy, &["Delete", "Retain"], errors);
        }
        let mode = Spot::of(class, "volumeBindingMode");
        let known = &["Immediate", "WaitForFirstConsumer"];
        checks::given(&mode, errors);
        checks::one_of_if_set(&mode, known, errors);
        check_topologies(&Spot::of(class, "allowedTopologies"), errors);
    },
    check_update: |new, old, errors| {
        // A parameter without a value is one all the same.
        let count = |class: &Object| at(class, "parameters").as_object().map_or(0, Object::len);
        let parameters = Spot::of(new, "parameters");
        if count(new) != count(old) || !same(parameters.value(), at(old, "parameters")) {
            errors.push(parameters.invalid("field is immutable"));
        }
        for field in ["provisioner", "reclaimPolicy", "volumeBindingMode"] {
            checks::immutable(&Spot::of(new, field), at(old, field), errors);
        }
    },
    ..Sheet::PLAIN
};

pub(super) static VOLUME_ATTRIBUTES_CLASS: Sheet = Sheet {
    check: |class, errors| {
        check_provisioner(&Spot::of(class, "driverName"), errors);
        check_parameters(&Spot::of(class, "parameters"), false, errors);
    },
    check_whole_update: Some(|new, old, errors| {
        for field in ["driverName", "parameters"] {
            if !same(at(new, field), at(old, field)) {
                let why = format!("updates to {field} are forbidden.");
                errors.push(FieldError::forbidden(field, why));
            }
        }
        check_provisioner(&Spot::of(new, "driverName"), errors);
        check_parameters(&Spot::of(new, "parameters"), false, errors);
    }),
    ..Sheet::PLAIN
};

fn check_provisioner(name: &Spot, errors: &mut Errors) {
    if checks::required(name, errors) {
        let lower = name.text().to_lowercase();
        let wrong = labels::key_mistakes(&lower).into_iter();
        errors.extend(wrong.map(|why| FieldError::invalid(name.path(), lower.as_str(), why)));
    }
}

fn check_parameters(parameters: &Spot, may_be_none: bool, errors: &mut Errors) {
    if parameters.entries().count() > PARAMETERS_MAX {
        errors.push(parameters.too_long(PARAMETERS_MAX));
        return;
    }
    let mut weight = 0;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            let why = "field can not be empty.";
            errors.push(FieldError::invalid(parameters.path(), "", why));
        }
        weight += key.len() + value.as_str().unwrap_or_default().len();
    }
    if weight > PARAMETERS_BYTES_MAX {
        errors.push(parameters.too_long(PARAMETERS_BYTES_MAX));
    }
    if !may_be_none && parameters.is_empty() {
        errors.push(parameters.required("must contain at least one key/value pair"));
    }
}

fn check_topologies(topologies: &Spot, errors: &mut Errors) {
    let mut seen: Vec<BTreeMap<&str, BTreeSet<&str>>> = Vec::new();
    for term in topologies.items() {
        let expressions = term.get("matchLabelExpressions");
        let mut own: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for expression in expressions.items() {
            let (key, values) = (expression.get("key"), expression.get("values"));
            checks::required(&values, errors);
            let mut all = BTreeSet::new();
            for value in values.items() {
                if !all.insert(value.text()) {
                    errors.push(value.duplicate());
                }
            }
            labels::check_qualified_name(&key, errors);
            if own.insert(key.text(), all).is_some() {
                errors.push(key.duplicate());
            }
        }
        // Upstream starts with as many empty ones as there will be.
        if own.is_empty() {
            seen.push(BTreeMap::new());
        }
        for _ in seen.iter().filter(|other| **other == own) {
            errors.push(FieldError {
                field: expressions.path(),
                mistake: Mistake::Duplicate("".into()),
                detail: String::new(),
            });
        }
        seen.push(own);
    }
}

pub(super) static VOLUME_ATTACHMENT: Sheet = Sheet {
    defaults: &[
        ("spec", Empty),
        ("spec.source", Empty),
        (
            "spec.source.inlineVolumeSpec.hostPath.type",
            OptionalText(""),
        ),
    ],
    create: |attachment, _| {
        attachment.insert("status".to_owned(), json!({"attached": false}));
    },
    check: check_attachment,
    check_update: |new, old, errors| {
        checks::immutable(&Spot::of(new, "spec"), at(old, "spec"), errors);
    },
    check_status: |new, _, errors| check_attachment(new, errors),
    ..Sheet::PLAIN
};

fn check_attachment(attachment: &Object, errors: &mut Errors) {
    let spec = Spot::of(attachment, "spec");
    sources::check_csi_driver_name(&spec.get("attacher"), errors);
    let source = spec.get("source");
    let (inline, name) = (
        source.get("inlineVolumeSpec"),
        source.get("persistentVolumeName"),
    );
    let why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (inline.is_set(), name.is_set()) {
        (false, false) => errors.push(source.required(why)),
        (true, true) => errors.push(source.forbidden(why)),
        (false, true) if name.is_empty() => {
            errors.push(name.required("must specify non empty persistentVolumeName"));
        }
        (false, true) => {}
        (true, false) => volumes::check_spec(&inline, "", true, errors),
    }
    checks::name(&spec.get("nodeName"), NameRule::Subdomain, errors);
    let status = Spot::of(attachment, "status");
    let metadata = status.get("attachmentMetadata");
    let weight =
        |(key, value): (&String, &Value)| key.len() + value.as_str().unwrap_or_default().len();
    if metadata.entries().map(weight).sum::<usize>() > PARAMETERS_BYTES_MAX {
        errors.push(metadata.too_long(PARAMETERS_BYTES_MAX));
    }
    for field in ["attachError", "detachError"] {
        let error = status.get(field);
        let (message, code) = (error.get("message"), error.get("errorCode"));
        if message.text().len() > ERROR_MESSAGE_MAX {
            // Upstream tells another limit than it has.
            errors.push(message.too_long(PARAMETERS_BYTES_MAX));
        }
        checks::id(&code, errors);
    }
    if name.is_set() {
        checks::name(&name, NameRule::Subdomain, errors);
    }
}

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
    // A new driver has no generation; changes are counted from there.
    update: |new, old| {
        if !checks::same(at(new, "spec"), at(old, "spec")) {
            let generation = old.generation() + 1;
            let meta = new.meta_mut();
            meta.insert("generation".to_owned(), generation.into());
        }
    },
    check: check_driver,
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        let attach = spec.get("attachRequired");
        if attach.value() != at(old, "spec.attachRequired") {
            let told = spec.told_as("attachedRequired", attach.value());
            errors.push(told.invalid("field is immutable"));
        }
        let modes = spec.get("volumeLifecycleModes");
        checks::immutable(&modes, at(old, "spec.volumeLifecycleModes"), errors);
    },
    ..Sheet::PLAIN
};

fn check_driver(driver: &Object, errors: &mut Errors) {
    let spec = Spot::of(driver, "spec");
    let policies = &["File", "None", "ReadWriteOnceWithFSType"];
    checks::one_of_if_set(&spec.get("fsGroupPolicy"), policies, errors);
    let requests = spec.get("tokenRequests");
    let mut audiences = BTreeSet::new();
    for request in requests.items() {
        let audience = request.get("audience");
        if !audiences.insert(audience.text()) {
            errors.push(FieldError {
                field: audience.path(),
                mistake: Mistake::Duplicate(audience.text().into()),
                detail: String::new(),
            });
            continue;
        }
        let seconds = request.get("expirationSeconds");
        if seconds
            .int()
            .is_some_and(|seconds| seconds < TOKEN_SECONDS_MIN)
        {
            errors.push(seconds.invalid("may not specify a duration less than 10 minutes"));
        }
        if seconds
            .int()
            .is_some_and(|seconds| seconds > TOKEN_SECONDS_MAX)
        {
            errors.push(seconds.invalid("may not specify a duration larger than 2^32 seconds"));
        }
    }
    let modes = spec.get("volumeLifecycleModes");
    for mode in modes.items() {
        let known = &["Persistent", "Ephemeral"];
        if !known.contains(&mode.text()) {
            errors.push(FieldError::not_supported(modes.path(), mode.text(), known));
        }
    }
    let period = spec.get("nodeAllocatableUpdatePeriodSeconds");
    if period.int().is_some_and(|seconds| seconds < 10) {
        errors.push(period.invalid("must be greater than or equal to 10 seconds"));
    }
    let in_secrets = spec.get("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && requests.is_empty() {
        let why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.push(in_secrets.invalid(why));
    }
}

pub(super) static CSI_NODE: Sheet = Sheet {
    defaults: &[("spec", Empty)],
    check: check_node_drivers,
    check_update: |new, old, errors| {
        let spec = Spot::of(new, "spec");
        let drivers = spec.get("drivers");
        let rest = |driver: &Value| {
            let mut driver = driver.clone();
            driver["allocatable"] = Value::Null;
            driver
        };
        for before in at(old, "spec.drivers").as_array().into_iter().flatten() {
            for driver in drivers.items() {
                let is_same = driver.get("name").value() == &before["name"];
                if is_same && !same(&rest(driver.value()), &rest(before)) {
                    let shown = rest(driver.value());
                    errors.push(FieldError::invalid(
                        drivers.path(),
                        shown,
                        "field is immutable",
                    ));
                }
            }
        }
    },
    ..Sheet::PLAIN
};

fn check_node_drivers(node: &Object, errors: &mut Errors) {
    let spec = Spot::of(node, "spec");
    let drivers = spec.get("drivers");
    let mut names = BTreeSet::new();
    for driver in drivers.items() {
        let (name, id) = (driver.get("name"), driver.get("nodeID"));
        sources::check_csi_driver_name(&name, errors);
        checks::required(&id, errors);
        if id.text().len() > NODE_ID_MAX {
            errors.push(id.invalid("must be 256 characters or less"));
        }
        let allocatable = driver.get("allocatable");
        checks::not_negative(&allocatable.get("count"), errors);
        if !names.insert(name.text()) {
            errors.push(name.duplicate());
        }
        let mut seen = BTreeSet::new();
        let keys = driver.get("topologyKeys");
        for key in keys.items() {
            // Upstream tells of each as of the driver.
            if key.is_empty() {
                errors.push(driver.required(""));
            }
            if !seen.insert(key.text()) {
                errors.push(FieldError {
                    field: driver.path(),
                    mistake: Mistake::Duplicate(key.text().into()),
                    detail: String::new(),
                });
            }
            let wrong = labels::key_mistakes(key.text()).into_iter();
            errors.extend(wrong.map(|why| FieldError::invalid(driver.path(), key.text(), why)));
        }
    }
}

pub(super) static CSI_STORAGE_CAPACITY: Sheet = Sheet {
    check: |capacity, errors| {
        labels::check_selector(&Spot::of(capacity, "nodeTopology"), errors);
        checks::name(
            &Spot::of(capacity, "storageClassName"),
            NameRule::Subdomain,
            errors,
        );
        checks::quantity_not_negative(&Spot::of(capacity, "capacity"), errors);
    },
    check_update: |new, old, errors| {
        let topology = Spot::of(new, "nodeTopology");
        checks::immutable(&topology, at(old, "nodeTopology"), errors);
        let class = Spot::of(new, "storageClassName");
        checks::immutable_text(&class, at(old, "storageClassName"), errors);
    },
    ..Sheet::PLAIN
};
