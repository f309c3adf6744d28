//! Custom objects and bodies in other versions than the path's, each as kube-apiserver v1.36.4 answers it.

use serde_json::json;

use super::{DEFINITIONS, Server, refused, things};

#[test]
fn a_version_of_a_definition_says_whether_it_is_served() {
    let mut server = Server::new();
    let definition = things(json!([
        {"name": "v1", "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}},
    ]));
    let definitions = format!("{DEFINITIONS}?dryRun=All");
    let (code, told) = server.post(&definitions, &definition);
    let version = &told["spec"]["versions"][0];
    assert_eq!((code, &version["served"]), (201, &json!(false)), "{told}");
}

#[test]
fn a_part_that_a_custom_object_does_not_have_is_not_found_whatever_its_name() {
    let mut server = Server::new();
    let mut definition = things(json!([{
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
    }]));
    definition["spec"]["scope"] = json!("Cluster");
    server.post(DEFINITIONS, &definition);
    let things = "/apis/example.com/v1/things";
    for (path, code) in [("a%2fb/status", 404), ("a%2fb/odd", 404), ("a%2fb", 400)] {
        assert_eq!(server.get(&format!("{things}/{path}")).0, code, "{path}");
    }
}

#[test]
fn a_body_in_another_version_is_judged_by_that_before_it_is_refused() {
    let mut server = Server::new();
    let scalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
    let scaler = json!({
        "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"}, "spec": {"odd": 1},
    });
    let (warnings, message) = refused(&mut server, scalers, &scaler);
    assert_eq!(warnings, ["unknown field \"spec.odd\""]);
    assert!(
        message.starts_with("the API version in the data"),
        "{message}"
    );
}

#[test]
fn a_custom_object_in_another_version_is_judged_by_that() {
    let mut server = Server::new();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "a": {"type": "string"},
    }}}});
    let version = |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": {"openAPIV3Schema": schema}});
    let versions = json!([version("v1", true), version("v2", false)]);
    server.post(DEFINITIONS, &things(versions));
    let things = "/apis/example.com/v1/namespaces/default/things";
    let thing = |version: &str, kind: &str| {
        json!({
            "apiVersion": version, "kind": kind, "metadata": {"name": "a", "odd": 1}, "spec": {"a": "b", "odd": 1},
        })
    };
    let unknown = |field: &str| format!("unknown field \"{field}\"");
    for (version, kind, fields) in [
        ("example.com/v2", "Thing", vec!["metadata.odd", "spec.odd"]),
        ("example.com/v3", "Thing", vec!["metadata.odd", "spec"]),
        ("example.com/v2", "Other", vec!["metadata.odd"]),
        ("other.example.com/v1", "Thing", vec!["metadata.odd"]),
    ] {
        let (warnings, message) = refused(&mut server, things, &thing(version, kind));
        let expected: Vec<String> = fields.into_iter().map(unknown).collect();
        assert_eq!(warnings, expected, "{version} {kind}");
        assert!(
            message.starts_with("the API version in the data"),
            "{message}"
        );
    }
    let strict = format!("{things}?fieldValidation=Strict");
    let (_, message) = refused(&mut server, &strict, &thing("example.com/v2", "Other"));
    let expected = "Other in version \"v2\" cannot be handled as a Other: strict decoding error: unknown field \"metadata.odd\"";
    assert_eq!(message, expected);
    let (_, message) = refused(&mut server, &strict, &thing("", "Thing"));
    let expected = "Object 'apiVersion' is missing in 'object has no apiVersion field'";
    assert_eq!(message, expected);
}

#[test]
fn a_scale_that_says_no_version_leaves_the_replicas_to_nobody() {
    let mut server = Server::new();
    let replicas = json!({"type": "object", "properties": {"replicas": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {"spec": replicas, "status": replicas}});
    let scale =
        json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
    let versions = json!([{
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}, "subresources": {"scale": scale},
    }]);
    server.post(DEFINITIONS, &things(versions));
    let path = "/apis/example.com/v1/namespaces/default/things";
    for (name, head, owners) in [
        (
            "a",
            json!({"apiVersion": "autoscaling/v1", "kind": "Scale"}),
            1,
        ),
        ("b", json!({"kind": "Scale"}), 0),
        ("c", json!({}), 0),
    ] {
        let thing = json!({
            "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"replicas": 1},
        });
        server.post(path, &thing);
        let mut scale = head;
        scale["metadata"] = json!({"name": name, "namespace": "default"});
        scale["spec"] = json!({"replicas": 2});
        let (code, told) = server.put(&format!("{path}/{name}/scale"), &scale);
        assert_eq!(code, 200, "{told}");
        let (_, thing) = server.get(&format!("{path}/{name}"));
        let all = thing["metadata"]["managedFields"].as_array();
        let scales = all
            .into_iter()
            .flatten()
            .filter(|one| one["subresource"] == "scale");
        assert_eq!(scales.count(), owners, "{thing}");
    }
}

#[test]
fn nobody_looks_at_the_name_under_which_a_custom_object_is_made() {
    let mut server = Server::new();
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}},
    });
    server.post(DEFINITIONS, &things(json!([version])));
    let path = "/apis/example.com/v1/namespaces/default/things/a%2fb";
    let thing = |name: &str| json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}});
    assert_eq!(server.post(path, &thing("a%2fb")).0, 422);
    assert_eq!(server.post(path, &thing("a")).0, 201);
    assert_eq!(server.get(path).0, 400);
}

#[test]
fn lists_of_a_custom_object_are_looked_at_whatever_its_kind() {
    let mut server = Server::new();
    let ports = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    });
    let schema = json!({"type": "object", "properties": {"ports": ports}});
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    server.post(DEFINITIONS, &things(json!([version])));
    let path = "/apis/example.com/v1/namespaces/default/things";
    let thing = json!({
        "apiVersion": "example.com/v1", "kind": "Odd", "metadata": {"name": "a"}, "ports": [[]],
    });
    let (_, message) = refused(&mut server, path, &thing);
    let expected = "kind: Invalid value: \"Odd\": must be Thing, ports[0]: Invalid value: []: must be an object for an \
                    array of list-type map";
    assert!(message.contains(expected), "{message}");
    // A kind that is no text cannot be read.
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}});
    server.post(path, &thing);
    let (code, told) = server.patch(&format!("{path}/a"), "merge-patch", &json!({"kind": 7}));
    assert_eq!(
        (code, &told["details"]["causes"][0]["field"]),
        (422, &json!("patch")),
        "{told}"
    );
}

#[test]
fn a_replica_set_can_be_made_of_its_predecessor_but_for_the_version() {
    let mut server = Server::new();
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    let controller =
        json!({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "a"}});
    let (_, message) = refused(&mut server, sets, &controller);
    let expected =
        "the API version in the data (v1) does not match the expected API version (apps/v1)";
    assert_eq!(message, expected);
}
