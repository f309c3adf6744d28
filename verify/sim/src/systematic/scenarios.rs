//! The scenarios of the systematic mode: small stories that come to every controller.

use std::time::Duration;

use flyball_kubelets::annotations::BEHAVIOUR;
use flyball_plan::Propagation;
use serde_json::{Value, json};

use crate::Edit;
use crate::workload::{JOBS, definition, finished, job, widget, widgets};

/// A name and what users do.
type Scenario = (&'static str, Vec<(Duration, Edit)>);

/// Small stories that come to every controller.
pub(super) fn all() -> Vec<Scenario> {
    let at = Duration::from_secs;
    let create = |path: &str, body| Edit::Create {
        path: path.to_owned(),
        body,
    };
    let merge = |path: &str, patch| Edit::Merge {
        path: path.to_owned(),
        patch,
    };
    let delete = |path: &str| Edit::Delete {
        path: path.to_owned(),
        propagation: None,
    };
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    const WEB: &str = "/apis/apps/v1/namespaces/default/deployments/web";
    const SETS: &str = "/apis/apps/v1/namespaces/default/replicasets";
    const CONTROLLERS: &str = "/api/v1/namespaces/default/replicationcontrollers";
    const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    let image = |image: &str| json!({"spec": {"template": {"spec": {"containers": [{"name": "main", "image": image}]}}}});
    vec![
        (
            "a rolling update",
            vec![
                (
                    at(1),
                    create(DEPLOYMENTS, workload("apps/v1", "Deployment", "web", 3)),
                ),
                (at(60), merge(WEB, image("app:2"))),
                (at(150), merge(WEB, json!({"spec": {"replicas": 2}}))),
            ],
        ),
        (
            "a recreation",
            vec![
                (
                    at(1),
                    create(DEPLOYMENTS, {
                        let mut body = workload("apps/v1", "Deployment", "web", 2);
                        body["spec"]["strategy"] = json!({"type": "Recreate"});
                        body["spec"]["revisionHistoryLimit"] = 0.into();
                        body
                    }),
                ),
                (at(60), merge(WEB, image("app:2"))),
            ],
        ),
        (
            "sets and controllers",
            vec![
                (
                    at(1),
                    create(SETS, workload("apps/v1", "ReplicaSet", "set", 2)),
                ),
                (
                    at(2),
                    create(
                        CONTROLLERS,
                        workload("v1", "ReplicationController", "rc", 2),
                    ),
                ),
                (
                    at(60),
                    merge(&format!("{SETS}/set"), json!({"spec": {"replicas": 1}})),
                ),
                (
                    at(61),
                    merge(
                        &format!("{CONTROLLERS}/rc"),
                        json!({"spec": {"replicas": 3}}),
                    ),
                ),
            ],
        ),
        (
            "a namespace and its roles",
            vec![
                (
                    at(1),
                    create(
                        "/api/v1/namespaces",
                        json!({
                            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"},
                        }),
                    ),
                ),
                (
                    at(2),
                    create(
                        ROLES,
                        json!({
                            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                            "metadata": {"name": "sum"}, "rules": [],
                            "aggregationRule": {"clusterRoleSelectors": [
                                {"matchLabels": {"part-of": "sum"}},
                            ]},
                        }),
                    ),
                ),
                (
                    at(30),
                    create(
                        ROLES,
                        json!({
                            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                            "metadata": {"name": "part", "labels": {"part-of": "sum"}},
                            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
                        }),
                    ),
                ),
                (
                    at(60),
                    delete("/api/v1/namespaces/blue/serviceaccounts/default"),
                ),
                (
                    at(61),
                    delete("/api/v1/namespaces/blue/configmaps/kube-root-ca.crt"),
                ),
                (at(90), delete(&format!("{ROLES}/part"))),
            ],
        ),
        ("families that go in three ways", families()),
        ("a namespace that goes with its content", namespace()),
        ("what has done its work", leftovers()),
    ]
}

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

fn create(path: &str, body: Value) -> Edit {
    let path = path.to_owned();
    Edit::Create { path, body }
}

/// Owners with a dependent each, of which one belongs to two.
fn families() -> Vec<(Duration, Edit)> {
    let at = Duration::from_secs;
    let owners = widgets("default");
    let mut edits = vec![(at(1), create(DEFINITIONS, definition()))];
    let ways = [
        ("back", Propagation::Background),
        ("front", Propagation::Foreground),
        ("free", Propagation::Orphan),
    ];
    for (number, (name, how)) in (0..).zip(ways) {
        edits.push((at(10), create(&owners, widget(name))));
        let child = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name},
        });
        let both = ["back", "stays"].map(|owner| format!("{owners}/{owner}"));
        let own = Edit::Own {
            path: "/api/v1/namespaces/default/configmaps".to_owned(),
            body: child,
            owners: match name {
                "back" => both.to_vec(),
                _ => vec![format!("{owners}/{name}")],
            },
            blocks: true,
        };
        edits.push((at(20), own));
        let gone = Edit::Delete {
            path: format!("{owners}/{name}"),
            propagation: Some(how),
        };
        edits.push((at(60 + 10 * number), gone));
        edits.push((at(65 + 10 * number), create(&owners, widget(name))));
    }
    edits.push((at(10), create(&owners, widget("stays"))));
    edits
}

fn namespace() -> Vec<(Duration, Edit)> {
    let at = Duration::from_secs;
    let red = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "red"}});
    let set = workload("apps/v1", "ReplicaSet", "set", 1);
    let delete = Edit::Delete {
        path: "/api/v1/namespaces/red".to_owned(),
        propagation: None,
    };
    vec![
        (at(1), create(DEFINITIONS, definition())),
        (at(2), create("/api/v1/namespaces", red.clone())),
        (
            at(10),
            create("/apis/apps/v1/namespaces/red/replicasets", set),
        ),
        (at(15), create(&widgets("red"), widget("one"))),
        (at(60), delete),
        (at(61), create("/api/v1/namespaces", red)),
    ]
}

/// A Job and pods that are done.
fn leftovers() -> Vec<(Duration, Edit)> {
    let at = Duration::from_secs;
    let pod = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {BEHAVIOUR: "succeed"}},
            "spec": {
                "restartPolicy": "Never", "containers": [{"name": "main", "image": "task"}],
            },
        })
    };
    let pods = "/api/v1/namespaces/default/pods";
    let blue = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "blue"}});
    vec![
        (at(1), create("/api/v1/namespaces", blue)),
        (at(5), create(JOBS, job("job", 20))),
        (
            at(30),
            Edit::Merge {
                path: format!("{JOBS}/job/status"),
                patch: finished(at(30)),
            },
        ),
        (at(10), create(pods, pod("one"))),
        (at(20), create(pods, pod("two"))),
        (at(30), create(pods, pod("three"))),
    ]
}

fn workload(api: &str, kind: &str, name: &str, replicas: u32) -> Value {
    let labels = json!({"app": name});
    let selector = match kind {
        "ReplicationController" => labels.clone(),
        _ => json!({"matchLabels": labels}),
    };
    json!({
        "apiVersion": api, "kind": kind, "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": selector,
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "app:1"}]},
            },
        },
    })
}
