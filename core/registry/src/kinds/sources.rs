//! Where the data of a volume comes from: what pods and persistent volumes say of it in the same way.
//!
//! Upstream: `pkg/apis/core/validation/validation.go`.

mod files;

use serde_json::Value;

use super::NameRule;
use super::checks;
use super::labels;
use super::spot::{Errors, Spot};

/// Whose volume it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// A pod's: what it refers to is in the pod's namespace.
    Pod,
    /// A template's, which may leave open what its pods must say.
    Template,
    /// A persistent volume: what it refers to says its namespace.
    Persistent,
}

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
const PULL_POLICIES: &[&str] = &["Always", "IfNotPresent", "Never"];
const PARTITION: &str = "must be between 1 and 255, inclusive";
const CSI_DRIVER_MAX: usize = 63;

/// What a source must have, where that is all there is to say.
const REQUIRED: [(&str, &[&str]); 13] = [
    ("gcePersistentDisk", &["pdName"]),
    ("awsElasticBlockStore", &["volumeID"]),
    ("glusterfs", &["endpoints", "path"]),
    ("persistentVolumeClaim", &["claimName"]),
    ("rbd", &["monitors", "image"]),
    ("cinder", &["volumeID"]),
    ("cephfs", &["monitors"]),
    ("flexVolume", &["driver"]),
    ("azureFile", &["secretName", "shareName"]),
    ("vsphereVolume", &["volumePath"]),
    ("photonPersistentDisk", &["pdID"]),
    ("portworxVolume", &["volumeID"]),
    ("scaleIO", &["gateway", "system", "volumeName"]),
];

/// The mistakes in the source of a volume, which stands in the field of this name. `volume` is the name of the volume.
pub(super) fn check(field: &str, source: &Spot, of: Of, volume: &str, errors: &mut Errors) {
    let required = REQUIRED.iter().find(|(name, _)| *name == field);
    for name in required.into_iter().flat_map(|(_, names)| names.iter()) {
        checks::required(&source.get(name), errors);
    }
    match field {
        "hostPath" => check_host_path(source, errors),
        "gitRepo" => {
            checks::required(&source.get("repository"), errors);
            checks::descending_path(&source.get("directory"), errors);
        }
        "gcePersistentDisk" | "awsElasticBlockStore" => check_partition(source, errors),
        "secret" | "configMap" | "downwardAPI" | "projected" => {
            files::check(field, source, errors);
        }
        "nfs" => {
            checks::required(&source.get("server"), errors);
            let path = source.get("path");
            checks::required(&path, errors);
            if !path.text().starts_with('/') {
                errors.push(path.invalid_text("must be an absolute path"));
            }
        }
        "iscsi" => check_iscsi(source, of, volume, errors),
        "flocker" => check_flocker(source, errors),
        "quobyte" => check_quobyte(source, errors),
        "fc" => check_fibre_channel(source, errors),
        "flexVolume" => check_options(&source.get("options"), errors),
        "azureDisk" => check_azure_disk(source, errors),
        "storageos" => check_storage_os(source, of, errors),
        "local" => {
            let path = source.get("path");
            if checks::required(&path, errors) {
                checks::no_steps_back(&path, errors);
            }
        }
        "csi" => check_csi(source, of, errors),
        "image" => {
            if of == Of::Pod {
                checks::required(&source.get("reference"), errors);
            }
            checks::one_of(&source.get("pullPolicy"), PULL_POLICIES, errors);
        }
        "cinder" => check_secret(&source.get("secretRef"), of, errors),
        "glusterfs" if of == Of::Persistent => {
            let namespace = source.get("endpointsNamespace");
            if namespace.is_set() && namespace.is_empty() {
                let why = "if the endpointnamespace is set, it must be a valid namespace name";
                errors.push(namespace.invalid(why));
            } else if namespace.is_set() {
                checks::name(&namespace, NameRule::Label, errors);
            }
        }
        "azureFile" if of == Of::Persistent => {
            let namespace = source.get("secretNamespace");
            if namespace.is_set() {
                checks::required(&namespace, errors);
            }
        }
        _ => {}
    }
}

fn check_host_path(source: &Spot, errors: &mut Errors) {
    let path = source.get("path");
    if checks::required(&path, errors) {
        checks::no_steps_back(&path, errors);
        checks::one_of_if_set(&source.get("type"), HOST_PATH_TYPES, errors);
    }
}

fn check_partition(source: &Spot, errors: &mut Errors) {
    let partition = source.get("partition");
    if !(0..=255).contains(&partition.number()) {
        errors.push(partition.invalid(PARTITION));
    }
}

/// The name of a secret, and of its namespace where that does not follow.
fn check_secret(secret: &Spot, of: Of, errors: &mut Errors) {
    if !secret.is_set() {
        return;
    }
    checks::required(&secret.get("name"), errors);
    if of == Of::Persistent {
        checks::required(&secret.get("namespace"), errors);
    }
}

/// Longer names together make a path that the kernel does not take.
const ISCSI_NAME_MAX: usize = 64;
const ISCSI_NAME_RULE: &str = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                               iscsi.initiatorName is specified.";

fn check_iscsi(source: &Spot, of: Of, volume: &str, errors: &mut Errors) {
    let (portal, initiator) = (source.get("targetPortal"), source.get("initiatorName"));
    checks::required(&portal, errors);
    let is_long = format!("{volume}:{}", portal.text()).len() > ISCSI_NAME_MAX;
    if of == Of::Persistent && initiator.is_set() && is_long {
        errors.push(
            source
                .told_as("targetportal", portal.value())
                .invalid(ISCSI_NAME_RULE),
        );
    }
    let start = match of {
        Of::Persistent => "must be valid format",
        _ => "must be valid format starting with iqn, eui, or naa",
    };
    let name = source.get("iqn");
    if checks::required(&name, errors) {
        check_iscsi_name(&name, start, errors);
    }
    let lun = source.get("lun");
    if !(0..=255).contains(&lun.number()) {
        errors.push(lun.invalid("must be between 0 and 255, inclusive"));
    }
    let secret = source.get("secretRef");
    let is_known = source.get("chapAuthDiscovery").flag() || source.get("chapAuthSession").flag();
    if is_known && !secret.is_set() {
        errors.push(secret.required(""));
    }
    if of == Of::Persistent && secret.is_set() {
        checks::required(&secret.get("name"), errors);
    }
    if initiator.is_set() {
        check_iscsi_name(
            &source.told_as("initiatorname", initiator.value()),
            start,
            errors,
        );
    }
}

/// What is wrong with the volume's own name, which upstream tells after everything else of its source.
pub(super) fn check_iscsi_volume(name: &Spot, source: &Spot, errors: &mut Errors) {
    let portal = source.get("targetPortal");
    let whole = format!("{}:{}", name.text(), portal.text());
    if source.get("initiatorName").is_set() && whole.len() > ISCSI_NAME_MAX {
        errors.push(name.invalid_text(ISCSI_NAME_RULE));
    }
}

/// A name by one of three schemes: a date, a domain and a word, 16 letters and digits, or 32 of them.
fn check_iscsi_name(name: &Spot, start: &str, errors: &mut Errors) {
    let text = name.text();
    let fits = match text.get(..3) {
        Some("iqn") => is_qualified(text),
        Some("eui") => has_letters(text, 16),
        Some("naa") => has_letters(text, 32),
        _ => {
            errors.push(name.invalid_text(start));
            return;
        }
    };
    if !fits {
        errors.push(name.invalid("must be valid format"));
    }
}

/// Whether so many letters and digits follow the scheme and one more character.
fn has_letters(text: &str, count: usize) -> bool {
    let rest = text.get(4..).unwrap_or_default();
    rest.len() == count && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// `iqn.` year `-` month `.` domain `:` word.
fn is_qualified(text: &str) -> bool {
    let Some((head, word)) = text.split_once(':') else {
        return false;
    };
    let Some(rest) = head.strip_prefix("iqn.") else {
        return false;
    };
    let is_dated = rest.len() > 8
        && rest.bytes().take(8).enumerate().all(|(at, byte)| match at {
            4 => byte == b'-',
            7 => byte == b'.',
            _ => byte.is_ascii_digit(),
        });
    let mut domain = rest.bytes().skip(8);
    let is_odd = |letter: char| ",;*&$|".contains(letter) || letter.is_ascii_whitespace();
    is_dated
        && domain.all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte))
        && !word.is_empty()
        && !word.contains(is_odd)
}

fn check_flocker(source: &Spot, errors: &mut Errors) {
    let (name, id) = (source.get("datasetName"), source.get("datasetUUID"));
    if name.is_empty() && id.is_empty() {
        errors.push(source.required("one of datasetName and datasetUUID is required"));
    }
    if !name.is_empty() && !id.is_empty() {
        let word = Value::from("resource");
        let why = "datasetName and datasetUUID can not be specified simultaneously";
        errors.push(crate::field_error::FieldError::invalid(
            source.path(),
            word,
            why,
        ));
    }
    if name.text().contains('/') {
        errors.push(name.invalid("must not contain '/'"));
    }
}

fn check_quobyte(source: &Spot, errors: &mut Errors) {
    const PAIRS: &str = "must be a host:port pair or multiple pairs separated by commas";
    let (registry, tenant) = (source.get("registry"), source.get("tenant"));
    if registry.is_empty() {
        errors.push(registry.required(PAIRS));
    } else if tenant.text().len() > 64 {
        errors.push(tenant.required("must be a UUID and may not exceed a length of 64 characters"));
    } else {
        let is_pair = |pair: &&str| pair.matches(':').count() == 1;
        let wrong = registry.text().split(',').filter(|pair| !is_pair(pair));
        wrong.for_each(|_| errors.push(registry.invalid(PAIRS)));
    }
    checks::required(&source.get("volume"), errors);
}

fn check_fibre_channel(source: &Spot, errors: &mut Errors) {
    let (names, ids, lun) = (
        source.get("targetWWNs"),
        source.get("wwids"),
        source.get("lun"),
    );
    if names.is_empty() && ids.is_empty() {
        errors.push(names.required("must specify either targetWWNs or wwids, but not both"));
    }
    if !names.is_empty() && !ids.is_empty() {
        errors.push(names.invalid("targetWWNs and wwids can not be specified simultaneously"));
    }
    if !names.is_empty() {
        if !lun.is_set() {
            errors.push(lun.required("lun is required if targetWWNs is specified"));
        }
        checks::within(&lun, 0, 255, errors);
    }
}

fn check_options(options: &Spot, errors: &mut Errors) {
    for (key, _) in options.entries() {
        let domain = key.split('/').next().unwrap_or_default();
        let domain = format!(".{}", domain.to_lowercase());
        if domain.ends_with(".kubernetes.io") || domain.ends_with(".k8s.io") {
            let place = options.key(key).path();
            let why = "kubernetes.io and k8s.io namespaces are reserved";
            errors.push(crate::field_error::FieldError::invalid(
                place,
                key.as_str(),
                why,
            ));
        }
    }
}

fn check_azure_disk(source: &Spot, errors: &mut Errors) {
    let (name, place, kind) = (
        source.get("diskName"),
        source.get("diskURI"),
        source.get("kind"),
    );
    checks::required(&name, errors);
    checks::required(&place, errors);
    let modes = &["None", "ReadOnly", "ReadWrite"];
    checks::one_of_if_set(&source.get("cachingMode"), modes, errors);
    checks::one_of_if_set(&kind, &["Dedicated", "Managed", "Shared"], errors);
    let (start, form) = match kind.text() {
        "Managed" => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        _ => (
            "https://",
            "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
        ),
    };
    if kind.is_set() && !place.text().starts_with(start) {
        errors.push(place.not_supported(&[form]));
    }
}

fn check_storage_os(source: &Spot, of: Of, errors: &mut Errors) {
    checks::required_name(&source.get("volumeName"), NameRule::Label, errors);
    let namespace = source.get("volumeNamespace");
    if !namespace.is_empty() {
        checks::name(&namespace, NameRule::Label, errors);
    }
    check_secret(&source.get("secretRef"), of, errors);
}

/// The name of a driver, in letters of either case.
pub(super) fn check_csi_driver_name(name: &Spot, errors: &mut Errors) {
    if !checks::required(name, errors) {
        return;
    }
    if name.text().len() > CSI_DRIVER_MAX {
        errors.push(name.too_long(CSI_DRIVER_MAX));
    }
    let lower = name.text().to_lowercase();
    let wrong = crate::names::mistakes(NameRule::Subdomain, &lower, false);
    errors.extend(wrong.into_iter().map(|why| name.invalid(why)));
}

fn check_csi(source: &Spot, of: Of, errors: &mut Errors) {
    check_csi_driver_name(&source.get("driver"), errors);
    let publish = source.get("nodePublishSecretRef");
    if of != Of::Persistent {
        let name = publish.get("name");
        if publish.is_set() && checks::required(&name, errors) {
            // Upstream tells of it as if it were a field of the source.
            checks::name(
                &source.told_as("name", name.value()),
                NameRule::Subdomain,
                errors,
            );
        }
        return;
    }
    checks::required(&source.get("volumeHandle"), errors);
    for field in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = source.get(field);
        if secret.is_set() {
            checks::required_name(&secret.get("name"), NameRule::Subdomain, errors);
            checks::required_name(&secret.get("namespace"), NameRule::Label, errors);
        }
    }
}

/// Labels and annotations of a template, which has nothing else.
pub(super) fn check_template_meta(meta: &Spot, errors: &mut Errors) {
    labels::check_annotations(&meta.get("annotations"), errors);
    labels::check_labels(&meta.get("labels"), errors);
    // Upstream names the fields of its own type, in its order.
    for field in [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    ] {
        let value = meta.get(field);
        if !value.is_empty() && value.int() != Some(0) {
            let told = match field {
                "uid" => "uID",
                other => other,
            };
            errors.push(meta.told_as(told, value.value()).forbidden("cannot be set"));
        }
    }
}
