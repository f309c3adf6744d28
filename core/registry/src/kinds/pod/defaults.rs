//! What a pod and a pod template are filled up with.
//!
//! Upstream: `pkg/apis/core/v1/defaults.go`, `pkg/util/parsers/parsers.go`.

use serde_json::{Value, json};

use super::{image, resources};
use crate::kinds::fill::Fill::{Bool, By, Empty, Int, Nonzero, OptionalText, Text};
use crate::kinds::fill::{Line, each, fill, fill_each};
use crate::object::Object;

/// 0644, as files of configuration are made.
const FILE_MODE: i64 = 0o644;

const SPEC: &[Line] = &[
    ("dnsPolicy", Text("ClusterFirst")),
    ("restartPolicy", Text("Always")),
    ("securityContext", Empty),
    (GRACE, Int(30)),
    ("schedulerName", Text("default-scheduler")),
];

const CONTAINER: &[Line] = &[
    (
        "imagePullPolicy",
        By(|container| Some(pull_policy(container.get("image")))),
    ),
    ("terminationMessagePath", Text("/dev/termination-log")),
    ("terminationMessagePolicy", Text("File")),
    ("resources", Empty),
    ("ports[].protocol", Text("TCP")),
    ("env[].valueFrom.fieldRef.apiVersion", Text("v1")),
    ("env[].valueFrom.fileKeyRef.optional", Bool(false)),
    ("lifecycle.postStart.httpGet.path", Text("/")),
    ("lifecycle.postStart.httpGet.scheme", Text("HTTP")),
    ("lifecycle.preStop.httpGet.path", Text("/")),
    ("lifecycle.preStop.httpGet.scheme", Text("HTTP")),
];

const PROBE: &[Line] = &[
    ("timeoutSeconds", Nonzero(1)),
    ("periodSeconds", Nonzero(10)),
    ("successThreshold", Nonzero(1)),
    ("failureThreshold", Nonzero(3)),
    ("httpGet.path", Text("/")),
    ("httpGet.scheme", Text("HTTP")),
    ("grpc.service", OptionalText("")),
];

const VOLUME: &[Line] = &[
    ("emptyDir", By(empty_dir)),
    (
        "image.pullPolicy",
        By(|image| Some(pull_policy(image.get("reference")))),
    ),
    ("hostPath.type", OptionalText("")),
    ("secret.defaultMode", Int(FILE_MODE)),
    ("configMap.defaultMode", Int(FILE_MODE)),
    ("downwardAPI.defaultMode", Int(FILE_MODE)),
    ("downwardAPI.items[].fieldRef.apiVersion", Text("v1")),
    ("projected.defaultMode", Int(FILE_MODE)),
    (
        "projected.sources[].downwardAPI.items[].fieldRef.apiVersion",
        Text("v1"),
    ),
    (
        "projected.sources[].serviceAccountToken.expirationSeconds",
        Int(3600),
    ),
    ("iscsi.iscsiInterface", Text("default")),
    ("rbd.pool", Text("rbd")),
    ("rbd.user", Text("admin")),
    ("rbd.keyring", Text("/etc/ceph/keyring")),
    ("azureDisk.cachingMode", OptionalText("ReadWrite")),
    ("azureDisk.fsType", OptionalText("ext4")),
    ("azureDisk.readOnly", Bool(false)),
    ("azureDisk.kind", OptionalText("Shared")),
    ("scaleIO.storageMode", Text("ThinProvisioned")),
    ("scaleIO.fsType", Text("xfs")),
    ("ephemeral.volumeClaimTemplate.metadata", Empty),
    (
        "ephemeral.volumeClaimTemplate.spec.volumeMode",
        OptionalText("Filesystem"),
    ),
    ("ephemeral.volumeClaimTemplate.spec.resources", Empty),
];

const POD: &[Line] = &[("spec.enableServiceLinks", Bool(true))];

const GRACE: &str = "terminationGracePeriodSeconds";

/// The lists of containers in a pod's spec.
pub(super) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// The same lists in the order in which upstream visits all containers.
pub(super) const VISITED: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Fills up the spec of a pod, wherever it stands.
pub(in crate::kinds) fn default_spec(spec: &mut Object) {
    fill(spec, SPEC);
    fill_each(spec, "volumes[]", VOLUME);
    for field in CONTAINERS {
        each(spec, &format!("{field}[]"), &mut |container| {
            fill(container, CONTAINER);
            for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
                fill_each(container, probe, PROBE);
            }
            each(container, "resources", &mut resources::round);
        });
    }
    each(spec, "resources", &mut resources::round);
    mirror_service_account(spec);
    drop_disabled(spec);
}

/// Takes away what is off by default upstream.
fn drop_disabled(spec: &mut Object) {
    spec.remove("schedulingGroup");
    for field in CONTAINERS {
        each(spec, &format!("{field}[].lifecycle"), &mut |lifecycle| {
            lifecycle.remove("stopSignal");
        });
    }
    each(spec, "volumes[].projected.sources[]", &mut |source| {
        source.remove("clusterTrustBundle");
        source.remove("podCertificate");
    });
}

/// The address of a pod stands in two fields, one of them for clients of old, which wins.
fn mirror_addresses(status: &mut Object) {
    let first = |status: &Object| {
        let all = status.get("podIPs").and_then(Value::as_array);
        let first = all.and_then(|all| all.first()).map(|one| one["ip"].clone());
        first.and_then(|ip| ip.as_str().map(str::to_owned))
    };
    let own = status
        .get("podIP")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let listed = first(status);
    if !own.is_empty() && listed.as_deref() != Some(own.as_str()) {
        status.insert("podIPs".to_owned(), json!([{"ip": own}]));
    } else if let Some(listed) = listed.filter(|listed| *listed != own) {
        status.insert("podIP".to_owned(), listed.into());
    }
}

/// Fills up a pod template in a field of a spec.
pub(in crate::kinds) fn default_template(object: &mut Object, way: &str) {
    each(object, way, &mut |template| {
        fill(template, &[("metadata", Empty), ("spec", Empty)]);
        each(template, "spec", &mut default_spec);
    });
}

/// Fills up a pod: as a template, and with what a template leaves to its pods.
/// Times that are always written, be there none.
const CONDITION: &[Line] = &[
    ("lastProbeTime", By(|_| Some(Value::Null))),
    ("lastTransitionTime", By(|_| Some(Value::Null))),
];

pub(super) fn default_pod(pod: &mut Object) {
    fill(pod, &[("spec", Empty)]);
    each(pod, "spec", &mut |spec| {
        // A stop takes no less than no time; templates may ask for it.
        let grace = spec.get(GRACE).and_then(Value::as_i64);
        if grace.is_some_and(|seconds| seconds < 0) {
            spec.insert(GRACE.to_owned(), 1.into());
        }
        resources::requests_from_limits(spec);
        resources::pod_level(spec);
        if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
            for field in ["containers[].ports[]", "initContainers[].ports[]"] {
                each(spec, field, &mut own_host_port);
            }
        }
    });
    fill(pod, POD);
    each(pod, "status", &mut mirror_addresses);
    fill_each(pod, "status.conditions[]", CONDITION);
    each(pod, "spec", &mut default_spec);
}

/// On the host's network a port is the host's.
fn own_host_port(port: &mut Object) {
    let is_given = port
        .get("hostPort")
        .and_then(Value::as_i64)
        .is_some_and(|number| number != 0);
    if let Some(number) = port.get("containerPort").filter(|_| !is_given).cloned() {
        port.insert("hostPort".to_owned(), number);
    }
}

/// The account's name stands in two fields, one of them for clients of old.
pub(super) fn mirror_service_account(spec: &mut Object) {
    let name = |field: &str| {
        let text = spec.get(field).and_then(Value::as_str);
        text.filter(|name| !name.is_empty()).map(str::to_owned)
    };
    if let Some(name) = name("serviceAccountName").or_else(|| name("serviceAccount")) {
        spec.insert("serviceAccountName".to_owned(), name.as_str().into());
        spec.insert("serviceAccount".to_owned(), name.into());
    }
}

/// A volume that says nothing about itself is an empty directory.
fn empty_dir(volume: &Object) -> Option<Value> {
    let has_source = volume
        .iter()
        .any(|(key, value)| key != "name" && !value.is_null());
    (!has_source).then(|| Value::Object(Object::new()))
}

/// An image that may change under its tag is always pulled.
fn pull_policy(image: Option<&Value>) -> Value {
    let image = image.and_then(Value::as_str).unwrap_or_default();
    match image::is_latest(image) {
        true => "Always".into(),
        false => "IfNotPresent".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_without_a_source_is_an_empty_directory() {
        let mut spec =
            json!({"volumes": [{"name": "a"}, {"name": "b", "configMap": {"name": "c"}}]});
        default_spec(spec.as_object_mut().unwrap());
        assert_eq!(
            spec["volumes"],
            json!([
                {"name": "a", "emptyDir": {}},
                {"name": "b", "configMap": {"name": "c", "defaultMode": 420}},
            ])
        );
    }
}
