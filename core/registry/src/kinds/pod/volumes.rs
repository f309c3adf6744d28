//! Mistakes in a pod's volumes, and in what containers mount of them.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use flyball_api::Quantity;
use serde_json::Value;

use crate::kinds::NameRule;
use crate::kinds::checks::{self, quantity};
use crate::kinds::claims;
use crate::kinds::sources::{self, Of};
use crate::kinds::spot::{Errors, Spot};
use crate::names;

/// The sources in the order in which upstream looks at them.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// What containers can name of their pod.
pub(super) struct Volumes<'v> {
    /// The volumes without mistakes, by name: those that can be mounted.
    sound: BTreeMap<&'v str, &'v Value>,
    /// The names of the resource claims.
    pub(super) claims: BTreeSet<&'v str>,
}

impl<'v> Volumes<'v> {
    /// Looks at all volumes of a pod; a template has no name from which names of claims would follow.
    pub(super) fn check(
        spec: &Spot<'_, 'v>,
        pod: Option<&str>,
        of: Of,
        errors: &mut Errors,
    ) -> Self {
        let mut sound = BTreeMap::new();
        let pod = pod.filter(|name| !name.is_empty());
        let volumes = spec.get("volumes");
        let made: BTreeSet<String> = volumes
            .items()
            .filter(|volume| volume.get("ephemeral").is_set())
            .filter_map(|volume| Some(format!("{}-{}", pod?, volume.get("name").text())))
            .collect();
        for volume in volumes.items() {
            let before = errors.len();
            check_source(&volume, pod, of, errors);
            let name = volume.get("name");
            checks::required_name(&name, NameRule::Label, errors);
            if sound.contains_key(name.text()) {
                errors.push(name.duplicate());
            }
            if errors.len() == before {
                sound.insert(name.text(), volume.value());
            }
            let claim = volume.get("persistentVolumeClaim");
            let claim = claim.get("claimName");
            if made.contains(claim.text()) {
                let why = "must not reference a PVC that gets created for an ephemeral volume";
                errors.push(claim.invalid(why));
            }
        }
        let claims = spec.get("resourceClaims");
        let claims = claims.items().map(|claim| claim.get("name").text());
        Self {
            sound,
            claims: claims.filter(|name| !name.is_empty()).collect(),
        }
    }

    /// What a container mounts, as files or as devices.
    pub(super) fn check_mounts(&self, container: &Spot, errors: &mut Errors) {
        let (mounts, devices) = (
            container.get("volumeMounts"),
            container.get("volumeDevices"),
        );
        let (device_names, device_paths) = (texts(&devices, "name"), texts(&devices, "devicePath"));
        let mut paths = BTreeSet::new();
        for mount in mounts.items() {
            let (name, path) = (mount.get("name"), mount.get("mountPath"));
            checks::required(&name, errors);
            if !self.sound.contains_key(name.text()) {
                errors.push(name.not_found());
            }
            checks::required(&path, errors);
            if !paths.insert(path.text()) {
                errors.push(path.invalid("must be unique"));
            }
            if device_names.contains(name.text()) {
                errors.push(name.invalid("must not already exist in volumeDevices"));
            }
            if device_paths.contains(path.text()) {
                errors.push(path.invalid("must not already exist as a path in volumeDevices"));
            }
            check_inner_paths(&mounts, &mount, errors);
            check_propagation(&mounts, &mount, container, errors);
        }
        self.check_devices(&mounts, &devices, errors);
    }

    fn check_devices(&self, mounts: &Spot, devices: &Spot, errors: &mut Errors) {
        let (mount_names, mount_paths) = (texts(mounts, "name"), texts(mounts, "mountPath"));
        let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
        for device in devices.items() {
            let (name, path) = (device.get("name"), device.get("devicePath"));
            checks::required(&name, errors);
            if names.contains(name.text()) {
                errors.push(name.invalid("must be unique"));
            }
            match self.sound.get(name.text()) {
                None => errors.push(name.not_found()),
                Some(volume)
                    if volume["persistentVolumeClaim"].is_null()
                        && volume["ephemeral"].is_null() =>
                {
                    errors.push(name.invalid(
                        "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
                    ));
                }
                Some(_) => {}
            }
            checks::required(&path, errors);
            if paths.contains(path.text()) {
                errors.push(path.invalid("must be unique"));
            }
            if path.text().split('/').any(|part| part == "..") {
                errors.push(path.invalid("can not contain backsteps ('..')"));
            } else {
                paths.insert(path.text());
            }
            if mount_names.contains(name.text()) {
                errors.push(name.invalid("must not already exist in volumeMounts"));
            }
            if mount_paths.contains(path.text()) {
                errors.push(path.invalid("must not already exist as a path in volumeMounts"));
            }
            if !name.is_empty() {
                names.insert(name.text());
            }
        }
    }
}

/// The texts of a field of all items.
fn texts<'v>(list: &Spot<'_, 'v>, field: &'static str) -> BTreeSet<&'v str> {
    list.items().map(|item| item.get(field).text()).collect()
}

/// Paths inside of a volume, which upstream tells of as fields of the list.
fn check_inner_paths<'v>(mounts: &Spot<'_, 'v>, mount: &Spot<'_, 'v>, errors: &mut Errors) {
    let (path, expression) = (mount.get("subPath"), mount.get("subPathExpr"));
    checks::descending_path(&mounts.told_as("subPath", path.value()), errors);
    if expression.is_empty() {
        return;
    }
    if !path.is_empty() {
        errors.push(expression.invalid("subPathExpr and subPath are mutually exclusive"));
    }
    checks::descending_path(&mounts.told_as("subPathExpr", expression.value()), errors);
}

fn check_propagation<'v>(
    mounts: &Spot<'_, 'v>,
    mount: &Spot<'_, 'v>,
    container: &Spot,
    errors: &mut Errors,
) {
    let mode = mounts.told_as("mountPropagation", mount.get("mountPropagation").value());
    let known = &["Bidirectional", "HostToContainer", "None"];
    checks::one_of_if_set(&mode, known, errors);
    let context = container.get("securityContext");
    if mode.text() == "Bidirectional" && !context.get("privileged").flag() {
        let why = "Bidirectional mount propagation is available only to privileged containers";
        errors.push(mode.forbidden(why));
    }
    let deep = mounts.told_as("recursiveReadOnly", mount.get("recursiveReadOnly").value());
    match deep.text() {
        "Enabled" | "IfPossible" => {
            if !mount.get("readOnly").flag() {
                errors.push(deep.forbidden("may only be specified when readOnly is true"));
            }
            if mode.is_set() && mode.text() != "None" {
                errors.push(deep.forbidden(
                    "may only be specified when mountPropagation is None or not specified",
                ));
            }
        }
        "Disabled" => {}
        _ => checks::one_of_if_set(&deep, &["Disabled", "Enabled", "IfPossible"], errors),
    }
}

fn check_source(volume: &Spot, pod: Option<&str>, of: Of, errors: &mut Errors) {
    let mut is_given = false;
    for field in SOURCES {
        let source = volume.get(field);
        if !source.is_set() {
            continue;
        }
        if is_given {
            // Upstream writes some of the names in its own way.
            let told = match field {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                other => other,
            };
            let why = "may not specify more than 1 volume type";
            errors.push(volume.told_as(told, source.value()).forbidden(why));
        } else {
            check_one(field, volume, pod, of, errors);
        }
        if field == "iscsi" {
            sources::check_iscsi_volume(&volume.get("name"), &source, errors);
        }
        is_given = true;
    }
    if !is_given {
        errors.push(volume.required("must specify a volume type"));
    }
}

fn check_one(field: &'static str, volume: &Spot, pod: Option<&str>, of: Of, errors: &mut Errors) {
    let (source, name) = (volume.get(field), volume.get("name"));
    match field {
        "emptyDir" => {
            let limit = source.get("sizeLimit");
            if quantity(limit.value()).is_some_and(|limit| limit < Quantity::ZERO) {
                errors.push(limit.forbidden("SizeLimit field must be a valid resource quantity"));
            }
        }
        "gcePersistentDisk" => {
            let told = volume.told_as("persistentDisk", source.value());
            sources::check(field, &told, of, name.text(), errors);
        }
        "ephemeral" => {
            let template = source.get("volumeClaimTemplate");
            match template.is_set() {
                true => claims::check_template(&template, errors),
                false => errors.push(template.required("")),
            }
            if let Some(pod) = pod.filter(|_| !name.is_empty()) {
                let claim = format!("{pod}-{}", name.text());
                for why in names::mistakes(NameRule::Subdomain, &claim, false) {
                    errors.push(name.invalid(format!("PVC name {claim:?}: {why}")));
                }
            }
        }
        _ => sources::check(field, &source, of, name.text(), errors),
    }
}
