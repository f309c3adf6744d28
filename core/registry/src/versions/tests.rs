use serde_json::{Value, json};

use crate::tests::Server;

const CORE: &str = "/api/v1/namespaces/default/events";
const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/default/events";

fn event(name: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
        "reason": "R",
        "note": "N",
        "type": "Normal",
        "action": "A",
        "reportingController": "example.com/c",
        "reportingInstance": "i",
        "eventTime": "2026-01-02T03:04:05.123456Z",
    })
}

#[test]
fn a_watch_tells_its_own_version() {
    let mut server = Server::new();
    let mut core = server.watch(&format!("{CORE}?watch=true"));
    let mut events = server.watch(&format!("{EVENTS}?watch=true"));
    let (code, made) = server.post(EVENTS, &event("e"));
    assert_eq!(code, 201, "{made}");
    let told = server.lines(&mut core);
    assert_eq!(told[0]["object"]["apiVersion"], "v1");
    assert_eq!(told[0]["object"]["message"], "N");
    assert_eq!(told[0]["object"]["involvedObject"]["name"], "p");
    let told = server.lines(&mut events);
    assert_eq!(told[0]["object"]["apiVersion"], "events.k8s.io/v1");
    assert_eq!(told[0]["object"]["note"], "N");
    assert_eq!(told[0]["object"]["regarding"]["name"], "p");
}

#[test]
fn a_field_is_selected_by_the_name_it_has_in_its_version() {
    let mut server = Server::new();
    assert_eq!(server.post(EVENTS, &event("e")).0, 201);
    for (target, count) in [
        (format!("{EVENTS}?fieldSelector=regarding.name=p"), 1),
        (format!("{EVENTS}?fieldSelector=regarding.name=q"), 0),
        (format!("{CORE}?fieldSelector=involvedObject.name=p"), 1),
    ] {
        let (code, list) = server.get(&target);
        let items = list["items"].as_array().map(Vec::len);
        assert_eq!((code, items), (200, Some(count)), "{target}: {list}");
    }
}
