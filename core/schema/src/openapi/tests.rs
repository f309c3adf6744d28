use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::{custom_resource, described};

/// All references of a document.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                match (name.as_str(), value) {
                    ("$ref", Value::String(to)) => {
                        found.insert(to.clone());
                    }
                    _ => references(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| references(value, found)),
        _ => {}
    }
}

#[track_caller]
fn no_reference_dangles(document: &Value) {
    let mut found = BTreeSet::new();
    references(document, &mut found);
    assert!(!found.is_empty());
    for to in found {
        let path = to.strip_prefix('#').unwrap();
        assert!(document.pointer(path).is_some(), "{to}");
    }
}

#[test]
fn each_document_holds_all_that_it_refers_to() {
    let described = described();
    for resource in &described.resources {
        let offered = described.offered(&resource.group, &resource.version);
        no_reference_dangles(&v3(&offered, &described));
    }
    no_reference_dangles(&v2(&described.all_offered(), &described));
}

#[test]
fn operations_are_named_as_upstream_names_them() {
    let described = described();
    let document = v2(&described.all_offered(), &described);
    for (path, method, id, action) in [
        (
            "/apis/apps/v1/namespaces/{namespace}/deployments",
            "post",
            "createAppsV1NamespacedDeployment",
            "post",
        ),
        (
            "/apis/apps/v1/namespaces/{namespace}/deployments",
            "delete",
            "deleteAppsV1CollectionNamespacedDeployment",
            "deletecollection",
        ),
        (
            "/apis/apps/v1/deployments",
            "get",
            "listAppsV1DeploymentForAllNamespaces",
            "list",
        ),
        ("/api/v1/nodes/{name}", "patch", "patchCoreV1Node", "patch"),
        (
            "/api/v1/namespaces/{namespace}/pods/{name}/eviction",
            "post",
            "createCoreV1NamespacedPodEviction",
            "post",
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            "get",
            "listRbacAuthorizationV1ClusterRole",
            "list",
        ),
    ] {
        let operation = &document["paths"][path][method];
        assert_eq!(operation["operationId"], id);
        assert_eq!(operation["x-kubernetes-action"], action);
    }
    let eviction =
        &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}/eviction"]["post"];
    assert_eq!(
        eviction["x-kubernetes-group-version-kind"],
        json!({"group": "policy", "version": "v1", "kind": "Eviction"})
    );
    let reviews = &document["paths"]["/apis/authentication.k8s.io/v1/tokenreviews"];
    assert!(reviews.get("get").is_none() && reviews.get("post").is_some());
}

#[test]
fn a_server_is_seen_to_know_field_validation() {
    // kubectl decides by this parameter of patches whether the server validates fields.
    let described = described();
    let document = v3(&described.offered("", "v1"), &described);
    let patch = &document["paths"]["/api/v1/namespaces/{name}"]["patch"];
    let parameters = patch["parameters"].as_array().unwrap();
    assert!(
        parameters
            .iter()
            .any(|one| one["name"] == "fieldValidation")
    );
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "", "version": "v1", "kind": "Namespace"})
    );
}

#[test]
fn schemas_tell_how_to_merge() {
    let described = described();
    let document = v3(&described.offered("apps", "v1"), &described);
    let schema = |name: &str| &document["components"]["schemas"][format!("io.k8s.api.{name}")];
    let spec = &schema("core.v1.PodSpec")["properties"];
    assert_eq!(
        spec["volumes"]["x-kubernetes-patch-strategy"],
        "merge,retainKeys"
    );
    assert_eq!(spec["volumes"]["x-kubernetes-patch-merge-key"], "name");
    assert_eq!(
        spec["containers"]["x-kubernetes-list-map-keys"],
        json!(["name"])
    );
    assert_eq!(spec["nodeSelector"]["x-kubernetes-map-type"], "atomic");
    let strategy = &schema("apps.v1.DeploymentSpec")["properties"]["strategy"];
    assert_eq!(strategy["x-kubernetes-patch-strategy"], "retainKeys");
    assert_eq!(
        strategy["allOf"],
        json!([{"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}])
    );
    assert_eq!(
        schema("apps.v1.Deployment")["x-kubernetes-group-version-kind"],
        json!([{"group": "apps", "version": "v1", "kind": "Deployment"}])
    );
    assert!(schema("apps.v1.DeploymentList").is_object());
}

#[test]
fn the_index_names_each_document() {
    assert_eq!(
        v3_index([("", "v1", "A"), ("apps", "v1", "B")]),
        json!({"paths": {
            "api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=A"},
            "apis/apps/v1": {"serverRelativeURL": "/openapi/v3/apis/apps/v1?hash=B"},
        }})
    );
}

#[test]
fn a_custom_resource_is_described_like_any_other() {
    let schema = json!({
        "type": "object",
        "description": "A table of jobs.",
        "properties": {"spec": {
            "type": "object",
            "required": ["cron"],
            "properties": {
                "cron": {"type": "string", "description": "When.", "pattern": "^x$", "minLength": 1},
                "count": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "default": 1},
                "port": {"x-kubernetes-int-or-string": true},
                "free": {"x-kubernetes-preserve-unknown-fields": true},
                "ratio": {"type": "number", "maximum": 0.5},
            },
        }},
    });
    let definition = json!({"spec": {
        "group": "stable.example.com",
        "scope": "Namespaced",
        "names": {"plural": "crontabs", "kind": "CronTab"},
        "versions": [{
            "name": "v1",
            "subresources": {"status": {}, "scale": {}},
            "schema": {"openAPIV3Schema": schema},
        }],
    }});
    let (types, resource) = custom_resource(&definition, "v1").unwrap();
    let offered = [Offered {
        resource: &resource,
        types: &types,
        selectable: &[],
    }];
    let described = described();
    let document = v3(&offered, &described);
    no_reference_dangles(&document);
    no_reference_dangles(&v2(&offered, &described));
    let schemas = &document["components"]["schemas"];
    let crontab = &schemas["com.example.stable.v1.CronTab"];
    assert_eq!(crontab["description"], "A table of jobs.");
    assert_eq!(
        crontab["properties"]["spec"],
        json!({
            "type": "object",
            "required": ["cron"],
            "properties": {
                "cron": {"type": "string", "description": "When.", "pattern": "^x$", "minLength": 1},
                "count": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "default": 1},
                "port": {
                    "x-kubernetes-int-or-string": true,
                    "anyOf": [{"type": "integer"}, {"type": "string"}],
                },
                "free": {"x-kubernetes-preserve-unknown-fields": true},
                "ratio": {"type": "number", "maximum": 0.5},
            },
        })
    );
    let metadata = &crontab["properties"]["metadata"]["allOf"][0]["$ref"];
    assert!(metadata.as_str().unwrap().ends_with("meta.v1.ObjectMeta"));
    let item = "/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}";
    let patch = &document["paths"][item]["patch"];
    assert_eq!(
        patch["operationId"],
        "patchStableExampleComV1NamespacedCronTab"
    );
    let patches = patch["requestBody"]["content"].as_object().unwrap();
    assert!(!patches.contains_key("application/strategic-merge-patch+json"));
    let scale = &document["paths"][format!("{item}/scale")]["get"];
    assert_eq!(scale["x-kubernetes-group-version-kind"]["kind"], "Scale");
}
