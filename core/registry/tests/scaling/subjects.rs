//! The kinds whose list fields are filled.

use serde_json::{Value, json};

/// A kind, where its objects are created, and one that is valid.
pub(crate) struct Subject {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) target: &'static str,
    pub(crate) base: Value,
}

fn pod_spec() -> Value {
    json!({"containers": [{"name": "a", "image": "i", "ports": [{"containerPort": 80}],
        "env": [{"name": "A", "value": "b"}]}]})
}

/// The ten kinds.
pub(crate) fn subjects() -> Vec<Subject> {
    let subject = |group, kind: &'static str, target, rest: Value| {
        let mut base = rest;
        base["metadata"] = json!({"name": "a"});
        base["kind"] = kind.into();
        base["apiVersion"] = match group {
            "" => json!("v1"),
            group => json!(format!("{group}/v1")),
        };
        Subject {
            group,
            kind,
            target,
            base,
        }
    };
    let labels = json!({"app": "web"});
    let networking = "networking.k8s.io";
    let schema = json!({"openAPIV3Schema": {"type": "object"}});
    let mut definition = subject(
        "apiextensions.k8s.io",
        "CustomResourceDefinition",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        json!({"spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}]}}),
    );
    definition.base["metadata"]["name"] = json!("things.example.com");
    vec![
        subject(
            "",
            "Pod",
            "/api/v1/namespaces/default/pods",
            json!({"spec": pod_spec()}),
        ),
        subject(
            "apps",
            "Deployment",
            "/apis/apps/v1/namespaces/default/deployments",
            json!({"spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod_spec()}}}),
        ),
        subject(
            "",
            "Service",
            "/api/v1/namespaces/default/services",
            json!({"spec": {"ports": [{"port": 80}]}}),
        ),
        subject(
            "rbac.authorization.k8s.io",
            "Role",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
            json!({"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}),
        ),
        subject(
            "",
            "ConfigMap",
            "/api/v1/namespaces/default/configmaps",
            json!({}),
        ),
        definition,
        subject(
            networking,
            "NetworkPolicy",
            "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies",
            json!({"spec": {"podSelector": {}}}),
        ),
        subject(
            networking,
            "Ingress",
            "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
            json!({"spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}}}),
        ),
        subject("", "Node", "/api/v1/nodes", json!({})),
        subject(
            "",
            "ResourceQuota",
            "/api/v1/namespaces/default/resourcequotas",
            json!({"spec": {"hard": {"pods": "1"}}}),
        ),
    ]
}
