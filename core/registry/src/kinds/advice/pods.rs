//! What is told whoever writes a pod, or a template of one, that is accepted although it will surprise.
//!
//! Upstream: `pkg/api/pod/warnings.go`.

use std::collections::BTreeSet;

use flyball_api::Quantity;
use serde_json::Value;

use super::node_label;
use super::{paths, ports};
use crate::kinds::{ip, label_value_mistakes};

const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";

/// Sources of volumes that do not work any more, in upstream's order.
const GONE: &[(&str, &str)] = &[
    (
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    (
        "gitRepo",
        "deprecated in v1.11, and disabled by default in v1.33+",
    ),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const OLD_ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

fn items(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// What is told of a pod, or of a template at a path, which ends in a dot.
pub(super) fn warnings(path: &str, pod: &Value) -> Vec<String> {
    let mut told = Vec::new();
    let (spec, annotations) = (&pod["spec"], &pod["metadata"]["annotations"]);
    placement(path, spec, &mut told);
    for (key, why) in OLD_ANNOTATIONS {
        if annotations.get(key).is_some() {
            told.push(format!("{path}metadata.annotations[{key}]: {why}"));
        }
    }
    volumes(path, spec, &mut told);
    told.extend(paths::overlaps(&spec["volumes"]));
    repeated(path, spec, &mut told);
    for name in ["memory", "ephemeral-storage"] {
        told.extend(fraction(
            &format!("{path}spec.overhead[{name}]"),
            &spec["overhead"][name],
        ));
    }
    let seccomp = "seccomp.security.alpha.kubernetes.io/pod";
    let pod_profile = &spec["securityContext"]["seccompProfile"];
    if pod_profile.is_null() && annotations.get(seccomp).is_some() {
        told.push(old_profile(path, seccomp));
    }
    for (place, container) in containers(path, spec) {
        of_container(path, &place, container, pod, &mut told);
    }
    ports::warn(containers(path, spec), &mut told);
    if spec["terminationGracePeriodSeconds"]
        .as_i64()
        .is_some_and(|seconds| seconds < 0)
    {
        told.push(format!(
            "{path}spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated \
             as 1"
        ));
    }
    neighbours(path, spec, &mut told);
    for (at, address) in items(&spec["dnsConfig"]["nameservers"]) {
        let place = format!("{path}spec.dnsConfig.nameservers[{at}]");
        told.extend(ip::warning(&place, address.as_str().unwrap_or_default()));
    }
    for (at, alias) in items(&spec["hostAliases"]) {
        let place = format!("{path}spec.hostAliases[{at}].ip");
        told.extend(ip::warning(&place, text(alias, "ip")));
    }
    told
}

fn old_profile(path: &str, key: &str) -> String {
    format!(
        "{path}metadata.annotations[{key}]: non-functional in v1.27+; use the \"seccompProfile\" field instead"
    )
}

/// All containers with their places, in upstream's order.
fn containers<'v>(path: &str, spec: &'v Value) -> Vec<(String, &'v Value)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let all = lists.iter().flat_map(|list| {
        items(&spec[*list])
            .map(move |(at, container)| (format!("{path}spec.{list}[{at}]"), container))
    });
    all.collect()
}

fn placement(path: &str, spec: &Value, told: &mut Vec<String>) {
    for (key, _) in spec["nodeSelector"].as_object().into_iter().flatten() {
        if let Some(why) = node_label(key) {
            told.push(format!("{path}spec.nodeSelector[{key}]: {why}"));
        }
    }
    let nodes = &spec["affinity"]["nodeAffinity"];
    let (required, preferred) = (
        "requiredDuringSchedulingIgnoredDuringExecution",
        "preferredDuringSchedulingIgnoredDuringExecution",
    );
    for (at, term) in items(&nodes[required]["nodeSelectorTerms"]) {
        let place = format!("{path}spec.affinity.nodeAffinity.{required}.nodeSelectorTerms[{at}]");
        node_term(&place, term, false, told);
    }
    for (at, term) in items(&nodes[preferred]) {
        let place = format!("{path}spec.affinity.nodeAffinity.{preferred}[{at}].preference");
        node_term(&place, &term["preference"], true, told);
    }
    for (at, constraint) in items(&spec["topologySpreadConstraints"]) {
        let place = format!("{path}spec.topologySpreadConstraints[{at}]");
        let key = text(constraint, "topologyKey");
        if let Some(why) = node_label(key) {
            told.push(format!("{place}.topologyKey: {key} is {why}"));
        }
        if constraint["labelSelector"].is_null() {
            told.push(format!("{place}.labelSelector: {NO_SELECTOR}"));
        }
    }
}

/// What is told of a term that selects nodes.
pub(super) fn node_term(place: &str, term: &Value, with_values: bool, told: &mut Vec<String>) {
    for (at, expression) in items(&term["matchExpressions"]) {
        let place = format!("{place}.matchExpressions[{at}]");
        let key = text(expression, "key");
        if let Some(why) = node_label(key) {
            told.push(format!("{place}.key: {key} is {why}"));
        }
        for (at, value) in items(&expression["values"]).filter(|_| with_values) {
            let value = value.as_str().unwrap_or_default();
            for why in label_value_mistakes(value) {
                told.push(format!("{place}.values[{at}]: {value} is invalid, {why}"));
            }
        }
    }
}

fn neighbours(path: &str, spec: &Value, told: &mut Vec<String>) {
    for affinity in ["podAffinity", "podAntiAffinity"] {
        let place = format!("{path}spec.affinity.{affinity}");
        let terms = &spec["affinity"][affinity];
        let required = "requiredDuringSchedulingIgnoredDuringExecution";
        for (at, term) in items(&terms[required]) {
            if term["labelSelector"].is_null() {
                told.push(format!(
                    "{place}.{required}[{at}].labelSelector: {NO_SELECTOR}"
                ));
            }
        }
        let preferred = "preferredDuringSchedulingIgnoredDuringExecution";
        for (at, term) in items(&terms[preferred]) {
            if term["podAffinityTerm"]["labelSelector"].is_null() {
                told.push(format!(
                    "{place}.{preferred}[{at}].podAffinityTerm.labelSelector: {NO_SELECTOR}"
                ));
            }
        }
    }
}

fn volumes(path: &str, spec: &Value, told: &mut Vec<String>) {
    for (at, volume) in items(&spec["volumes"]) {
        let place = format!("{path}spec.volumes[{at}]");
        for (source, why) in GONE {
            // A volume has one source, so that the order among them does not matter.
            let name = match *source {
                "storageos" => "storageOS",
                other => other,
            };
            if !volume[*source].is_null() {
                told.push(format!("{place}.{name}: {why}"));
            }
        }
        let claim = &volume["ephemeral"]["volumeClaimTemplate"]["spec"];
        let place = format!("{place}.ephemeral.volumeClaimTemplate.spec");
        told.extend(claim_fractions(&place, claim));
    }
}

/// What is told of the sizes that a claim asks for.
pub(super) fn claim_fractions(place: &str, claim: &Value) -> Vec<String> {
    let of = |list: &str| {
        fraction(
            &format!("{place}.resources.{list}[storage]"),
            &claim["resources"][list]["storage"],
        )
    };
    ["requests", "limits"].into_iter().filter_map(of).collect()
}

/// What is told of an amount of bytes that is not whole.
fn fraction(place: &str, amount: &Value) -> Option<String> {
    let written = amount.as_str()?;
    let quantity: Quantity = written.parse().ok()?;
    (quantity.milli_value() % 1000 != 0).then(|| {
        format!("{place}: fractional byte value {written:?} is invalid, must be an integer")
    })
}

fn repeated(path: &str, spec: &Value, told: &mut Vec<String>) {
    for (list, field) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let mut seen = BTreeSet::new();
        for (at, item) in items(&spec[list]) {
            let value = text(item, field);
            if !seen.insert(value) {
                told.push(format!(
                    "{path}spec.{list}[{at}].{field}: duplicate {field} {value:?}"
                ));
            }
        }
    }
    for (at, secret) in items(&spec["imagePullSecrets"]) {
        if text(secret, "name").is_empty() {
            told.push(format!(
                "{path}spec.imagePullSecrets[{at}].name: invalid empty name \"\""
            ));
        }
    }
}

fn of_container(path: &str, place: &str, container: &Value, pod: &Value, told: &mut Vec<String>) {
    let annotations = &pod["metadata"]["annotations"];
    let name = text(container, "name");
    let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
    let security = &container["securityContext"];
    if security["seccompProfile"].is_null() && annotations.get(&key).is_some() {
        told.push(old_profile(path, &key));
    }
    let key = format!("container.apparmor.security.beta.kubernetes.io/{name}");
    let of_pod = &pod["spec"]["securityContext"]["appArmorProfile"];
    let is_template = !path.is_empty();
    let has_profile = !security["appArmorProfile"].is_null() || !of_pod.is_null();
    if is_template && !has_profile && annotations.get(&key).is_some() {
        told.push(format!(
            "{path}metadata.annotations[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead"
        ));
    }
    for resource in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            told.extend(fraction(
                &format!("{place}.resources.{list}[{resource}]"),
                &container["resources"][list][resource],
            ));
        }
    }
    let mut seen = BTreeSet::new();
    for (at, variable) in items(&container["env"]) {
        let (name, value) = (text(variable, "name"), text(variable, "value"));
        if seen.insert(name) {
            continue;
        }
        // One that builds on the one before is no surprise.
        let before = format!("$({name})");
        if !variable["valueFrom"].is_null() || value == before || !value.contains(&before) {
            told.push(format!(
                "{place}.env[{at}]: hides previous definition of {name:?}, which may be dropped when using apply"
            ));
        }
    }
}
