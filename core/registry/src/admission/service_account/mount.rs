//! How a pod gets its token: a volume with token, certificate and namespace, mounted into every
//! container that has nothing else in that place.

use serde_json::{Value, json};

use super::super::{field_mut, list_mut};
use crate::object::{Meta, Object, at};
use crate::request::letters;

const PREFIX: &str = "kube-api-access-";
const PLACE: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// How long the token lasts; an odd number, by which the server knows its own wish again.
const LASTS_SECONDS: u32 = 3607;

/// Whether the pod wants its token, or else its account does; by default it does.
pub(super) fn is_wanted(account: &Object, pod: &Object) -> bool {
    let said = at(pod, "spec.automountServiceAccountToken").as_bool();
    let said = said.or_else(|| at(account, "automountServiceAccountToken").as_bool());
    said.unwrap_or(true)
}

/// Adds the volume, and mounts it where it is missing.
pub(super) fn add(pod: &mut Object) {
    let volumes = at(pod, "spec.volumes").as_array().into_iter().flatten();
    let mut names = volumes.filter_map(|volume| volume["name"].as_str());
    let own = names
        .find(|name| name.starts_with(PREFIX))
        .map(str::to_owned);
    let has_own = own.is_some();
    let name = own.unwrap_or_else(|| format!("{PREFIX}{}", letters(hash(pod.uid()))));
    let mount = json!({"name": name, "readOnly": true, "mountPath": PLACE});
    let spec = field_mut(pod, "spec");
    let mut is_needed = false;
    for list in ["initContainers", "containers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers
            .into_iter()
            .flatten()
            .filter_map(Value::as_object_mut)
        {
            let mounts = list_mut(container, "volumeMounts");
            if mounts.iter().all(|one| one["mountPath"] != PLACE) {
                mounts.push(mount.clone());
                is_needed = true;
            }
        }
    }
    if is_needed && !has_own {
        list_mut(spec, "volumes").push(json!({"name": name, "projected": {
            "defaultMode": 0o644,
            "sources": [
                {"serviceAccountToken": {"path": "token", "expirationSeconds": LASTS_SECONDS}},
                {"configMap": {
                    "name": "kube-root-ca.crt",
                    "items": [{"key": "ca.crt", "path": "ca.crt"}],
                }},
                {"downwardAPI": {"items": [{
                    "path": "namespace",
                    "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
                }]}},
            ],
        }}));
    }
}

/// Whether some volume of the pod asks for a token.
pub(super) fn has_token(pod: &Object) -> bool {
    let volumes = at(pod, "spec.volumes").as_array().into_iter().flatten();
    let mut sources = volumes
        .filter_map(|volume| volume["projected"]["sources"].as_array())
        .flatten();
    sources.any(|source| source["serviceAccountToken"].is_object())
}

/// The pod's identity is random already; a name that follows from it needs no more chance.
fn hash(uid: &str) -> u64 {
    let bytes = uid.bytes();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
