use super::*;

#[test]
fn a_new_object_gets_what_only_the_server_gives() {
    let mut server = Server::new();
    let (code, made) = server.post(MAPS, &map("a"));
    assert_eq!(code, 201, "{made}");
    assert_eq!(
        made["metadata"]["creationTimestamp"],
        "2026-01-02T03:04:05Z"
    );
    assert_eq!(made["metadata"]["namespace"], "default");
    let uid = made["metadata"]["uid"].as_str().unwrap();
    assert_eq!(uid.len(), 36);
    let version = server.registry.revision().0.to_string();
    assert_eq!(made["metadata"]["resourceVersion"], version);
    assert_eq!(server.get(&format!("{MAPS}/a")), (200, made));
}

#[test]
fn who_set_which_field_is_written_down_unless_nobody_cares() {
    for (forgets, noted) in [(false, true), (true, false)] {
        let mut server = Server::new();
        if forgets {
            server.registry.forget_field_owners();
        }
        let (_, made) = server.post(MAPS, &map("a"));
        assert_eq!(made["metadata"]["managedFields"].is_array(), noted);
        let mut other = map("a");
        other["data"] = json!({"more": "1"});
        let (code, changed) = server.put(&format!("{MAPS}/a"), &other);
        assert_eq!(code, 200, "{changed}");
        assert_eq!(changed["metadata"]["managedFields"].is_array(), noted);
    }
}

#[test]
fn a_name_is_taken_once_and_generated_on_request() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let (code, refused) = server.post(MAPS, &map("a"));
    assert_eq!(
        (code, refused["reason"].as_str()),
        (409, Some("AlreadyExists"))
    );
    assert_eq!(refused["message"], "configmaps \"a\" already exists");
    let nameless = json!({"metadata": {"generateName": "web-"}});
    let (code, made) = server.post(MAPS, &nameless);
    let name = made["metadata"]["name"].as_str().unwrap();
    assert!(
        code == 201 && name.starts_with("web-") && name.len() == 9,
        "{made}"
    );
}

#[test]
fn what_makes_no_sense_is_refused_with_its_field() {
    let mut server = Server::new();
    let (code, refused) = server.post(MAPS, &map("Not A Name"));
    assert_eq!(code, 422);
    assert_eq!(refused["details"]["causes"][0]["field"], "metadata.name");
    let (code, refused) = server.post("/api/v1/namespaces/nowhere/configmaps", &map("a"));
    assert_eq!(
        (code, refused["message"].as_str()),
        (404, Some("namespaces \"nowhere\" not found"))
    );
    let mut elsewhere = map("a");
    elsewhere["metadata"]["namespace"] = "kube-system".into();
    assert_eq!(server.post(MAPS, &elsewhere).0, 400);
    assert_eq!(
        server
            .send(Method::Post, MAPS, "application/cbor", &map("a"))
            .0,
        415
    );
    let Reply::Answer(answer) = server.reply(Method::Post, MAPS, "application/json", b"{\"a\":")
    else {
        panic!("a watch");
    };
    assert_eq!(answer.code, 400);
}

#[test]
fn an_update_must_know_the_newest_version() {
    let mut server = Server::new();
    let (_, made) = server.post(MAPS, &map("a"));
    let at = format!("{MAPS}/a");
    let mut changed = made.clone();
    changed["data"]["a"] = "2".into();
    let (code, second) = server.put(&at, &changed);
    assert_eq!((code, second["data"]["a"].as_str()), (200, Some("2")));
    let (code, refused) = server.put(&at, &changed);
    assert_eq!((code, refused["reason"].as_str()), (409, Some("Conflict")));
    // The same state is no change.
    let before = server.registry.revision();
    assert_eq!(server.put(&at, &second), (200, second));
    assert_eq!(server.registry.revision(), before);
}

#[test]
fn status_and_spec_are_written_apart() {
    let mut server = Server::new();
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": "app:v1"}]},
            },
        },
        "status": {"replicas": 5},
    });
    let all = "/apis/apps/v1/namespaces/default/deployments";
    let (code, made) = server.post(all, &deployment);
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["status"], json!({}));
    let mut status = made.clone();
    status["status"] = json!({"replicas": 2});
    status["spec"]["replicas"] = 9.into();
    let (code, written) = server.put(&format!("{all}/web/status"), &status);
    assert_eq!(
        (code, &written["status"]["replicas"]),
        (200, &json!(2)),
        "{written}"
    );
    assert_eq!(written["spec"], made["spec"]);
    let mut spec = written.clone();
    spec["status"] = json!({});
    spec["spec"]["replicas"] = 3.into();
    let (code, written) = server.put(&format!("{all}/web"), &spec);
    assert_eq!(
        (code, &written["status"]["replicas"]),
        (200, &json!(2)),
        "{written}"
    );
    assert_eq!(written["spec"]["replicas"], 3);
    let (code, scale) = server.get(&format!("{all}/web/scale"));
    assert_eq!((code, &scale["spec"]["replicas"]), (200, &json!(3)));
    assert_eq!(scale["status"]["selector"], "app=web");
}

#[test]
fn patches_change_what_they_name() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let at = format!("{MAPS}/a");
    let (code, merged) = server.patch(&at, "merge-patch", &json!({"data": {"b": "2"}}));
    assert_eq!((code, &merged["data"]), (200, &json!({"a": "1", "b": "2"})));
    let replace = json!([{"op": "replace", "path": "/data/a", "value": "9"}]);
    let (code, patched) = server.patch(&at, "json-patch", &replace);
    assert_eq!((code, &patched["data"]["a"]), (200, &json!("9")));
    let labels = json!({"metadata": {"labels": {"x": "y"}}, "data": {"b": null}});
    let (code, patched) = server.patch(&at, "strategic-merge-patch", &labels);
    assert_eq!((code, &patched["data"]), (200, &json!({"a": "9"})));
    assert_eq!(patched["metadata"]["labels"]["x"], "y");
    let (code, _) = server.patch(&at, "strange", &labels);
    assert_eq!(code, 415);
}

#[test]
fn what_is_applied_is_made_or_merged_and_owned() {
    let mut server = Server::new();
    let at = format!("{MAPS}/a?fieldManager=me");
    let (code, made) = server.patch(&at, "apply", &map("a"));
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["metadata"]["managedFields"][0]["manager"], "me");
    let mut other = map("a");
    other["data"]["a"] = "2".into();
    let (code, refused) = server.patch(&format!("{MAPS}/a?fieldManager=you"), "apply", &other);
    assert_eq!(
        (code, refused["reason"].as_str()),
        (409, Some("Conflict")),
        "{refused}"
    );
    let forced = format!("{MAPS}/a?fieldManager=you&force=true");
    let (code, taken) = server.patch(&forced, "apply", &other);
    assert_eq!((code, &taken["data"]["a"]), (200, &json!("2")), "{taken}");
}

#[test]
fn a_delete_names_the_incarnation_it_means() {
    let mut server = Server::new();
    let (_, made) = server.post(MAPS, &map("a"));
    let at = format!("{MAPS}/a");
    let other = json!({"preconditions": {"uid": "0"}});
    let (code, refused) = server.delete(&at, &other);
    assert_eq!(code, 409);
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("the UID in the precondition (0) does not match the UID in record"),
        "{refused}"
    );
    let this = json!({"preconditions": {"uid": made["metadata"]["uid"]}});
    let (code, gone) = server.delete(&at, &this);
    assert_eq!((code, gone["status"].as_str()), (200, Some("Success")));
    assert_eq!(server.get(&at).0, 404);
}

#[test]
fn finalizers_hold_an_object_until_the_last_is_gone() {
    let mut server = Server::new();
    let mut held = map("a");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    server.post(MAPS, &held);
    let at = format!("{MAPS}/a");
    let (code, going) = server.delete(&at, &Value::Null);
    assert_eq!(code, 200);
    assert_eq!(
        going["metadata"]["deletionTimestamp"],
        "2026-01-02T03:04:05Z"
    );
    let (code, _) = server.patch(
        &at,
        "merge-patch",
        &json!({"metadata": {"finalizers": null}}),
    );
    assert_eq!(code, 200);
    assert_eq!(server.get(&at).0, 404);
}

#[test]
fn a_pod_that_runs_somewhere_takes_its_time_to_go() {
    let mut server = Server::new();
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "app", "image": "app:v1"}], "terminationGracePeriodSeconds": 30},
    });
    let (code, made) = server.post(pods, &pod);
    assert_eq!(code, 201, "{made}");
    let binding = json!({"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n1"}});
    let (code, bound) = server.post(&format!("{pods}/p/binding"), &binding);
    assert_eq!(code, 201, "{bound}");
    assert_eq!(server.post(&format!("{pods}/p/binding"), &binding).0, 409);
    let (_, going) = server.delete(&format!("{pods}/p"), &Value::Null);
    assert_eq!(
        going["metadata"]["deletionTimestamp"],
        "2026-01-02T03:04:35Z"
    );
    assert_eq!(going["spec"]["nodeName"], "n1");
    let now = json!({"gracePeriodSeconds": 0});
    assert_eq!(server.delete(&format!("{pods}/p"), &now).0, 200);
    assert_eq!(server.get(&format!("{pods}/p")).0, 404);
}

#[test]
fn a_namespace_on_its_way_out_takes_nothing_new() {
    let mut server = Server::new();
    server.post("/api/v1/namespaces", &json!({"metadata": {"name": "shop"}}));
    let (code, going) = server.delete("/api/v1/namespaces/shop", &Value::Null);
    assert_eq!(
        (code, going["status"]["phase"].as_str()),
        (200, Some("Terminating")),
        "{going}"
    );
    let (code, refused) = server.post("/api/v1/namespaces/shop/configmaps", &map("a"));
    assert_eq!(code, 403);
    assert_eq!(
        refused["details"]["causes"][0]["reason"],
        "NamespaceTerminating"
    );
    let mut last = going.clone();
    last["spec"]["finalizers"] = json!([]);
    assert_eq!(server.put("/api/v1/namespaces/shop/finalize", &last).0, 200);
    assert_eq!(server.get("/api/v1/namespaces/shop").0, 404);
    assert_eq!(
        server.delete("/api/v1/namespaces/default", &Value::Null).0,
        403
    );
}

#[test]
fn who_has_no_role_is_refused() {
    let mut server = Server::new();
    server.user = User::of_groups("mallory", &["system:authenticated"]);
    let (code, refused) = server.get(MAPS);
    assert_eq!(code, 403);
    let told = refused["message"].as_str().unwrap();
    assert!(
        told.starts_with("configmaps is forbidden: User \"mallory\" cannot list"),
        "{told}"
    );
}

#[test]
fn a_pod_knows_where_its_node_is() {
    let mut server = Server::new();
    let labels = json!({
        "topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r", "other": "o",
    });
    let node =
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}});
    server.post("/api/v1/nodes", &node);
    let pods = "/api/v1/namespaces/default/pods";
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "labels": {"topology.kubernetes.io/zone": "elsewhere"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    server.post(pods, &pod);
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"},
        "target": {"kind": "Node", "name": "n"},
    });
    let (code, answer) = server.post(&format!("{pods}/web/binding"), &binding);
    assert_eq!(code, 201, "{answer}");
    let (_, bound) = server.get(&format!("{pods}/web"));
    assert_eq!(
        bound["metadata"]["labels"],
        json!({"topology.kubernetes.io/zone": "z", "topology.kubernetes.io/region": "r"})
    );
}
