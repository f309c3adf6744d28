//! Mistakes in a pod's volumes, and in what containers mount of them.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::kinds::NameRule;
use crate::kinds::checks;
use crate::kinds::spot::{Errors, Spot};

const HOST_PATH_TYPES: &[&str] = &[
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
];
const MODE_RULE: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// The volumes without mistakes, by name: those that can be mounted.
pub(super) struct Volumes<'v>(BTreeMap<&'v str, &'v Value>);

impl<'v> Volumes<'v> {
    /// Looks at all volumes of a pod.
    pub(super) fn check(spec: &Spot<'_, 'v>, errors: &mut Errors) -> Self {
        let mut sound = BTreeMap::new();
        let volumes = spec.get("volumes");
        for volume in volumes.items() {
            let before = errors.len();
            check_source(&volume, errors);
            let name = volume.get("name");
            checks::required_name(&name, NameRule::Label, errors);
            if sound.contains_key(name.text()) {
                errors.push(name.duplicate());
            }
            if errors.len() == before {
                sound.insert(name.text(), volume.value());
            }
        }
        Self(sound)
    }

    /// What a container mounts, as files or as devices.
    pub(super) fn check_mounts(&self, container: &Spot, errors: &mut Errors) {
        let (mounts, devices) = (
            container.get("volumeMounts"),
            container.get("volumeDevices"),
        );
        let taken = |list: &Spot, field, text: &str| {
            !text.is_empty() && list.items().any(|item| item.get(field).text() == text)
        };
        let mut paths = BTreeSet::new();
        for mount in mounts.items() {
            let (name, path) = (mount.get("name"), mount.get("mountPath"));
            checks::required(&name, errors);
            if !self.0.contains_key(name.text()) {
                errors.push(name.not_found());
            }
            checks::required(&path, errors);
            if !paths.insert(path.text()) {
                errors.push(path.invalid("must be unique"));
            }
            if taken(&devices, "name", name.text()) {
                errors.push(name.invalid("must not already exist in volumeDevices"));
            }
            if taken(&devices, "devicePath", path.text()) {
                errors.push(path.invalid("must not already exist as a path in volumeDevices"));
            }
            check_inner_path(
                &mounts.told_as("subPath", mount.get("subPath").value()),
                errors,
            );
            let expression = mount.get("subPathExpr");
            if !expression.is_empty() && !mount.get("subPath").is_empty() {
                errors.push(expression.invalid("subPathExpr and subPath are mutually exclusive"));
            }
        }
        let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
        for device in devices.items() {
            let (name, path) = (device.get("name"), device.get("devicePath"));
            checks::required(&name, errors);
            if !names.insert(name.text()) {
                errors.push(name.invalid("must be unique"));
            }
            match self.0.get(name.text()) {
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
            if !paths.insert(path.text()) {
                errors.push(path.invalid("must be unique"));
            }
        }
    }
}

fn check_source(volume: &Spot, errors: &mut Errors) {
    let sources = volume
        .entries()
        .filter(|(key, value)| *key != "name" && !value.is_null());
    if sources.count() > 1 {
        // Upstream names every source after the first in an order of its own; the last by name is
        // one of them.
        let last = volume
            .entries()
            .filter(|(key, value)| *key != "name" && !value.is_null())
            .last();
        if let Some((key, _)) = last {
            let path = format!("{}.{key}", volume.path());
            let why = "may not specify more than 1 volume type";
            errors.push(crate::field_error::FieldError::forbidden(path, why));
        }
        return;
    }
    let host = volume.get("hostPath");
    if host.is_set() {
        let path = host.get("path");
        if checks::required(&path, errors) {
            check_no_steps_back(&path, errors);
            checks::one_of_if_set(&host.get("type"), HOST_PATH_TYPES, errors);
        }
    }
    for (source, name) in [("secret", "secretName"), ("configMap", "name")] {
        let source = volume.get(source);
        if source.is_set() {
            checks::required(&source.get(name), errors);
            check_mode(&source.get("defaultMode"), errors);
            check_items(&source.get("items"), errors);
        }
    }
    let claim = volume.get("persistentVolumeClaim");
    if claim.is_set() {
        checks::required(&claim.get("claimName"), errors);
    }
    for source in [volume.get("projected"), volume.get("downwardAPI")] {
        check_mode(&source.get("defaultMode"), errors);
    }
    let nfs = volume.get("nfs");
    if nfs.is_set() {
        checks::required(&nfs.get("server"), errors);
        let path = nfs.get("path");
        if checks::required(&path, errors) && !path.text().starts_with('/') {
            errors.push(path.invalid("must be an absolute path"));
        }
    }
    let csi = volume.get("csi");
    if csi.is_set() {
        checks::required(&csi.get("driver"), errors);
    }
}

fn check_items(items: &Spot, errors: &mut Errors) {
    for item in items.items() {
        checks::required(&item.get("key"), errors);
        let path = item.get("path");
        checks::required(&path, errors);
        check_inner_path(&path, errors);
        if path.text().starts_with("..") && !path.text().starts_with("../") {
            errors.push(path.invalid("must not start with '..'"));
        }
        check_mode(&item.get("mode"), errors);
    }
}

fn check_mode(mode: &Spot, errors: &mut Errors) {
    if mode.int().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.push(mode.invalid(MODE_RULE));
    }
}

/// A path inside of a volume.
fn check_inner_path(path: &Spot, errors: &mut Errors) {
    if path.text().starts_with('/') {
        errors.push(path.invalid("must be a relative path"));
    }
    check_no_steps_back(path, errors);
}

fn check_no_steps_back(path: &Spot, errors: &mut Errors) {
    if path.text().split('/').any(|part| part == "..") {
        errors.push(path.invalid("must not contain '..'"));
    }
}
