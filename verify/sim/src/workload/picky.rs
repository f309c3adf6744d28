//! Pods that are hard to place: too big, too many for a port, choosy about their company, more
//! important than others. They go again before everything is to settle.

use fastrand::Rng;
use serde_json::{Value, json};

use super::Edits;

const PODS: &str = "/api/v1/namespaces/green/pods";
const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
const HOSTNAME: &str = "kubernetes.io/hostname";
const NODE: &str = "/api/v1/nodes/node-0";

/// Draws two sorts of them.
pub(super) fn draw(draws: &mut Rng, edits: &mut Edits) {
    for _ in 0..2 {
        let at = draws.u64(20_000..edits.end - 120_000);
        match draws.u32(0..7) {
            0 => few(
                edits,
                at,
                "choosy",
                1,
                json!({"nodeSelector": {"disk": "none"}}),
            ),
            1 => few(edits, at, "big", 1, asking("1000")),
            2 => few(
                edits,
                at,
                "port",
                4,
                json!({"containers": [{
                    "name": "main", "image": "app:1",
                    "ports": [{"containerPort": 8080, "hostPort": 8080}],
                }]}),
            ),
            3 => few(
                edits,
                at,
                "away",
                4,
                json!({"affinity": {"podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{
                        "labelSelector": {"matchLabels": {"sort": "away"}},
                        "topologyKey": HOSTNAME,
                    }],
                }}}),
            ),
            4 => few(
                edits,
                at,
                "spread",
                2,
                json!({"topologySpreadConstraints": [{
                    "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": {"matchLabels": {"sort": "spread"}},
                }]}),
            ),
            5 => important(edits, at),
            _ => tainted(edits, at),
        }
    }
}

fn asking(cpu: &str) -> Value {
    json!({"containers": [{
        "name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu}},
    }]})
}

/// So many pods of a sort, which go in the end.
fn few(edits: &mut Edits, at: u64, sort: &str, count: u64, spec: Value) {
    for number in 0..count {
        let name = format!("{sort}-{number}");
        let mut body = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"sort": sort}},
            "spec": {
                "terminationGracePeriodSeconds": 5,
                "containers": [{"name": "main", "image": "app:1"}],
            },
        });
        if let (Some(own), Some(more)) = (body["spec"].as_object_mut(), spec.as_object()) {
            own.extend(more.clone());
        }
        edits.create(at + number * 500, PODS, body);
        edits.delete(edits.end, format!("{PODS}/{name}"), None);
    }
}

/// Pods that fill all nodes, and then one that matters more.
fn important(edits: &mut Edits, at: u64) {
    let class = json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000,
    });
    edits.create(at, CLASSES, class);
    few(edits, at, "filling", 3, asking("20"));
    let mut spec = asking("20");
    spec["priorityClassName"] = "high".into();
    few(edits, at + 40_000, "important", 1, spec);
}

/// A pod for one node, which does not want it.
fn tainted(edits: &mut Edits, at: u64) {
    let taint = json!([{"key": "sim", "value": "keep-off", "effect": "NoSchedule"}]);
    edits.merge(at, NODE, json!({"spec": {"taints": taint}}));
    few(
        edits,
        at + 1_000,
        "bound",
        1,
        json!({"nodeSelector": {HOSTNAME: "node-0"}}),
    );
    edits.merge(at + 60_000, NODE, json!({"spec": {"taints": null}}));
    edits.merge(edits.end, NODE, json!({"spec": {"taints": null}}));
}
