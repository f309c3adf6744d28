use super::*;

#[test]
fn a_watch_tells_the_state_and_then_every_change() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let mut watch = server.watch(&format!("{MAPS}?watch=1"));
    assert_eq!(server.told(&mut watch), ["ADDED a"]);
    server.post(MAPS, &map("b"));
    server.patch(
        &format!("{MAPS}/a"),
        "merge-patch",
        &json!({"data": {"x": "y"}}),
    );
    server.delete(&format!("{MAPS}/b"), &Value::Null);
    server.post("/api/v1/namespaces/kube-system/configmaps", &map("other"));
    assert_eq!(
        server.told(&mut watch),
        ["ADDED b", "MODIFIED a", "DELETED b"]
    );
    assert_eq!(server.told(&mut watch), [""; 0]);
}

#[test]
fn a_watch_from_a_version_tells_what_came_after_it() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let then = server.registry.revision().0;
    server.post(MAPS, &map("b"));
    let mut watch = server.watch(&format!("{MAPS}?watch=1&resourceVersion={then}"));
    assert_eq!(server.told(&mut watch), ["ADDED b"]);
}

#[test]
fn a_streamed_list_ends_with_a_bookmark() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let mut watch = server.watch(&format!(
        "{MAPS}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    ));
    assert_eq!(server.told(&mut watch), ["ADDED a", "BOOKMARK "]);
}

#[test]
fn to_a_selector_what_stops_matching_is_gone() {
    let mut server = Server::new();
    let mut watch = server.watch(&format!("{MAPS}?watch=1&labelSelector=x=y"));
    server.post(MAPS, &map("a"));
    let label = |value: Value| json!({"metadata": {"labels": {"x": value}}});
    let at = format!("{MAPS}/a");
    server.patch(&at, "merge-patch", &label("y".into()));
    server.patch(&at, "merge-patch", &json!({"data": {"n": "1"}}));
    server.patch(&at, "merge-patch", &label(Value::Null));
    server.delete(&at, &Value::Null);
    assert_eq!(
        server.told(&mut watch),
        ["ADDED a", "MODIFIED a", "DELETED a"]
    );
}

#[test]
fn nothing_is_told_before_it_is_durable() {
    let mut server = Server::new();
    let mut watch = server.watch(&format!("{MAPS}?watch=1"));
    let durable = server.registry.revision();
    server.post(MAPS, &map("a"));
    let mut out = Vec::new();
    let polled = server
        .registry
        .poll(&mut watch, durable, server.now, &mut out, 1 << 20);
    assert_eq!((polled, out.len()), (Polled::Idle, 0));
    assert_eq!(server.told(&mut watch), ["ADDED a"]);
}

#[test]
fn large_objects_shorten_the_history_so_that_memory_is_bounded() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let mut watch = server.watch(&format!("{MAPS}?watch=1"));
    assert_eq!(server.told(&mut watch), ["ADDED a"]);
    let text = "x".repeat(1_000_000);
    for n in 0..70 {
        let large = json!({"data": {"text": text, "n": n.to_string()}});
        let (code, _) = server.patch(&format!("{MAPS}/a"), "merge-patch", &large);
        assert_eq!(code, 200);
    }
    assert_eq!(server.told(&mut watch), ["ERROR "]);
}
