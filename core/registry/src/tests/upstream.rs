//! What the comparison with kube-apiserver found, so that it stays found.

use super::*;

fn made(answer: (u16, Value)) -> Value {
    let (code, made) = answer;
    assert!(matches!(code, 200 | 201), "{made}");
    made
}

fn warnings(server: &mut Server, method: Method, target: &str, body: &Value) -> (u16, Vec<String>) {
    let body = match body {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    match server.reply(method, target, "application/json", &body) {
        Reply::Answer(answer) => (answer.code, answer.warnings),
        other => panic!("{target}: {other:?}"),
    }
}

#[test]
fn a_terminating_namespace_outlives_updates_of_it() {
    let mut server = Server::new();
    let at = "/api/v1/namespaces/a";
    made(server.post("/api/v1/namespaces", &json!({"metadata": {"name": "a"}})));
    made(server.delete(at, &Value::Null));
    let label = json!({"metadata": {"labels": {"team": "a"}}});
    let patched = made(server.patch(at, "merge-patch", &label));
    assert_eq!(server.get(at).1, patched);
    let mut last = patched;
    last["spec"]["finalizers"] = json!([]);
    made(server.put(&format!("{at}/finalize"), &last));
    assert_eq!(server.get(at).0, 404);
}

#[test]
fn a_terminating_namespace_refuses_only_what_is_new() {
    let mut server = Server::new();
    made(server.post("/api/v1/namespaces", &json!({"metadata": {"name": "a"}})));
    let pods = "/api/v1/namespaces/a/pods";
    let account = json!({"metadata": {"name": "default"}});
    made(server.post("/api/v1/namespaces/a/serviceaccounts", &account));
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}});
    made(server.post(pods, &pod("old")));
    made(server.delete("/api/v1/namespaces/a", &Value::Null));
    assert_eq!(server.post(pods, &pod("new")).0, 403);
    let new = server.patch(
        "/api/v1/namespaces/a/configmaps/new?fieldManager=me",
        "apply",
        &map("new"),
    );
    assert_eq!(new.0, 403);
    let at = format!("{pods}/old");
    let label = json!({"metadata": {"labels": {"team": "a"}}});
    made(server.patch(&at, "merge-patch", &label));
    let status = json!({"status": {"phase": "Running"}});
    let patched = made(server.patch(&format!("{at}/status"), "merge-patch", &status));
    assert_eq!(patched["status"]["phase"], "Running");
    let status = json!({"status": {"conditions": [{"type": "x", "status": "True"}]}});
    made(server.patch("/api/v1/namespaces/a/status", "merge-patch", &status));
}

#[test]
fn what_changes_nothing_is_not_written_in_any_version() {
    let mut server = Server::new();
    let event = json!({
        "metadata": {"name": "a"}, "action": "Act", "reason": "Started", "type": "Normal",
        "eventTime": "2026-01-01T00:00:00.000000Z", "regarding": {"kind": "Pod", "namespace": "default"},
        "reportingController": "example.com/c", "reportingInstance": "i",
    });
    let scaler = json!({
        "metadata": {"name": "a"},
        "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}},
    });
    for (path, object) in [
        ("/apis/events.k8s.io/v1/namespaces/default/events", event),
        (
            "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers",
            scaler,
        ),
    ] {
        let new = made(server.post(path, &object));
        let at = format!("{path}/a");
        assert_eq!(made(server.patch(&at, "merge-patch", &json!({}))), new);
        assert_eq!(made(server.put(&at, &new)), new);
    }
}

#[test]
fn the_first_write_of_a_claim_is_one_even_if_it_changes_nothing() {
    let mut server = Server::new();
    let claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    let claim = json!({
        "metadata": {"name": "a"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    let version = |claim: &Value| claim["metadata"]["resourceVersion"].clone();
    let new = made(server.post(claims, &claim));
    let at = format!("{claims}/a");
    let first = made(server.patch(&at, "merge-patch", &json!({})));
    assert_ne!(version(&first), version(&new));
    assert_eq!(made(server.patch(&at, "merge-patch", &json!({}))), first);
}

#[test]
fn a_collection_is_deleted_as_it_was_at_a_version() {
    let mut server = Server::new();
    made(server.post(MAPS, &map("old")));
    let version = server.registry.revision().0;
    made(server.post(MAPS, &map("new")));
    let gone = made(server.delete(&format!("{MAPS}?resourceVersion={version}"), &Value::Null));
    assert_eq!(gone["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(server.get(&format!("{MAPS}/old")).0, 404);
    assert_eq!(server.get(&format!("{MAPS}/new")).0, 200);
}

#[test]
fn empty_words_in_the_middle_of_a_path_are_words() {
    let mut server = Server::new();
    for (path, code) in [
        ("/api/v1/namespaces/", 200),
        ("/api/v1//namespaces", 404),
        ("/apis/apps//v1/deployments", 404),
        ("/api/v1/namespaces//pods", 200),
    ] {
        assert_eq!(server.get(path).0, code, "{path}");
    }
}

#[test]
fn keys_that_a_configuration_names_twice_are_told_when_it_is_applied() {
    let mut server = Server::new();
    let body =
        br#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b", "name": "a"}}"#;
    let kind = "application/apply-patch+yaml";
    let mut send = |query: &str| {
        let target = format!("{MAPS}/a?fieldManager=me{query}");
        match server.reply(Method::Patch, &target, kind, body) {
            Reply::Answer(answer) => answer,
            other => panic!("{target}: {other:?}"),
        }
    };
    let strict = send("&fieldValidation=Strict");
    assert_eq!(strict.code, 400);
    let warned = send("");
    assert_eq!(warned.code, 201);
    assert_eq!(
        warned.warnings,
        [r#"line 1: key "name" already set in map"#]
    );
}

#[test]
fn policies_whose_types_are_empty_have_the_usual_ones() {
    let mut server = Server::new();
    let policies = "/apis/networking.k8s.io/v1/namespaces/default/networkpolicies";
    let policy = json!({"metadata": {"name": "a"}, "spec": {"podSelector": {}, "policyTypes": []}});
    let policy = made(server.post(policies, &policy));
    assert_eq!(policy["spec"]["policyTypes"], json!(["Ingress"]));
}

#[test]
fn what_is_applied_must_say_its_name() {
    let mut server = Server::new();
    let target = format!("{MAPS}/a?fieldManager=me");
    let nameless = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "1"}});
    let (code, refused) = server.patch(&target, "apply", &nameless);
    assert_eq!(code, 400, "{refused}");
    // The name of an object that is there is its own.
    made(server.post(MAPS, &map("a")));
    made(server.patch(&target, "apply", &nameless));
}

#[test]
fn a_scale_is_read_before_its_object_is_missed() {
    let mut server = Server::new();
    let path = "/apis/apps/v1/namespaces/default/deployments/none/scale";
    let scale =
        |replicas: Value| json!({"metadata": {"name": "none"}, "spec": {"replicas": replicas}});
    assert_eq!(server.put(path, &scale(json!("5"))).0, 400);
    assert_eq!(server.put(path, &scale(json!(5))).0, 404);
}

#[test]
fn a_name_that_is_taken_is_drawn_again() {
    let mut server = Server::new();
    let nameless = json!({"metadata": {"generateName": "web-"}});
    let random = server.random;
    let first = made(server.post(MAPS, &nameless));
    server.random = random;
    let second = made(server.post(MAPS, &nameless));
    assert_ne!(first["metadata"]["name"], second["metadata"]["name"]);
}

#[test]
fn a_version_is_no_part_of_what_is_created() {
    let mut server = Server::new();
    let mut versioned = map("a");
    versioned["metadata"]["resourceVersion"] = "1".into();
    assert_eq!(server.post(MAPS, &versioned).0, 500);
    made(server.post(MAPS, &map("a")));
    assert_eq!(server.post(MAPS, &versioned).0, 500);
    assert_eq!(
        server.post(&format!("{MAPS}?dryRun=All"), &versioned).0,
        409
    );
    versioned["metadata"]["name"] = "b".into();
    let at = format!("{MAPS}/b?fieldManager=me");
    assert_eq!(server.patch(&at, "apply", &versioned).0, 201);
}

#[test]
fn a_service_is_made_by_replacing_its_status() {
    let mut server = Server::new();
    let at = "/api/v1/namespaces/default/services/web/status";
    let service = json!({"metadata": {"name": "web"}, "spec": {"ports": [{"port": 80}]}});
    assert_eq!(server.put(at, &service).0, 201);
    assert_eq!(server.put(&format!("{MAPS}/a"), &map("a")).0, 404);
}

#[test]
fn who_sends_an_empty_list_owns_it_though_it_is_stored_as_none() {
    let mut server = Server::new();
    let at = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    let role = made(server.post(at, &json!({"metadata": {"name": "a"}, "rules": []})));
    assert_eq!(role["rules"], Value::Null);
    let owned = &role["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(owned["f:rules"], json!({}));
}

#[test]
fn webhooks_that_are_sent_empty_count_as_a_change() {
    let mut server = Server::new();
    let all = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    made(server.post(all, &json!({"metadata": {"name": "a"}})));
    let at = format!("{all}/a");
    for generation in 2..4 {
        let patched = made(server.patch(&at, "merge-patch", &json!({"webhooks": []})));
        assert_eq!(patched["metadata"]["generation"], generation);
    }
    let same = made(server.patch(&at, "merge-patch", &json!({})));
    assert_eq!(same["metadata"]["generation"], 3);
}

#[test]
fn times_of_owners_alone_are_no_reason_to_write() {
    let mut server = Server::new();
    let at = "/api/v1/namespaces/default/services/web";
    let service = json!({
        "metadata": {"name": "web"},
        "spec": {"type": "ExternalName", "externalName": "example.com"},
    });
    made(server.post("/api/v1/namespaces/default/services", &service));
    let local = json!({"spec": {"internalTrafficPolicy": "Local"}});
    let first = made(server.patch(at, "merge-patch", &local));
    // Nothing is routed to a name elsewhere, so that the policy is not kept.
    assert!(first["spec"].get("internalTrafficPolicy").is_none());
    server.now = "2026-01-02T04:00:00Z".parse().unwrap();
    assert_eq!(made(server.patch(at, "merge-patch", &local)), first);
}

#[test]
fn a_page_of_a_selection_tells_to_go_on_while_something_is_left() {
    let mut server = Server::new();
    for (name, label) in [("a", "x"), ("b", "y")] {
        let mut map = map(name);
        map["metadata"]["labels"] = json!({"l": label});
        made(server.post(MAPS, &map));
    }
    let list = |server: &mut Server, query: &str| server.get(&format!("{MAPS}?{query}")).1;
    let first = list(&mut server, "limit=1&labelSelector=l=x");
    assert!(first["metadata"]["continue"].is_string(), "{first}");
    let whole = list(&mut server, "limit=2&labelSelector=l=x");
    assert!(whole["metadata"]["continue"].is_null());
    let one = list(&mut server, "limit=1&fieldSelector=metadata.name=a");
    assert!(one["metadata"]["continue"].is_null());
}

#[test]
fn whoever_deletes_jobs_is_told_what_becomes_of_their_pods() {
    let mut server = Server::new();
    let all = "/apis/batch/v1/namespaces/default/jobs";
    for target in [format!("{all}/absent"), all.to_owned()] {
        let (_, told) = warnings(&mut server, Method::Delete, &target, &Value::Null);
        assert_eq!(told.len(), 1, "{target}");
        let silent = format!("{target}?propagationPolicy=Orphan");
        let (_, told) = warnings(&mut server, Method::Delete, &silent, &Value::Null);
        assert!(told.is_empty(), "{target}");
    }
}

#[test]
fn what_is_told_of_a_body_is_told_with_a_refusal() {
    let mut server = Server::new();
    let binding = json!({"metadata": {"name": "a"}, "target": {"name": "n", "odd": 1}});
    let at = "/api/v1/namespaces/default/pods/a/binding";
    let (code, told) = warnings(&mut server, Method::Post, at, &binding);
    assert_eq!(
        (code, told),
        (404, vec!["unknown field \"target.odd\"".to_owned()])
    );
    let review = json!({"spec": {"odd": 1}});
    let at = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let (code, told) = warnings(&mut server, Method::Post, at, &review);
    assert_eq!(
        (code, told),
        (422, vec!["unknown field \"spec.odd\"".to_owned()])
    );
}

#[test]
fn the_first_range_of_a_node_stands_in_both_fields() {
    let mut server = Server::new();
    for (name, spec, ranges) in [
        (
            "a",
            json!({"podCIDR": "10.1.0.0/24"}),
            json!(["10.1.0.0/24"]),
        ),
        (
            "b",
            json!({"podCIDRs": ["10.2.0.0/24"]}),
            json!(["10.2.0.0/24"]),
        ),
        (
            "c",
            json!({"podCIDR": "10.3.0.0/24", "podCIDRs": ["10.4.0.0/24"]}),
            json!(["10.3.0.0/24"]),
        ),
    ] {
        let node = json!({"metadata": {"name": name}, "spec": spec});
        let node = made(server.post("/api/v1/nodes", &node));
        assert_eq!(node["spec"]["podCIDRs"], ranges, "{name}");
        assert_eq!(node["spec"]["podCIDR"], ranges[0], "{name}");
    }
}

#[test]
fn a_scale_has_metadata_of_its_own() {
    let mut server = Server::new();
    let deployment = json!({
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }},
    });
    made(server.post("/apis/apps/v1/namespaces/default/deployments", &deployment));
    let at = "/apis/apps/v1/namespaces/default/deployments/web/scale";
    let odd = json!({"metadata": {"labels": {"not valid": "x"}}});
    let (code, refused) = server.patch(at, "merge-patch", &odd);
    assert_eq!(code, 422);
    assert_eq!(refused["details"]["causes"][0]["field"], "metadata.labels");
}

#[test]
fn a_limit_range_without_a_name_gets_one() {
    let mut server = Server::new();
    let at = "/api/v1/namespaces/default/limitranges";
    let made = made(server.post(at, &json!({"spec": {"limits": []}})));
    assert_eq!(made["metadata"]["name"].as_str().unwrap().len(), 36);
}

#[test]
fn a_table_of_kinds_without_columns_has_no_rows_rather_than_none() {
    let mut server = Server::new();
    let mut rows = |plural: &str| {
        let accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let target = format!("/api/v1/namespaces/default/{plural}");
        match server.reply_to(Method::Get, &target, "", accept, &[]) {
            Reply::List(list) => {
                let body: Value = serde_json::from_slice(&list.render().body).unwrap();
                body["rows"].clone()
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(rows("limitranges"), Value::Null);
    assert_eq!(rows("pods"), json!([]));
}

#[test]
fn what_every_cluster_has_is_the_servers_own() {
    let mut server = Server::new();
    let (_, namespace) = server.get("/api/v1/namespaces/default");
    let owner = &namespace["metadata"]["managedFields"][0]["manager"];
    assert_eq!(owner, "kube-apiserver");
}
