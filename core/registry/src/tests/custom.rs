use serde_json::{Value, json};

use super::exchanges::differences;
use super::{DEFINITIONS, Server, map, things};
use crate::{Method, Polled, Registry, Reply};

const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";

fn definition(plural: &str, kind: &str) -> Value {
    let mut definition = things(json!([{
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": {
                "size": {"type": "integer", "default": 1, "maximum": 9},
            }},
        }}},
    }]));
    definition["metadata"]["name"] = format!("{plural}.example.com").into();
    definition["spec"]["names"] = json!({"plural": plural, "kind": kind});
    definition
}

fn thing(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": spec})
}

fn conditions(definition: &Value) -> Vec<String> {
    let all = definition["status"]["conditions"].as_array();
    let told = |one: &Value| {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        format!("{}={} {}", text("type"), text("status"), text("reason"))
    };
    all.into_iter().flatten().map(told).collect()
}

#[test]
fn a_definition_is_established_and_its_objects_served() {
    let mut server = Server::new();
    let (code, made) = server.post(DEFINITIONS, &definition("things", "Thing"));
    assert_eq!((code, conditions(&made).len()), (201, 0));
    let (_, seen) = server.get(&format!("{DEFINITIONS}/things.example.com"));
    assert_eq!(
        conditions(&seen),
        [
            "NamesAccepted=True NoConflicts",
            "Established=True InitialNamesAccepted"
        ]
    );
    let (code, made) = server.post(THINGS, &thing("a", json!({"odd": 1})));
    assert_eq!((code, &made["spec"]), (201, &json!({"size": 1})));
    let (code, refused) = server.post(THINGS, &thing("b", json!({"size": 10})));
    assert_eq!(code, 422, "{refused}");
    let (_, found) = server.get("/apis/example.com/v1");
    assert_eq!(found["resources"][0]["kind"], "Thing");
}

#[test]
fn names_that_another_definition_has_are_not_accepted_until_it_goes() {
    let mut server = Server::new();
    server.post(DEFINITIONS, &definition("things", "Thing"));
    server.post(DEFINITIONS, &definition("others", "Thing"));
    let path = format!("{DEFINITIONS}/others.example.com");
    let (_, seen) = server.get(&path);
    let refused = [
        "NamesAccepted=False ListKindConflict",
        "Established=False NotAccepted",
    ];
    assert_eq!(conditions(&seen), refused);
    assert_eq!(server.get("/apis/example.com/v1/others").0, 404);
    server.delete(&format!("{DEFINITIONS}/things.example.com"), &Value::Null);
    let (_, seen) = server.get(&path);
    let accepted = [
        "NamesAccepted=True NoConflicts",
        "Established=True InitialNamesAccepted",
    ];
    assert_eq!(conditions(&seen), accepted);
    assert_eq!(server.get("/apis/example.com/v1/others").0, 200);
}

#[test]
fn a_definition_goes_after_its_objects() {
    let mut server = Server::new();
    server.post(DEFINITIONS, &definition("things", "Thing"));
    server.post(THINGS, &thing("a", json!({})));
    let mut held = thing("b", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/held"]);
    server.post(THINGS, &held);
    let path = format!("{DEFINITIONS}/things.example.com");
    let (code, going) = server.delete(&path, &Value::Null);
    assert_eq!(code, 200);
    assert_eq!(
        going["metadata"]["finalizers"],
        json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    let last = |definition: &Value| conditions(definition).pop().unwrap_or_default();
    assert_eq!(last(&going), "Terminating=True InstanceDeletionPending");
    let (_, seen) = server.get(&path);
    assert_eq!(last(&seen), "Terminating=True InstanceDeletionInProgress");
    assert_eq!(server.get(&format!("{THINGS}/a")).0, 404);
    let (code, refused) = server.post(THINGS, &thing("c", json!({})));
    assert_eq!(code, 403);
    let why = refused["message"].as_str().unwrap();
    assert!(
        why.ends_with("create not allowed while custom resource definition is terminating"),
        "{why}"
    );
    let freed = json!({"metadata": {"finalizers": null}});
    assert_eq!(
        server
            .patch(&format!("{THINGS}/b"), "merge-patch", &freed)
            .0,
        200
    );
    assert_eq!(server.get(&path).0, 404);
    assert_eq!(server.get(THINGS).0, 404);
}

#[test]
fn a_watch_ends_when_what_it_watches_changes() {
    let mut server = Server::new();
    server.post(DEFINITIONS, &definition("things", "Thing"));
    let mut watch = server.watch(&format!("{THINGS}?watch=true"));
    server.post(THINGS, &thing("a", json!({})));
    server.post("/api/v1/namespaces/default/configmaps", &map("m"));
    assert_eq!(server.told(&mut watch), ["ADDED a"]);
    server.delete(&format!("{DEFINITIONS}/things.example.com"), &Value::Null);
    assert_eq!(server.told(&mut watch), ["DELETED a"]);
    let through = server.registry.revision();
    let polled = server
        .registry
        .poll(&mut watch, through, server.now, &mut Vec::new(), 1 << 20);
    assert_eq!(polled, Polled::Ended);
}

#[test]
fn what_was_stored_under_an_older_schema_is_shown_as_the_present_one_says() {
    let mut server = Server::new();
    server.post(DEFINITIONS, &definition("things", "Thing"));
    server.post(THINGS, &thing("a", json!({"size": 5})));
    let path = format!("{DEFINITIONS}/things.example.com");
    let properties = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let patch = json!([
        {"op": "remove", "path": format!("{properties}/size")},
        {"op": "add", "path": format!("{properties}/color"), "value": {"type": "string", "default": "red"}},
    ]);
    assert_eq!(server.patch(&path, "json-patch", &patch).0, 200);
    let (_, seen) = server.get(&format!("{THINGS}/a"));
    assert_eq!(seen["spec"], json!({"color": "red"}));
    let (_, all) = server.get(THINGS);
    assert_eq!(all["items"][0]["spec"], json!({"color": "red"}));
}

#[test]
fn definitions_are_served_again_after_a_restart() {
    let mut server = Server::new();
    server.post(DEFINITIONS, &definition("things", "Thing"));
    server.post(THINGS, &thing("a", json!({"size": 5})));
    let before = std::mem::replace(&mut server.registry, Registry::empty());
    server.registry = Registry::new(before.into_store());
    let (code, seen) = server.get(&format!("{THINGS}/a"));
    assert_eq!((code, &seen["spec"]), (200, &json!({"size": 5})));
    assert_eq!(
        server
            .get("/apis/apiregistration.k8s.io/v1/apiservices/v1.example.com")
            .0,
        200
    );
}

#[test]
fn every_group_and_version_has_an_api_service() {
    let mut server = Server::new();
    let services = "/apis/apiregistration.k8s.io/v1/apiservices";
    let (_, apps) = server.get(&format!("{services}/v1.apps"));
    assert_eq!(
        apps["spec"],
        json!({"group": "apps", "version": "v1", "groupPriorityMinimum": 17800, "versionPriority": 15})
    );
    assert_eq!(apps["status"]["conditions"][0]["reason"], "Local");
    server.post(DEFINITIONS, &definition("things", "Thing"));
    let (_, custom) = server.get(&format!("{services}/v1.example.com"));
    assert_eq!(
        custom["metadata"]["labels"],
        json!({"kube-aggregator.kubernetes.io/automanaged": "true"})
    );
    server.delete(&format!("{DEFINITIONS}/things.example.com"), &Value::Null);
    assert_eq!(server.get(&format!("{services}/v1.example.com")).0, 404);
    assert_eq!(server.get(&format!("{services}/v1.apps")).0, 200);
}

/// A document without its descriptions, which upstream says in other words.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, value)| !(*name == "description" && value.is_string()));
            kept.map(|(name, value)| (name.clone(), bare(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

#[test]
fn documents_describe_custom_resources_as_upstream_describes_them() {
    let golden: Value =
        serde_json::from_str(include_str!("../custom/golden/documents.json")).unwrap();
    let mut server = Server::new();
    for definition in golden["definitions"].as_array().unwrap() {
        assert_eq!(server.post(DEFINITIONS, definition).0, 201);
    }
    let of_group = |all: &Value, name: fn(&Value) -> &Value| -> Value {
        let all = all.as_array().unwrap().iter();
        let is_custom = |one: &&Value| name(one).as_str().unwrap().ends_with("example.com");
        all.filter(is_custom).cloned().collect()
    };
    let (_, groups) = server.get("/apis");
    assert_eq!(
        of_group(&groups["groups"], |one| &one["name"]),
        golden["groups"]
    );
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let reply = server.reply_to(Method::Get, "/apis", "", accept, &[]);
    let Reply::Answer(answer) = reply else {
        panic!("{reply:?}")
    };
    let all: Value = serde_json::from_slice(&answer.body).unwrap();
    let seen = of_group(&all["items"], |one| &one["metadata"]["name"]);
    assert_eq!(seen, golden["aggregated"]);
    for group in ["demo.example.com", "plain.example.com"] {
        let (code, document) = server.get(&format!("/openapi/v3/apis/{group}/v1"));
        assert_eq!(code, 200);
        for (name, schema) in golden["v3"].as_object().unwrap() {
            if let Some(seen) = document["components"]["schemas"].get(name) {
                assert_eq!(&bare(seen), schema, "{name}");
            }
        }
        for (path, operations) in golden["paths"].as_object().unwrap() {
            for (method, operation) in operations.as_object().unwrap() {
                if path.contains(group) {
                    let seen = &document["paths"][path][method]["operationId"];
                    assert_eq!(*seen, operation["id"], "{path} {method}");
                }
            }
        }
    }
    let (_, document) = server.get("/openapi/v2");
    for (name, schema) in golden["v2"].as_object().unwrap() {
        assert_eq!(&bare(&document["definitions"][name]), schema, "{name}");
    }
}

macro_rules! as_upstream {
    ($($test:ident: $file:literal),* $(,)?) => {
        $(#[test]
        fn $test() {
            let wrong = differences(include_str!(concat!("../custom/golden/", $file, ".json")));
            assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
        })*
    };
}

as_upstream! {
    mistakes_in_definitions_are_found_as_upstream_finds_them: "definitions",
    objects_are_served_as_upstream_serves_them: "objects",
    definitions_live_and_go_as_upstream_lets_them: "lifecycle",
    schemas_are_kept_as_upstream_keeps_them: "schemas",
}

#[test]
fn the_type_of_a_patch_is_looked_at_before_what_is_accepted() {
    let mut server = Server::new();
    server.post(DEFINITIONS, &definition("things", "Thing"));
    let target = format!("{THINGS}/a");
    for (kind, code) in [("strategic-merge-patch", 415), ("merge-patch", 406)] {
        let kind = format!("application/{kind}+json");
        let accept = "application/vnd.kubernetes.protobuf";
        let reply = server.reply_to(Method::Patch, &target, &kind, accept, b"{}");
        assert!(
            matches!(reply, Reply::Answer(answer) if answer.code == code),
            "{kind}"
        );
    }
}
