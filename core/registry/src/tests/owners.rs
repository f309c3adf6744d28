//! Owners of fields: when they are forgotten, and what upstream keeps of them in secret.

use serde_json::{Value, json};

use super::{DEFINITIONS, MAPS, Server, map, things};

fn owners(object: &Value) -> Vec<&str> {
    let all = object["metadata"]["managedFields"].as_array();
    let all = all.into_iter().flatten();
    all.map(|one| one["manager"].as_str().unwrap_or_default())
        .collect()
}

#[test]
fn who_sends_no_owners_means_that_all_be_forgotten() {
    for none in [json!([]), json!([{}])] {
        let mut server = Server::new();
        let (_, made) = server.post(MAPS, &map("a"));
        assert_eq!(owners(&made), ["tests"]);
        let path = format!("{MAPS}/a");
        // Leaving them out means nothing.
        let (_, kept) = server.put(&path, &map("a"));
        assert_eq!(owners(&kept), ["tests"]);
        let mut bare = made.clone();
        bare["metadata"]["managedFields"] = none.clone();
        let (code, changed) = server.put(&path, &bare);
        assert_eq!((code, owners(&changed)), (200, vec![]), "{none}");
        // An object without owners stays so until somebody applies to it.
        let label = json!({"metadata": {"labels": {"a": "b"}}});
        let (_, patched) = server.patch(&path, "merge-patch", &label);
        assert_eq!(owners(&patched), Vec::<&str>::new(), "{none}");
        let applied = server.patch(&format!("{path}?fieldManager=me"), "apply", &map("a"));
        assert_eq!(owners(&applied.1), ["me", "before-first-apply"], "{none}");
    }
}

#[test]
fn a_patch_can_forget_all_owners() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let none = json!({"metadata": {"managedFields": [{}]}});
    let (code, patched) = server.patch(&format!("{MAPS}/a"), "merge-patch", &none);
    assert_eq!((code, owners(&patched)), (200, vec![]));
}

#[test]
fn owners_of_a_custom_object_that_is_not_of_its_type_are_dropped() {
    let mut server = Server::new();
    let definition = |size: &str| {
        things(json!([{
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {"size": {"type": size}}},
            }}},
        }]))
    };
    server.post(DEFINITIONS, &definition("integer"));
    let things = "/apis/example.com/v1/namespaces/default/things";
    let thing = |size: Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"},
            "spec": {"size": size},
        })
    };
    let (code, made) = server.post(things, &thing(json!(1)));
    assert_eq!((code, owners(&made)), (201, vec!["tests"]));
    // The definition changes its mind, so that what is kept is no longer of its type.
    let path = format!("{DEFINITIONS}/things.example.com");
    let (_, defined) = server.get(&path);
    let mut changed = definition("string");
    changed["metadata"] = defined["metadata"].clone();
    assert_eq!(server.put(&path, &changed).0, 200);
    let path = format!("{things}/a");
    let label = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"size": "2"}});
    let (code, patched) = server.patch(&path, "merge-patch", &label);
    assert_eq!((code, owners(&patched)), (200, vec![]), "{patched}");
}

#[test]
fn a_write_of_the_status_forgets_all_owners_if_the_rest_of_it_is_not_of_its_type() {
    let mut server = Server::new();
    let ports = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"}, "port": {"type": "integer"},
        }},
    });
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"ports": ports, "size": {"type": "integer"}}},
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    }});
    let definition = things(json!([{
        "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }]));
    server.post(DEFINITIONS, &definition);
    let things = "/apis/example.com/v1/namespaces/default/things";
    let thing = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"},
        "spec": {"ports": [{"name": "http", "port": 80}]},
    });
    let (_, made) = server.post(things, &thing);
    for (ports, owned) in [
        (json!([]), vec!["tests", "tests"]),
        (json!([{"port": 80}]), vec![]),
    ] {
        let mut sent = made.clone();
        sent["spec"]["ports"] = ports;
        sent["status"] = json!({"phase": "Done"});
        let version = server.get(&format!("{things}/a")).1["metadata"]["resourceVersion"].clone();
        sent["metadata"]["resourceVersion"] = version;
        let (code, changed) = server.put(&format!("{things}/a/status"), &sent);
        assert_eq!((code, owners(&changed)), (200, owned), "{changed}");
        assert_eq!(changed["spec"], made["spec"]);
    }
    // What is applied keeps a null where there may be none, which is a mistake.
    let nothing = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"},
        "spec": {"size": null},
    });
    let apply = format!("{things}/a?fieldManager=me&force=true");
    let (code, answer) = server.patch(&apply, "apply", &nothing);
    let cause = &answer["details"]["causes"][0];
    let why = "Invalid value: \"null\": spec.size in body must be of type integer: \"null\"";
    assert_eq!((code, &cause["message"]), (422, &json!(why)));
}

#[test]
fn owners_of_a_policy_that_is_not_told_lose_it_when_it_is_left_out() {
    let mut server = Server::new();
    let services = "/api/v1/namespaces/default/services";
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 80}]},
    });
    server.post(services, &service);
    let path = format!("{services}/a");
    let elsewhere = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"type": "ExternalName", "externalName": "example.com"},
    });
    let apply = format!("{path}?fieldManager=me&force=true");
    let (code, applied) = server.patch(&apply, "apply", &elsewhere);
    assert_eq!(code, 200, "{applied}");
    let owns = |object: &Value| object.to_string().contains("f:internalTrafficPolicy");
    let tells = |object: &Value| object["spec"].get("internalTrafficPolicy").is_some();
    assert_eq!((owns(&applied), tells(&applied)), (true, false));
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let (_, patched) = server.patch(&path, "merge-patch", &label);
    assert_eq!((owns(&patched), tells(&patched)), (true, false));
    let (code, replaced) = server.put(&path, &patched);
    assert_eq!((code, owns(&replaced)), (200, false), "{replaced}");
}

#[test]
fn what_an_apply_leaves_empty_in_a_custom_object_is_null() {
    let mut server = Server::new();
    let definition = things(json!([{
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "data": {"type": "object", "additionalProperties": {"type": "string"}},
            "count": {"type": "integer"},
        }}},
    }]));
    server.post(DEFINITIONS, &definition);
    let things = "/apis/example.com/v1/namespaces/default/things";
    let thing = |name: &str, data: Value| json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "data": data});
    for (name, held, code) in [("a", json!({}), 422), ("b", json!({"x": "y"}), 200)] {
        server.post(things, &thing(name, held));
        let path = format!("{things}/{name}?fieldManager=me");
        server.patch(&path, "apply", &thing(name, json!({"a": "b"})));
        let mut without = thing(name, Value::Null);
        without.as_object_mut().unwrap().remove("data");
        let (answered, told) = server.patch(&path, "apply", &without);
        assert_eq!(answered, code, "{told}");
    }
}
