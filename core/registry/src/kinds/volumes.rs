//! PersistentVolumes.
//!
//! Upstream: `pkg/apis/core/{v1/defaults.go,validation/validation.go}`.

use serde_json::{Value, json};

use super::NameRule;
use super::checks::{self, quantity, same};
use super::claims::{VOLUME_MODES, check_access_modes};
use super::fill::Fill::{Bool, Empty, OptionalText, Text};
use super::fill::each;
use super::pod;
use super::sheet::Sheet;
use super::sources::{self, Of};
use super::spot::{Errors, Spot};
use crate::field_error::FieldError;
use crate::meta::stamp;
use crate::object::{Meta, Object, at};

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
/// The sources in the order in which upstream looks at them.
const SOURCES: [&str; 22] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];
const INLINE: &str = "may not be specified in the context of inline volumes";

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
    update_part: |_, new, old, now| {
        let (is, was) = (at(new, "status"), at(old, "status"));
        let time = "lastPhaseTransitionTime";
        let is_same = is["phase"] == was["phase"];
        let moment = match is_same {
            // What nobody says stays.
            true if is[time].is_null() => was[time].clone(),
            false if is[time].is_null() || is[time] == was[time] => stamp(now),
            _ => return,
        };
        if !moment.is_null() {
            each(new, "status", &mut |status| {
                status.insert(time.to_owned(), moment.clone());
            });
        }
    },
    check: |volume, errors| {
        check_spec(&Spot::of(volume, "spec"), volume.name(), false, errors);
    },
    check_update,
    fields: &["name"],
    ..Sheet::PLAIN
};

fn source(volume: &Object) -> Value {
    let mut spec = at(volume, "spec").as_object().cloned().unwrap_or_default();
    spec.retain(|field, _| !VOLUME_FIELDS.contains(&field.as_str()));
    Value::Object(spec)
}

fn check_update(new: &Object, old: &Object, errors: &mut Errors) {
    let (mut after, before) = (source(new), source(old));
    if before["csi"].is_object()
        && before["csi"]["controllerExpandSecretRef"].is_null()
        && let Some(csi) = after["csi"].as_object_mut()
    {
        csi.remove("controllerExpandSecretRef");
    }
    // A source in which nothing is said is one all the same.
    let named = |source: &Value| -> Vec<String> {
        let fields = source.as_object().into_iter().flatten();
        let given = fields.filter(|(_, value)| value.is_object());
        given.map(|(field, _)| field.clone()).collect()
    };
    if !same(&after, &before) || named(&after) != named(&before) {
        errors.push(FieldError::forbidden(
            "spec.persistentvolumesource",
            "spec.persistentvolumesource is immutable after creation",
        ));
    }
    let spec = Spot::of(new, "spec");
    let mode = spec.get("volumeMode");
    if mode.value() != at(old, "spec.volumeMode") {
        errors.push(FieldError::invalid(
            "volumeMode",
            mode.value().clone(),
            "field is immutable",
        ));
    }
    let affinity = at(old, "spec.nodeAffinity");
    if !affinity.is_null() && !is_same_affinity(spec.get("nodeAffinity").value(), affinity) {
        let why = "field is immutable, except for updating from beta label to GA";
        errors.push(FieldError::invalid(
            "nodeAffinity",
            spec.get("nodeAffinity").value().clone(),
            why,
        ));
    }
    let class = spec.get("volumeAttributesClassName");
    if !class.is_set() && !at(old, "spec.volumeAttributesClassName").is_null() {
        errors.push(class.forbidden("update from non-nil value to nil is forbidden"));
    }
}

/// Labels that have got another name since, which a volume may take over.
const RENAMED: [(&str, &str); 5] = [
    (
        "failure-domain.beta.kubernetes.io/zone",
        "topology.kubernetes.io/zone",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "topology.kubernetes.io/region",
    ),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    (
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
    ),
];

/// Whether two affinities are the same but for renamed labels.
fn is_same_affinity(new: &Value, old: &Value) -> bool {
    let mut old = old.clone();
    let terms = old["required"]["nodeSelectorTerms"].as_array_mut();
    for (at, term) in terms.into_iter().flatten().enumerate() {
        let after = &new["required"]["nodeSelectorTerms"][at]["matchExpressions"];
        let expressions = term["matchExpressions"].as_array_mut();
        for (at, expression) in expressions.into_iter().flatten().enumerate() {
            let key = expression["key"].as_str().unwrap_or_default();
            let renamed = RENAMED.iter().find(|(before, _)| *before == key);
            // A label without another name counts as renamed to none.
            let renamed = renamed.map_or("", |(_, after)| after);
            if after[at].is_object() && after[at]["key"].as_str().unwrap_or_default() == renamed {
                expression["key"] = after[at]["key"].clone();
            }
        }
    }
    same(new, &old)
}

/// The spec of a volume, or of one that an attachment holds within itself.
pub(super) fn check_spec(spec: &Spot, name: &str, is_inline: bool, errors: &mut Errors) {
    let (capacity, csi) = (spec.get("capacity"), spec.get("csi"));
    if is_inline {
        for field in [spec.get("claimRef"), capacity] {
            if !field.is_empty() {
                errors.push(field.forbidden(INLINE));
            }
        }
        if !csi.is_set() {
            errors.push(csi.required("has to be specified in the context of inline volumes"));
        }
    }
    let modes = spec.get("accessModes");
    if modes.is_empty() {
        errors.push(modes.required(""));
    }
    check_access_modes(&modes, errors);
    if !is_inline {
        check_capacity(&capacity, errors);
    }
    let policy = spec.get("persistentVolumeReclaimPolicy");
    match is_inline {
        true if !policy.is_empty() && policy.text() != "Retain" => {
            errors.push(policy.forbidden("may only be Retain in the context of inline volumes"));
        }
        true => {}
        false if policy.is_empty() => {}
        false => checks::one_of(&policy, &["Delete", "Recycle", "Retain"], errors),
    }
    check_affinity(&spec.get("nodeAffinity"), is_inline, errors);
    check_sources(spec, name, errors);
    let host = spec.get("hostPath");
    if host.is_set() && is_root(host.get("path").text()) && policy.text() == "Recycle" {
        errors.push(policy.forbidden("may not be 'recycle' for a hostPath mount of '/'"));
    }
    let class = spec.get("storageClassName");
    if !class.is_empty() {
        match is_inline {
            true => errors.push(class.forbidden(INLINE)),
            false => checks::name(&class, NameRule::Subdomain, errors),
        }
    }
    let mode = spec.get("volumeMode");
    match is_inline {
        true if mode.is_set() && mode.text() != "Filesystem" => errors.push(mode.forbidden(
            "may not specify volumeMode other than Filesystem in the context of inline volumes",
        )),
        true => {}
        false => checks::one_of_if_set(&mode, VOLUME_MODES, errors),
    }
    let class = spec.get("volumeAttributesClassName");
    if class.is_set() && !is_inline {
        match class.is_empty() {
            true => errors.push(class.required("an empty string is disallowed")),
            false => checks::name(&class, NameRule::Subdomain, errors),
        }
        if !csi.is_set() {
            let why = "has to be specified when using volumeAttributesClassName";
            errors.push(csi.required(why));
        }
    }
}

fn check_capacity(capacity: &Spot, errors: &mut Errors) {
    if capacity.is_empty() {
        errors.push(capacity.required(""));
    }
    if !capacity.key("storage").is_set() || capacity.entries().count() > 1 {
        let all = match capacity.is_set() {
            true => capacity.value().clone(),
            false => Value::Null,
        };
        errors.push(FieldError::not_supported(
            capacity.path(),
            all,
            &["storage"],
        ));
    }
    for (name, _) in capacity.entries() {
        let amount = capacity.key(name);
        if let Some(value) = quantity(amount.value()).map(|amount| amount.value())
            && value < 0
        {
            let why = "must be a valid resource quantity";
            errors.push(FieldError::invalid(amount.path(), value, why));
        }
        checks::quantity_positive(&amount, errors);
    }
}

fn check_affinity(affinity: &Spot, is_inline: bool, errors: &mut Errors) {
    if !affinity.is_set() {
        return;
    }
    let required = affinity.get("required");
    if is_inline {
        errors.push(affinity.forbidden(INLINE));
    } else if required.is_set() {
        pod::check_node_selector(&required, errors);
    } else {
        errors.push(required.required("must specify required node constraints"));
    }
}

fn check_sources(spec: &Spot, name: &str, errors: &mut Errors) {
    let mut is_given = false;
    for field in SOURCES {
        let source = spec.get(field);
        if !source.is_set() {
            continue;
        }
        // Upstream writes some of the names in its own way, and forgets to count one.
        if is_given && field != "flexVolume" {
            let told = match field {
                "cephfs" => "cephFS",
                other => other,
            };
            let why = "may not specify more than 1 volume type";
            errors.push(spec.told_as(told, source.value()).forbidden(why));
            continue;
        }
        is_given = true;
        let told = match field {
            "gcePersistentDisk" => spec.told_as("persistentDisk", source.value()),
            _ => source,
        };
        sources::check(field, &told, Of::Persistent, name, errors);
        if field == "local" && !spec.get("nodeAffinity").is_set() {
            let why = "Local volume requires node affinity";
            errors.push(spec.get("nodeAffinity").required(why));
        }
    }
    if !is_given {
        errors.push(spec.required("must specify a volume type"));
    }
}

/// Whether a path leads to the root, by whatever way.
fn is_root(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    path.starts_with('/') && depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_ways_to_the_root() {
        for (path, leads) in [
            ("/", true),
            ("/a/..", true),
            ("//", true),
            ("/a", false),
            ("", false),
        ] {
            assert_eq!(is_root(path), leads, "{path}");
        }
    }
}
