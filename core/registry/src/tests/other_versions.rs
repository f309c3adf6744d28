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
}
