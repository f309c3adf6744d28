//! Deletions that end in several steps.

use flyball_storage::Store;
use serde_json::{Value, json};

use super::Server;
use crate::{Chance, Registry, Stored};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const PODS: &str = "/api/v1/namespaces/default/pods";

/// The text in which an object of the default namespace is kept.
fn kept(server: &Server, resource: &str, name: &str) -> String {
    let key = format!("/registry/{resource}/default/{name}");
    let found = server.registry.store().get(&key).unwrap();
    String::from_utf8(found.value.kept().to_vec()).unwrap()
}

#[test]
fn a_service_that_is_held_keeps_what_is_not_told_of_it() {
    let external = |name: &str| {
        json!({"metadata": {"name": name, "finalizers": ["example.com/held"]},
            "spec": {"type": "ExternalName", "externalName": "a.b", "internalTrafficPolicy": "Local"}})
    };
    let mut server = Server::new();
    for name in ["alone", "listed"] {
        assert_eq!(server.post(SERVICES, &external(name)).0, 201);
        assert!(kept(&server, "services", name).starts_with("Local"));
    }
    assert_eq!(
        server.delete(&format!("{SERVICES}/alone"), &Value::Null).0,
        200
    );
    let selected = format!("{SERVICES}?fieldSelector=metadata.name=listed");
    let (code, deleted) = server.delete(&selected, &Value::Null);
    assert_eq!(code, 200);
    assert_eq!(
        deleted["items"][0]["spec"]["internalTrafficPolicy"],
        Value::Null
    );
    for name in ["alone", "listed"] {
        let text = kept(&server, "services", name);
        assert!(text.contains("deletionTimestamp"), "{text}");
        assert!(text.starts_with("Local"), "{text}");
    }
}

#[test]
fn a_deletion_that_a_crash_interrupted_is_finished_at_the_next_start() {
    let mut server = Server::new();
    let pod = |name: &str| {
        json!({"metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]}})
    };
    for name in ["marked", "held", "waiting", "running"] {
        assert_eq!(server.post(PODS, &pod(name)).0, 201);
    }
    let store = server.registry.store();
    let mut items: Vec<_> = store.iter().cloned().collect();
    for item in &mut items {
        let end = r#""deletionTimestamp":"2026-01-02T03:04:05Z","deletionGracePeriodSeconds""#;
        let marks = match item.key.rsplit('/').next().unwrap() {
            "marked" => format!("{end}:0"),
            "held" => format!(r#"{end}:0,"finalizers":["example.com/held"]"#),
            "waiting" => format!("{end}:30"),
            _ => continue,
        };
        let text = String::from_utf8(item.value.kept().to_vec()).unwrap();
        let text = text.replacen(r#""labels":"#, &format!(r#"{marks},"labels":"#), 1);
        item.value = Stored::read(text.into()).unwrap();
    }
    let store = Store::restore(store.revision(), items, Registry::limits()).unwrap();
    server.registry = Registry::new(store);
    let mut draw = || 7;
    server
        .registry
        .bootstrap(server.now, &mut Chance(&mut draw));
    let codes = ["marked", "held", "waiting", "running"]
        .map(|name| server.get(&format!("{PODS}/{name}")).0);
    assert_eq!(codes, [404, 200, 200, 200]);
}
