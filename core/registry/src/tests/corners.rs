//! Rare sequences that the differential test has found, each as kube-apiserver v1.36.4 answers it.

use serde_json::{Value, json};

use super::{MAPS, Server, map, refused};
use crate::{Method, Reply};

const PODS: &str = "/api/v1/namespaces/default/pods";

fn template() -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    })
}

#[test]
fn a_page_cannot_be_asked_for_at_another_version() {
    let mut server = Server::new();
    for name in ["a", "b"] {
        server.post(MAPS, &map(name));
    }
    let (_, first) = server.get(&format!("{MAPS}?limit=1"));
    let next = first["metadata"]["continue"].as_str().unwrap();
    for (version, code) in [("", 200), ("0", 200), ("5", 400)] {
        let target = format!("{MAPS}?limit=1&continue={next}&resourceVersion={version}");
        assert_eq!(server.get(&target).0, code, "{version}");
    }
}

#[test]
fn of_a_prefix_of_a_controllers_name_only_what_comes_of_it_is_judged() {
    let mut server = Server::new();
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    let controller = |meta: Value| {
        json!({
            "apiVersion": "v1", "kind": "ReplicationController", "metadata": meta,
            "spec": {"selector": {"app": "web"}, "template": template()},
        })
    };
    let (_, drawn) = server.post(controllers, &controller(json!({"generateName": "Gen_"})));
    let causes = drawn["details"]["causes"].as_array().unwrap();
    let fields: Vec<&Value> = causes.iter().map(|cause| &cause["field"]).collect();
    assert_eq!(fields, ["metadata.name"]);
    let named = json!({"generateName": "Gen_", "name": "a"});
    assert_eq!(server.post(controllers, &controller(named)).0, 201);
}

#[test]
fn what_was_empty_is_filled_in_when_it_is_read() {
    let mut server = Server::new();
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},
        "status": {"capacity": {"pods": "110"}, "allocatable": {}},
    });
    let (_, made) = server.post("/api/v1/nodes", &node);
    assert_eq!(made["status"]["allocatable"], json!({"pods": "110"}));
}

#[test]
fn drivers_count_changes_from_nothing() {
    let mut server = Server::new();
    let drivers = "/apis/storage.k8s.io/v1/csidrivers";
    let driver = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "a"}, "spec": {},
    });
    let (_, made) = server.post(drivers, &driver);
    assert_eq!(made["metadata"]["generation"], Value::Null);
    for (spec, count) in [
        (json!({"requiresRepublish": true}), 1),
        (json!({"requiresRepublish": true}), 1),
        (json!({"requiresRepublish": false}), 2),
    ] {
        let patch = json!({"spec": spec});
        let (_, changed) = server.patch(&format!("{drivers}/a"), "merge-patch", &patch);
        assert_eq!(changed["metadata"]["generation"], json!(count));
    }
}

#[test]
fn how_many_templates_a_daemon_set_had_is_not_changed_with_its_status() {
    const COUNT: &str = "deprecated.daemonset.template.generation";
    let mut server = Server::new();
    let sets = "/apis/apps/v1/namespaces/default/daemonsets";
    let set = |count: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": "a", "annotations": {COUNT: count}},
            "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template()},
        })
    };
    let (code, answer) = server.post(sets, &set("x"));
    let why = "DaemonSet in version \"v1\" cannot be handled as a DaemonSet: strconv.ParseInt: parsing \"x\": \
               invalid syntax";
    assert_eq!((code, &answer["message"]), (400, &json!(why)));
    let (_, made) = server.post(sets, &set("+3"));
    assert_eq!(made["metadata"]["annotations"][COUNT], "3");
    let mut old = made.clone();
    old["metadata"]["annotations"][COUNT] = json!("1");
    let (code, changed) = server.put(&format!("{sets}/a/status"), &old);
    assert_eq!(code, 200, "{changed}");
    assert_eq!(changed["metadata"]["annotations"][COUNT], "3");
    let count = json!({"metadata": {"annotations": {COUNT: "x"}}});
    for (kind, code) in [("merge-patch", 422), ("strategic-merge-patch", 500)] {
        assert_eq!(server.patch(&format!("{sets}/a"), kind, &count).0, code);
    }
    let apply = format!("{sets}/a?fieldManager=me&force=true");
    let (code, answer) = server.patch(&apply, "apply", &set("x"));
    let why = "failed to convert to unversioned (/a; apps/v1, Kind=DaemonSet): strconv.ParseInt: parsing \"x\": \
               invalid syntax";
    assert_eq!((code, &answer["message"]), (500, &json!(why)));
}

#[test]
fn a_job_that_shows_the_labels_of_its_pods_is_written_once_more() {
    let mut server = Server::new();
    let jobs = "/apis/batch/v1/namespaces/default/jobs";
    let job = |name: &str, labels: Value| {
        json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels},
            "spec": {"template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "main", "image": "nginx"}],
            }}},
        })
    };
    for (name, labels, is_written) in [("a", json!({}), true), ("b", json!({"a": "b"}), false)] {
        let (_, made) = server.post(jobs, &job(name, labels));
        let path = format!("{jobs}/{name}");
        let mut touch = || {
            let (_, same) = server.patch(&path, "merge-patch", &json!({}));
            same["metadata"]["resourceVersion"].clone()
        };
        let (first, second) = (touch(), touch());
        let is_other = first != made["metadata"]["resourceVersion"];
        assert_eq!((is_other, second), (is_written, first));
    }
}

#[test]
fn a_binding_must_be_in_the_namespace_of_its_path() {
    let mut server = Server::new();
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a", "namespace": "other"},
    });
    let why =
        "the namespace of the provided object does not match the namespace sent on the request";
    for target in [
        format!("{PODS}/b/binding"),
        "/api/v1/namespaces/default/bindings".to_owned(),
    ] {
        let (code, answer) = server.post(&target, &binding);
        assert_eq!((code, &answer["message"]), (400, &json!(why)), "{target}");
    }
}

#[test]
fn what_admission_refuses_is_warned_about_all_the_same() {
    let mut server = Server::new();
    let limits = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"},
        "spec": {"limits": [{"type": "Pod", "max": {"memory": "2Gi"}}]},
    });
    server.post("/api/v1/namespaces/default/limitranges", &limits);
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account =
        json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    server.post(accounts, &account);
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {
            "containers": [{"name": "main", "image": "nginx"}],
            "volumes": [{"name": "v", "gitRepo": {"repository": "r"}}],
        },
    });
    let (warnings, message) = refused(&mut server, PODS, &pod);
    assert!(
        message.contains("maximum memory usage per Pod"),
        "{message}"
    );
    let why = "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+";
    assert_eq!(warnings, [why]);
}

#[test]
fn the_policy_of_a_service_comes_back_with_its_address() {
    let mut server = Server::new();
    let services = "/api/v1/namespaces/default/services";
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"ports": [{"port": 80}], "internalTrafficPolicy": "Local"},
    });
    server.post(services, &service);
    let path = format!("{services}/a");
    let policy = |spec: &Value| spec["spec"]["internalTrafficPolicy"].clone();
    let elsewhere =
        json!({"spec": {"type": "ExternalName", "externalName": "a.example", "clusterIP": null}});
    let (code, moved) = server.patch(&path, "merge-patch", &elsewhere);
    assert_eq!((code, policy(&moved)), (200, Value::Null), "{moved}");
    server.restart();
    let (_, tried) = server.delete(&path, &json!({"dryRun": ["All"]}));
    assert_eq!(policy(&tried), Value::Null, "{tried}");
    let back = json!({"spec": {"type": "ClusterIP", "externalName": null}});
    let (code, back) = server.patch(&path, "merge-patch", &back);
    assert_eq!((code, policy(&back)), (200, json!("Local")), "{back}");
}

#[test]
fn what_is_replaced_and_not_there_needs_a_version_that_is_a_number() {
    let mut server = Server::new();
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "resourceVersion": "abc"},
        "spec": {"ports": [{"port": 80}]},
    });
    let (code, answer) = server.put("/api/v1/namespaces/default/services/a", &service);
    let why = "strconv.ParseUint: parsing \"abc\": invalid syntax";
    assert_eq!((code, &answer["message"]), (500, &json!(why)));
}

#[test]
fn the_label_of_a_name_that_was_drawn_is_not_judged() {
    let mut server = Server::new();
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "-1"}});
    let (_, refused) = server.post("/api/v1/namespaces", &namespace);
    let causes = refused["details"]["causes"].as_array().unwrap();
    let fields: Vec<&Value> = causes.iter().map(|cause| &cause["field"]).collect();
    assert_eq!(fields, ["metadata.generateName", "metadata.name"]);
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "a-"}});
    let (_, made) = server.post("/api/v1/namespaces", &namespace);
    let label = &made["metadata"]["labels"]["kubernetes.io/metadata.name"];
    assert_eq!(*label, made["metadata"]["name"]);
}

#[test]
fn a_parameter_without_a_value_is_one() {
    let mut server = Server::new();
    let classes = "/apis/storage.k8s.io/v1/storageclasses";
    let class = json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "a"},
        "provisioner": "example.com/disk",
    });
    server.post(classes, &class);
    let patch = json!({"parameters": {"type": ""}});
    let (code, answer) = server.patch(&format!("{classes}/a"), "merge-patch", &patch);
    let cause = &answer["details"]["causes"][0]["field"];
    assert_eq!((code, cause), (422, &json!("parameters")), "{answer}");
}

#[test]
fn a_stateful_set_that_keeps_all_revisions_is_warned_about() {
    let mut server = Server::new();
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"},
        "spec": {
            "serviceName": "a", "revisionHistoryLimit": -1,
            "selector": {"matchLabels": {"app": "web"}}, "template": template(),
        },
    });
    let target = "/apis/apps/v1/namespaces/default/statefulsets";
    let (warnings, _) = refused(&mut server, target, &set);
    assert!(warnings[0].starts_with("spec.revisionHistoryLimit: a negative value"));
}

#[test]
fn an_eviction_that_is_tried_in_an_odd_way_is_refused() {
    let mut server = Server::new();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": template()["spec"]});
    server.post(PODS, &pod);
    let eviction = |dry_run: &str| {
        json!({
            "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"},
            "deleteOptions": {"dryRun": [dry_run]},
        })
    };
    for (dry_run, wanted) in [("Odd", 422), ("All", 201)] {
        let (code, answer) = server.post(&format!("{PODS}/a/eviction"), &eviction(dry_run));
        assert_eq!(code, wanted, "{answer}");
    }
}

#[test]
fn of_a_signing_request_the_name_is_looked_at_last() {
    let mut server = Server::new();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "a%b"},
        "spec": {"request": "bm90IGEgcmVxdWVzdA==", "signerName": "example.com/signer", "usages": ["client auth"]},
    });
    let (code, refused) = server.post(requests, &request);
    let fields = refused["details"]["causes"].as_array().unwrap().iter();
    let fields: Vec<&Value> = fields.map(|cause| &cause["field"]).collect();
    assert_eq!((code, fields), (422, vec![&json!("spec.request")]));
    let (_, refused) = server.post(requests, &json!({"spec": request["spec"]}));
    let first = &refused["details"]["causes"][0]["field"];
    assert_eq!(*first, "metadata.name", "{refused}");
}

#[test]
fn an_annotation_without_a_value_is_a_change_of_a_deployment() {
    let mut server = Server::new();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template()},
    });
    server.post(deployments, &deployment);
    let path = format!("{deployments}/a");
    for (annotations, generation) in [
        (json!({"note": ""}), 2),
        (json!({"note": ""}), 2),
        (Value::Null, 3),
    ] {
        let patch = json!({"metadata": {"annotations": annotations}});
        let (_, told) = server.patch(&path, "merge-patch", &patch);
        assert_eq!(told["metadata"]["generation"], generation, "{annotations}");
    }
}

#[test]
fn rules_that_are_none_are_told_from_none() {
    let mut server = Server::new();
    let ingresses = "/apis/networking.k8s.io/v1/namespaces/default/ingresses";
    for (rules, shown) in [(Value::Null, "null"), (json!([]), "[]")] {
        let ingress = json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "a"}, "spec": {"rules": rules},
        });
        let (_, message) = refused(&mut server, ingresses, &ingress);
        let expected = format!("spec: Invalid value: {shown}: either");
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn what_is_wrong_with_a_scale_is_told_although_it_is_of_something_else() {
    let mut server = Server::new();
    let sets = "/apis/apps/v1/namespaces/default/replicasets";
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template()},
    });
    server.post(sets, &set);
    let scale = json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "b"}, "spec": {"odd": 1},
    });
    let path = format!("{sets}/a/scale");
    let body = scale.to_string();
    let reply = server.reply(Method::Put, &path, "application/json", body.as_bytes());
    let Reply::Answer(answer) = reply else {
        panic!("{reply:?}");
    };
    assert_eq!((answer.code, answer.warnings.len()), (400, 1));
}

#[test]
fn nothing_in_it_is_a_change_of_a_frozen_map() {
    let mut server = Server::new();
    let mut frozen = map("a");
    frozen["immutable"] = json!(true);
    let (_, mut made) = server.post(MAPS, &frozen);
    made["binaryData"] = json!({});
    let (code, refused) = server.put(&format!("{MAPS}/a"), &made);
    let field = &refused["details"]["causes"][0]["field"];
    assert_eq!((code, field), (422, &json!("binaryData")), "{refused}");
    // Data are filled in, so that there is nothing in them either way.
    frozen.as_object_mut().unwrap().remove("data");
    frozen["metadata"]["name"] = json!("b");
    let (_, mut made) = server.post(MAPS, &frozen);
    made["data"] = json!({});
    let (code, kept) = server.put(&format!("{MAPS}/b"), &made);
    assert_eq!(code, 200, "{kept}");
}

#[test]
fn a_status_that_comes_without_labels_leaves_those_of_the_template() {
    let mut server = Server::new();
    let controllers = "/api/v1/namespaces/default/replicationcontrollers";
    let controller = json!({
        "apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "a", "labels": {"tier": "back"}},
        "spec": {"selector": {"app": "web"}, "template": template()},
    });
    let (_, mut made) = server.post(controllers, &controller);
    made["metadata"].as_object_mut().unwrap().remove("labels");
    made["spec"]["template"] = Value::Null;
    made["status"] = json!({"replicas": 1});
    let (code, told) = server.put(&format!("{controllers}/a/status"), &made);
    assert_eq!(code, 200, "{told}");
    assert_eq!(told["metadata"]["labels"], json!({"app": "web"}), "{told}");
}

#[test]
fn a_service_loses_the_ports_of_its_type_if_none_is_new() {
    let mut server = Server::new();
    let services = "/api/v1/namespaces/default/services";
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"},
        "spec": {"type": "NodePort", "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 443}]},
    });
    let (_, mut made) = server.post(services, &service);
    made["spec"]["type"] = json!("ClusterIP");
    made["spec"]["ports"][0]["nodePort"] = json!(0);
    let (code, told) = server.put(&format!("{services}/a"), &made);
    assert_eq!(
        (code, told["spec"]["ports"][1].get("nodePort")),
        (200, None),
        "{told}"
    );
}

#[test]
fn what_is_not_kept_of_an_endpoint_is_a_change_all_the_same() {
    let mut server = Server::new();
    let slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": {"name": "a"},
        "addressType": "IPv4", "endpoints": [{"addresses": ["10.1.2.3"], "deprecatedTopology": {"a": "b"}}],
    });
    server.post(slices, &slice);
    let (_, told) = server.put(&format!("{slices}/a"), &slice);
    assert_eq!(told["metadata"]["generation"], 2, "{told}");
    assert_eq!(told["endpoints"][0].get("deprecatedTopology"), None);
}

#[test]
fn a_second_source_of_a_volume_is_a_change_even_if_it_says_nothing() {
    let mut server = Server::new();
    let volumes = "/api/v1/persistentvolumes";
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "a"},
        "spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "nfs": {"path": "/p", "server": "s"},
        },
    });
    server.post(volumes, &volume);
    let patch = json!({"spec": {"hostPath": {}}});
    let (_, refused) = server.patch(&format!("{volumes}/a"), "merge-patch", &patch);
    let causes = refused["details"]["causes"].as_array().unwrap().iter();
    let fields: Vec<&Value> = causes.map(|cause| &cause["field"]).collect();
    let expected = [
        "spec.hostPath.path",
        "spec.nfs",
        "spec.persistentvolumesource",
    ];
    assert_eq!(fields, expected, "{refused}");
}

#[test]
fn an_ephemeral_container_has_no_ports_not_even_none() {
    let mut server = Server::new();
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    });
    server.post(PODS, &pod);
    let container = json!({"name": "debug", "image": "busybox", "ports": []});
    let patch = json!({"spec": {"ephemeralContainers": [container]}});
    let (_, refused) = server.patch(
        &format!("{PODS}/a/ephemeralcontainers"),
        "merge-patch",
        &patch,
    );
    let cause = &refused["details"]["causes"][0];
    assert_eq!(
        cause["field"], "spec.ephemeralContainers[0].ports",
        "{refused}"
    );
}
