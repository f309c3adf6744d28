//! What is told whoever creates an object that is accepted although it will surprise.
//!
//! Upstream: `WarningsOnCreate` and `WarningsOnUpdate` in `pkg/registry/*/*/strategy.go`.

mod jobs;
mod labels;
mod paths;
mod pods;
mod ports;

use flyball_schema::Resource;
use serde_json::Value;

use super::NameRule;
use crate::names;
use crate::object::{Meta, Object, at};

/// Labels of nodes that have other names by now.
const OLD_NODE_LABELS: &[(&str, &str)] = &[
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

/// Sources of PersistentVolumes that do not work any more, in upstream's order.
const OLD_VOLUMES: &[(&str, &str, &str)] = &[
    ("cephfs", "cephfs", "v1.28, non-functional in v1.31+"),
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "v1.11, non-functional in v1.16+",
    ),
    ("scaleIO", "scaleIO", "v1.16, non-functional in v1.22+"),
    ("storageos", "storageOS", "v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "v1.25, non-functional in v1.26+"),
    ("rbd", "rbd", "v1.28, non-functional in v1.31+"),
];

const TOKENS: &str = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to \
                      prevent possible logging of tokens in volume attributes";

/// What is told of a label of nodes.
fn node_label(key: &str) -> Option<&'static str> {
    let found = OLD_NODE_LABELS.iter().find(|(old, _)| *old == key)?;
    Some(found.1)
}

/// What is told whoever creates such an object, beside what its rules say.
pub(crate) fn on_create(resource: &Resource, object: &Object) -> Vec<String> {
    let mut told = Vec::new();
    let kind = (resource.group.as_str(), resource.plural.as_str());
    let names_pods = matches!(
        kind,
        ("", "replicationcontrollers")
            | ("apps", "deployments" | "replicasets")
            | ("batch", "jobs" | "cronjobs")
    );
    let wrong = names::mistakes(NameRule::Label, object.name(), false);
    if names_pods && !wrong.is_empty() {
        told.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS \
             label is recommended: [{}]",
            wrong.join(" ")
        ));
    }
    match kind {
        ("", "pods") => told.extend(pods::warnings("", &Value::Object(object.clone()))),
        ("discovery.k8s.io", "endpointslices")
            if object.get("addressType").is_some_and(|kind| kind == "FQDN") =>
        {
            told.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
        }
        _ => {}
    }
    if kind == ("storage.k8s.io", "csidrivers") && asks_for_tokens(object) {
        told.push(TOKENS.to_owned());
    }
    if let Some(place) = jobs::spec_of(kind) {
        told.extend(jobs::completions(object, place));
    }
    if let Some(path) = template_of(kind) {
        told.extend(pods::warnings(&format!("{path}."), at(object, path)));
    }
    if kind == ("apps", "statefulsets") {
        told.extend(claims(object, ""));
        told.extend(kept_revisions(object));
    }
    told.extend(always(kind, object));
    told
}

/// What is told whoever updates such an object, beside what its rules say.
pub(crate) fn on_update(resource: &Resource, new: &Object, old: &Object) -> Vec<String> {
    let mut told = Vec::new();
    let kind = (resource.group.as_str(), resource.plural.as_str());
    let is_counted = new.generation() != old.generation();
    if let Some(place) = jobs::spec_of(kind).filter(|_| is_counted) {
        told.extend(jobs::completions(new, place));
    }
    if let Some(path) = template_of(kind).filter(|_| is_counted) {
        let (after, before) = (at(new, path), at(old, path));
        match kind {
            // Upstream looks at the template that was there before.
            ("", "replicationcontrollers") => {
                told.extend(pods::warnings(&format!("{path}."), before));
            }
            ("apps", "daemonsets") if after == before => {}
            _ => told.extend(pods::warnings(&format!("{path}."), after)),
        }
    }
    if kind == ("batch", "cronjobs") {
        told.extend(jobs::zone(new));
    }
    let tokens = "spec.tokenRequests";
    if kind == ("storage.k8s.io", "csidrivers")
        && asks_for_tokens(new)
        && at(new, tokens) != at(old, tokens)
    {
        told.push(TOKENS.to_owned());
    }
    if kind == ("apps", "statefulsets") {
        told.extend(claims(new, ".Spec"));
        told.extend(kept_revisions(new));
    }
    told.extend(always(kind, new));
    told
}

/// What is told of a StatefulSet that keeps all of its revisions.
fn kept_revisions(set: &Object) -> Option<String> {
    let limit = at(set, "spec.revisionHistoryLimit").as_i64()?;
    let why = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is \
               recommended";
    (limit < 0).then(|| why.to_owned())
}

/// Where a kind has its template of pods.
fn template_of(kind: (&str, &str)) -> Option<&'static str> {
    match kind {
        ("", "replicationcontrollers")
        | ("apps", "daemonsets" | "deployments" | "replicasets" | "statefulsets")
        | ("batch", "jobs") => Some("spec.template"),
        ("batch", "cronjobs") => Some("spec.jobTemplate.spec.template"),
        ("", "podtemplates") => Some("template"),
        _ => None,
    }
}

/// What is told of the templates of claims of a stateful set.
fn claims(set: &Object, suffix: &str) -> Vec<String> {
    let all = at(set, "spec.volumeClaimTemplates").as_array();
    let mut told = Vec::new();
    for (at, claim) in all.into_iter().flatten().enumerate() {
        let place = format!("spec.volumeClaimTemplates[{at}]{suffix}");
        told.extend(pods::claim_fractions(&place, &claim["spec"]));
    }
    told
}

/// Whether a driver asks for tokens and does not say where they go.
fn asks_for_tokens(driver: &Object) -> bool {
    let requests = at(driver, "spec.tokenRequests").as_array();
    requests.is_some_and(|all| !all.is_empty())
        && at(driver, "spec.serviceAccountTokenInSecrets").is_null()
}

fn always(kind: (&str, &str), object: &Object) -> Vec<String> {
    match kind {
        ("", "persistentvolumes") => volume(object),
        ("storage.k8s.io", "storageclasses") => labels::storage_class(object),
        ("storage.k8s.io", "csistoragecapacities") => labels::capacity(object),
        ("node.k8s.io", "runtimeclasses") => labels::runtime_class(object),
        ("", "persistentvolumeclaims") => {
            let mut told = annotations(object, &OLD_VOLUME_ANNOTATIONS[..1]);
            let spec = object.get("spec").unwrap_or(&Value::Null);
            told.extend(pods::claim_fractions("spec", spec));
            told
        }
        ("", "secrets")
            if object
                .get("type")
                .is_some_and(|kind| kind == "kubernetes.io/tls") =>
        {
            pair(object).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

const OLD_VOLUME_ANNOTATIONS: [(&str, &str); 2] = [
    (
        "volume.beta.kubernetes.io/storage-class",
        "deprecated since v1.8; use \"storageClassName\" attribute instead",
    ),
    (
        "volume.beta.kubernetes.io/mount-options",
        "deprecated since v1.31; use \"mountOptions\" attribute instead",
    ),
];

fn annotations(object: &Object, old: &[(&str, &str)]) -> Vec<String> {
    let has = |key: &str| object.meta()["annotations"].get(key).is_some();
    let all = old.iter().filter(|(key, _)| has(key));
    all.map(|(key, why)| format!("metadata.annotations[{key}]: {why}"))
        .collect()
}

fn volume(object: &Object) -> Vec<String> {
    let mut told = annotations(object, &OLD_VOLUME_ANNOTATIONS);
    if at(object, "spec.persistentVolumeReclaimPolicy") == "Recycle" {
        let why = "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
                   provisioning.";
        told.push(format!("spec.persistentVolumeReclaimPolicy: {why}"));
    }
    let path = "spec.nodeAffinity.required.nodeSelectorTerms";
    let terms = at(object, path).as_array().into_iter().flatten();
    for (at, term) in terms.enumerate() {
        pods::node_term(&format!("{path}[{at}]"), term, false, &mut told);
    }
    for (field, name, why) in OLD_VOLUMES {
        if !at(object, &format!("spec.{field}")).is_null() {
            told.push(format!("spec.{name}: deprecated in {why}"));
        }
    }
    told
}

/// What is wrong with the certificate and key of a secret, as far as it can be seen without reading them.
fn pair(secret: &Object) -> Option<String> {
    // What begins a block of PEM, in base64.
    let is_pem = |field: &str| {
        let text = secret.get("data").map_or(&Value::Null, |data| &data[field]);
        text.as_str()
            .is_some_and(|text| text.contains("LS0tLS1CRUdJTi"))
    };
    let missing = [("tls.crt", "certificate"), ("tls.key", "key")]
        .into_iter()
        .find(|(field, _)| !is_pem(field))?;
    Some(format!(
        "tls: failed to find any PEM data in {} input",
        missing.1
    ))
}

#[cfg(test)]
mod tests {
    use flyball_schema::builtin;
    use serde_json::json;

    use super::*;

    #[test]
    fn names_that_pods_cannot_have_as_hosts_are_told() {
        let deployments = builtin().resource("apps", "v1", "deployments").unwrap();
        let object = |name: &str| {
            json!({"metadata": {"name": name}})
                .as_object()
                .unwrap()
                .clone()
        };
        assert!(on_create(deployments, &object("web")).is_empty());
        let told = on_create(deployments, &object("web.example"));
        assert!(
            told[0].ends_with("a DNS label is recommended: [must not contain dots]"),
            "{told:?}"
        );
    }

    #[test]
    fn what_surprises_in_a_template_is_told_with_its_place() {
        let deployments = builtin().resource("apps", "v1", "deployments").unwrap();
        let object = json!({
            "metadata": {"name": "web", "generation": 2},
            "spec": {"template": {"spec": {
                "nodeSelector": {"beta.kubernetes.io/os": "linux"},
                "volumes": [
                    {"name": "a", "gitRepo": {"repository": "x"}},
                    {"name": "b", "secret": {"secretName": "s", "items": [
                        {"key": "k", "path": "p"},
                        {"key": "l", "path": "p/q"},
                    ]}},
                ],
                "containers": [{
                    "name": "main",
                    "env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}],
                    "ports": [
                        {"containerPort": 80, "protocol": "TCP"},
                        {"containerPort": 80, "protocol": "TCP"},
                    ],
                    "resources": {"limits": {"memory": "1500m"}},
                }],
            }}},
        });
        let object = object.as_object().unwrap();
        let told = on_create(deployments, object);
        assert_eq!(
            told,
            [
                "spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \
                 \"kubernetes.io/os\" instead",
                "spec.template.spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
                "volume \"b\" (Secret \"s\"): overlapping paths: \"p/q\" with \"p\"",
                "spec.template.spec.containers[0].resources.limits[memory]: fractional byte value \"1500m\" is \
                 invalid, must be an integer",
                "spec.template.spec.containers[0].env[1]: hides previous definition of \"A\", which may be dropped \
                 when using apply",
                "spec.template.spec.containers[0].ports[1]: duplicate port definition with \
                 spec.template.spec.containers[0].ports[0]",
            ]
        );
        assert_eq!(on_update(deployments, object, object).len(), 0);
    }

    #[test]
    fn secrets_without_pem_are_told() {
        let secrets = builtin().resource("", "v1", "secrets").unwrap();
        let secret = json!({"type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}});
        let told = on_create(secrets, secret.as_object().unwrap());
        assert_eq!(
            told,
            ["tls: failed to find any PEM data in certificate input"]
        );
    }
}
