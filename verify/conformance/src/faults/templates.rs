//! Fifty pod templates that between them use what people use, in the notations people use.
//!
//! A table of features, each a piece of a pod spec or of its first container; template *n* takes a few of them by
//! arithmetic, so that every feature meets several others.

use serde_json::{Value, json};

/// How many templates there are.
pub(super) const COUNT: usize = 50;

/// Template number `number`, of `0..COUNT`.
pub(super) fn template(number: usize) -> Value {
    let features = features();
    let mut pod = json!({
        "metadata": {
            "creationTimestamp": null,
            "labels": { "number": number.to_string() },
            "annotations": { "note": "ümläut \"quotes\" <html> & \\ 漢字" },
        },
        "spec": { "containers": [{ "name": "app", "image": "registry.example/app:v1" }] },
    });
    for feature in [number, number * 7 + 3, number * 11 + 5, number / 3 + 1] {
        let (_, pod_part, container_part) = &features[feature % features.len()];
        merge(&mut pod["spec"], pod_part);
        merge(&mut pod["spec"]["containers"][0], container_part);
    }
    pod
}

/// Lists are joined and affinities merged; otherwise what is there stays, because two halves of a probe or of a
/// security context make no whole.
fn merge(into: &mut Value, part: &Value) {
    let (Value::Object(into), Value::Object(part)) = (into, part) else {
        return;
    };
    for (key, value) in part {
        match (into.get_mut(key), value) {
            (None, value) => {
                into.insert(key.clone(), value.clone());
            }
            (Some(Value::Array(known)), Value::Array(more)) => {
                for item in more {
                    if !known.contains(item) {
                        known.push(item.clone());
                    }
                }
            }
            (Some(known), value) if key == "affinity" => merge(known, value),
            _ => {}
        }
    }
}

/// Name, piece of the pod spec, piece of the first container.
#[allow(clippy::too_many_lines)]
fn features() -> Vec<(&'static str, Value, Value)> {
    let none = || json!({});
    vec![
        (
            "http probes",
            none(),
            json!({
                "livenessProbe": { "httpGet": { "path": "/healthz", "port": "web", "httpHeaders": [{ "name": "X-Probe", "value": "1" }] }, "periodSeconds": 7 },
                "readinessProbe": { "httpGet": { "path": "/ready?full=1", "port": 8080 }, "failureThreshold": 9, "timeoutSeconds": 2 },
                "ports": [{ "name": "web", "containerPort": 8080 }],
            }),
        ),
        (
            "other probes",
            none(),
            json!({
                "startupProbe": { "exec": { "command": ["sh", "-c", "test -f /started"] }, "initialDelaySeconds": 1 },
                "livenessProbe": { "tcpSocket": { "port": 8080 } },
                "readinessProbe": { "grpc": { "port": 9090, "service": "ready" } },
            }),
        ),
        (
            "plain volumes",
            json!({ "volumes": [
                { "name": "cache", "emptyDir": { "sizeLimit": "1536Mi", "medium": "Memory" } },
                { "name": "host", "hostPath": { "path": "/var/log", "type": "DirectoryOrCreate" } },
                { "name": "claim", "persistentVolumeClaim": { "claimName": "data", "readOnly": true } },
            ]}),
            json!({ "volumeMounts": [
                { "name": "cache", "mountPath": "/cache" },
                { "name": "host", "mountPath": "/logs", "readOnly": true, "mountPropagation": "HostToContainer" },
            ]}),
        ),
        (
            "projected volumes",
            json!({ "volumes": [{ "name": "all", "projected": { "defaultMode": 420, "sources": [
                { "configMap": { "name": "settings", "items": [{ "key": "a", "path": "b", "mode": 256 }], "optional": true } },
                { "downwardAPI": { "items": [{ "path": "labels", "fieldRef": { "fieldPath": "metadata.labels" } }] } },
                { "secret": { "name": "keys" } },
            ]}}]}),
            json!({ "volumeMounts": [{ "name": "all", "mountPath": "/all", "subPathExpr": "$(NAME)" }], "env": [{ "name": "NAME", "value": "x" }] }),
        ),
        (
            "ephemeral volume",
            json!({ "volumes": [{ "name": "scratch", "ephemeral": { "volumeClaimTemplate": {
                "metadata": { "creationTimestamp": null, "labels": { "kind": "scratch" } },
                "spec": { "accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": { "requests": { "storage": "1.5Gi" } } },
            }}}]}),
            json!({ "volumeMounts": [{ "name": "scratch", "mountPath": "/scratch" }] }),
        ),
        (
            "environment",
            none(),
            json!({ "env": [
                { "name": "PLAIN", "value": "a b\nc" },
                { "name": "EMPTY", "value": "" },
                { "name": "NODE", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
                { "name": "CPU", "valueFrom": { "resourceFieldRef": { "resource": "limits.cpu", "divisor": "1m" } } },
                { "name": "KEY", "valueFrom": { "secretKeyRef": { "name": "keys", "key": "k", "optional": true } } },
            ]}),
        ),
        (
            "environment from",
            none(),
            json!({ "envFrom": [
                { "prefix": "CM_", "configMapRef": { "name": "settings" } },
                { "secretRef": { "name": "keys", "optional": true } },
            ]}),
        ),
        (
            "node affinity",
            json!({ "affinity": { "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": "disk", "operator": "In", "values": ["ssd", "nvme"] }] }] },
            "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 10, "preference": { "matchFields": [{ "key": "metadata.name", "operator": "NotIn", "values": ["bad"] }] } }],
        }}, "nodeSelector": { "kubernetes.io/os": "linux" } }),
            none(),
        ),
        (
            "pod affinity",
            json!({ "affinity": { "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [{ "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "app": "x" } }, "matchLabelKeys": ["pod-template-hash"] }],
            }, "podAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [{ "weight": 1, "podAffinityTerm": { "topologyKey": "zone", "namespaceSelector": {} } }],
            }}}),
            none(),
        ),
        (
            "tolerations",
            json!({ "tolerations": [
                { "operator": "Exists" },
                { "key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoExecute", "tolerationSeconds": 0 },
            ]}),
            none(),
        ),
        (
            "topology spread",
            json!({ "topologySpreadConstraints": [
                { "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": { "matchExpressions": [{ "key": "app", "operator": "Exists" }] }, "nodeTaintsPolicy": "Honor" },
                { "maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3, "labelSelector": { "matchLabels": { "app": "x" } } },
            ]}),
            none(),
        ),
        (
            "quantities in odd notations",
            none(),
            json!({ "resources": {
                "requests": { "cpu": "0.1", "memory": "1e9", "ephemeral-storage": "128974848" },
                "limits": { "cpu": "1500e-3", "memory": "1.5Gi", "ephemeral-storage": "1G" },
            }}),
        ),
        (
            "quantities as numbers",
            none(),
            json!({ "resources": {
            "requests": { "cpu": 0.25, "memory": 134217728, "example.com/gpu": 1 },
            "limits": { "cpu": "2", "memory": "0.25Gi", "example.com/gpu": "1" },
        }, "resizePolicy": [{ "resourceName": "cpu", "restartPolicy": "NotRequired" }] }),
        ),
        (
            "sidecar",
            json!({ "initContainers": [
                { "name": "migrate", "image": "migrate:v1", "args": ["--up"] },
                { "name": "proxy", "image": "proxy:v2", "restartPolicy": "Always", "startupProbe": { "tcpSocket": { "port": 15000 } } },
            ]}),
            none(),
        ),
        (
            "second container",
            json!({ "containers": [{ "name": "logger", "image": "logger@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "imagePullPolicy": "Always", "tty": true, "stdin": true }], "shareProcessNamespace": true }),
            none(),
        ),
        (
            "lifecycle hooks",
            json!({ "terminationGracePeriodSeconds": 10 }),
            json!({ "lifecycle": {
            "postStart": { "exec": { "command": ["true"] } },
            "preStop": { "sleep": { "seconds": 3 } },
        }, "terminationMessagePath": "/tmp/end", "terminationMessagePolicy": "FallbackToLogsOnError" }),
        ),
        (
            "pod security",
            json!({ "securityContext": { "runAsUser": 1000, "runAsNonRoot": true, "fsGroup": 0, "fsGroupChangePolicy": "OnRootMismatch", "supplementalGroups": [1, 2], "seccompProfile": { "type": "RuntimeDefault" }, "sysctls": [{ "name": "net.core.somaxconn", "value": "1024" }] } }),
            none(),
        ),
        (
            "container security",
            none(),
            json!({ "securityContext": { "capabilities": { "drop": ["ALL"], "add": ["NET_BIND_SERVICE"] }, "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "procMount": "Default", "seLinuxOptions": { "level": "s0:c1,c2" } } }),
        ),
        (
            "names and resolvers",
            json!({ "hostAliases": [{ "ip": "127.0.0.1", "hostnames": ["a.local", "b.local"] }], "dnsPolicy": "None", "dnsConfig": { "nameservers": ["1.1.1.1"], "options": [{ "name": "ndots", "value": "2" }, { "name": "rotate" }] }, "hostname": "web", "subdomain": "sub", "setHostnameAsFQDN": true }),
            none(),
        ),
        (
            "links and accounts",
            json!({ "enableServiceLinks": false, "automountServiceAccountToken": false, "serviceAccountName": "builder", "volumes": [{ "name": "token", "projected": { "sources": [{ "serviceAccountToken": { "path": "token", "expirationSeconds": 7200, "audience": "vault" } }] } }], "imagePullSecrets": [{ "name": "pull" }], "readinessGates": [] }),
            none(),
        ),
        (
            "scheduling",
            json!({ "schedulerName": "other", "runtimeClassName": null, "os": { "name": "linux" } }),
            json!({ "imagePullPolicy": "IfNotPresent" }),
        ),
        (
            "commands",
            none(),
            json!({ "command": ["/bin/sh", "-c"], "args": ["exec $(PROGRAM) --flag='a b'"], "workingDir": "/srv", "ports": [{ "containerPort": 53, "protocol": "UDP" }, { "containerPort": 53, "protocol": "TCP", "name": "dns-tcp" }] }),
        ),
        (
            "nothing but nulls and empties",
            json!({ "volumes": [], "tolerations": [], "nodeSelector": {}, "securityContext": {}, "affinity": {}, "hostNetwork": false }),
            json!({ "env": [], "resources": {}, "command": [], "securityContext": {} }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_differs_from_every_other() {
        let mut all: Vec<String> = (0..COUNT)
            .map(|number| template(number).to_string())
            .collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), COUNT);
    }

    #[test]
    fn every_feature_is_in_some_template() {
        let count = features().len();
        let used = |feature: usize| {
            (0..COUNT).any(|n| {
                [n, n * 7 + 3, n * 11 + 5, n / 3 + 1]
                    .iter()
                    .any(|f| f % count == feature)
            })
        };
        assert!((0..count).all(used));
    }
}
