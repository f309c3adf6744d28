//! Rare writes of metadata (owners, finalizers, ends) that the differential test has found, each as kube-apiserver
//! v1.36.4 answers it.

use serde_json::{Value, json};

use super::{MAPS, Server, map};

/// Asks for a certificate that says `CN=rules`.
const SIGNING_REQUEST: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISk1ISUNBUUF3RURFT01Bd0dBMVVFQXd3RmNuVnNaWE13V1RBVEJnY3Foa2pPUFFJQkJnZ3Foa2pPUFFNQgpCd05DQUFTVXhqVEhLRU9SVFFLVnMwdWR5SEZZMUx3THQ3Tjd1dkpyYXB1R3FIblNVYSt2NXl4VUk1aURqQmlICmVmcjJBbkUzTDR3VmNOUGxvTHBmR3pJaXA4K1FvQUF3Q2dZSUtvWkl6ajBFQXdJRFJ3QXdSQUlnV0d4d05jTFgKbWpDak5mN3JMUFQ3V1RkTnM0MGQyQ0xFcUJxUit2YXpzc3dDSUhzT2FyZi8rZHd2ZXB3VkZKZmJJRnNTaG5kQgpuK3dlMHhDbE12ajRZaElICi0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=";

#[test]
fn a_link_to_itself_is_told_only_of_what_is_not_kept() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let mut linked = map("a");
    linked["metadata"]["selfLink"] = json!("/x");
    for (query, told) in [("?dryRun=All", json!("/x")), ("", Value::Null)] {
        let (_, answer) = server.put(&format!("{MAPS}/a{query}"), &linked);
        assert_eq!(answer["metadata"]["selfLink"], told, "{query}");
    }
    let held = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let path = format!("{MAPS}/a");
    server.patch(&path, "merge-patch", &held);
    server.delete(&path, &Value::Null);
    // This lets it go.
    let (_, answer) = server.put(&path, &linked);
    assert_eq!(answer["metadata"]["selfLink"], "/x");
    assert_eq!(server.get(&path).0, 404);
}

#[test]
fn who_sends_another_end_of_an_object_owns_it() {
    let mut server = Server::new();
    let mut held = map("a");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    server.post(MAPS, &held);
    let path = format!("{MAPS}/a");
    let (_, ending) = server.delete(&path, &Value::Null);
    let end = ending["metadata"]["deletionTimestamp"].clone();
    let mut other = ending.clone();
    other["metadata"]["deletionTimestamp"] = json!("2001-01-01T00:00:00Z");
    let (code, kept) = server.put(&format!("{path}?fieldManager=me"), &other);
    assert_eq!((code, &kept["metadata"]["deletionTimestamp"]), (200, &end));
    let owners = kept["metadata"]["managedFields"].as_array().unwrap();
    let mine = owners.iter().find(|owner| owner["manager"] == "me");
    let fields = json!({"f:metadata": {"f:deletionTimestamp": {}}});
    assert_eq!(mine.unwrap()["fieldsV1"], fields);
}

#[test]
fn a_namespace_that_goes_for_good_is_told_once_more() {
    let mut server = Server::new();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
    server.post("/api/v1/namespaces", &namespace);
    let path = "/api/v1/namespaces/a";
    server.put(&format!("{path}/finalize"), &namespace);
    for _ in ["told to go", "gone"] {
        let (code, told) = server.delete(path, &Value::Null);
        assert_eq!((code, &told["kind"]), (200, &json!("Namespace")), "{told}");
    }
    assert_eq!(server.get(path).0, 404);
}

#[test]
fn who_applies_nothing_that_counts_owns_nothing_any_more() {
    let mut server = Server::new();
    let requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
    let request = json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": "a", "labels": {"app": "web"}},
        "spec": {"request": SIGNING_REQUEST, "signerName": "example.com/signer", "usages": ["client auth"]},
    });
    let path = format!("{requests}/a?fieldManager=alice");
    let (code, told) = server.patch(&path, "apply", &request);
    let owners = told["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!((code, owners.len()), (201, 1), "{told}");
    let mut fewer = request.clone();
    fewer["metadata"] = json!({"name": "a"});
    let (code, told) = server.patch(&path, "apply", &fewer);
    assert_eq!(code, 200, "{told}");
    assert_eq!(told["metadata"].get("labels"), None);
    assert_eq!(told["metadata"].get("managedFields"), None, "{told}");
}

#[test]
fn an_object_whose_owners_cannot_be_found_is_told_before_owners_that_were_sent() {
    let mut server = Server::new();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}, "secrets": [{"kind": "Secret"}],
    });
    assert_eq!(server.post(accounts, &account).0, 201);
    let applied = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a", "managedFields": []},
    });
    let path = format!("{accounts}/a?fieldManager=alice");
    let (code, refused) = server.patch(&path, "apply", &applied);
    let message = refused["message"].as_str().unwrap();
    let expected = "failed to create manager for existing fields: ";
    assert_eq!(
        (code, message.starts_with(expected)),
        (500, true),
        "{message}"
    );
}

#[test]
fn a_finalizer_that_stands_there_twice_stays() {
    let mut server = Server::new();
    let mut held = map("a");
    held["metadata"]["finalizers"] = json!(["example.com/x", "orphan", "orphan"]);
    server.post(MAPS, &held);
    let (_, told) = server.delete(&format!("{MAPS}/a"), &Value::Null);
    let finalizers = &told["metadata"]["finalizers"];
    assert_eq!(
        *finalizers,
        json!(["example.com/x", "orphan", "orphan"]),
        "{told}"
    );
}

#[test]
fn the_finalizers_of_a_namespace_are_a_set() {
    let mut server = Server::new();
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "a", "finalizers": ["example.com/x", "example.com/x"]},
    });
    server.post("/api/v1/namespaces", &namespace);
    let path = "/api/v1/namespaces/a?propagationPolicy=Orphan";
    let (_, told) = server.delete(path, &Value::Null);
    assert_eq!(
        told["metadata"]["finalizers"],
        json!(["example.com/x", "orphan"]),
        "{told}"
    );
}

#[test]
fn who_looks_at_the_prefix_of_a_name_again_depends_on_the_kind_and_the_part() {
    let mut server = Server::new();
    let template = json!({
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "nginx"}]},
    });
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": template["spec"]});
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
    });
    let patch = json!({"metadata": {"generateName": "GEN_A"}});
    for (path, object, body, status) in [
        ("/api/v1/namespaces/default/pods", pod, 422, 200),
        (
            "/apis/apps/v1/namespaces/default/replicasets",
            set,
            200,
            200,
        ),
        (MAPS, map("a"), 422, 404),
    ] {
        assert_eq!(server.post(path, &object).0, 201);
        for (part, code) in [("", body), ("/status", status)] {
            let target = format!("{path}/a{part}?dryRun=All");
            let (answered, told) = server.patch(&target, "merge-patch", &patch);
            assert_eq!(answered, code, "{target}: {told}");
        }
    }
}
