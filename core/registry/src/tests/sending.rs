//! Bodies that are no plain JSON; compared with kube-apiserver v1.36.4.

use super::Server;
use crate::{Answer, Method, Reply};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const APPLY: &str = "application/apply-patch+yaml";

fn sent(server: &mut Server, method: Method, target: &str, kind: &str, body: &[u8]) -> Answer {
    match server.reply(method, target, kind, body) {
        Reply::Answer(answer) => answer,
        other => panic!("{target}: {other:?}"),
    }
}

fn message(answer: &Answer) -> String {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    body["message"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn objects_are_made_from_yaml() {
    let mut server = Server::new();
    let yaml = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  b: \"yes\"\n";
    assert_eq!(
        sent(&mut server, Method::Post, MAPS, "application/yaml", yaml).code,
        201
    );
    assert_eq!(server.get(&format!("{MAPS}/a")).1["data"]["b"], "yes");
    let target = format!("{MAPS}/b?fieldManager=tests");
    let applied = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  c: d\n";
    assert_eq!(
        sent(&mut server, Method::Patch, &target, APPLY, applied).code,
        201
    );
    assert_eq!(server.get(&format!("{MAPS}/b")).1["data"]["c"], "d");
}

#[test]
fn keys_that_are_there_twice_are_told_or_refused() {
    let mut server = Server::new();
    let yaml =
        b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: \"1\"\n  a: \"2\"\n";
    let strict = format!("{MAPS}?fieldValidation=Strict");
    let refused = sent(&mut server, Method::Post, &strict, "application/yaml", yaml);
    assert_eq!(refused.code, 400);
    assert_eq!(
        message(&refused),
        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal \
         errors:\n  line 7: key \"a\" already set in map"
    );
    let warned = sent(&mut server, Method::Post, MAPS, "application/yaml", yaml);
    assert_eq!(warned.code, 201);
    assert_eq!(warned.warnings, ["line 7: key \"a\" already set in map"]);
    assert_eq!(server.get(&format!("{MAPS}/a")).1["data"]["a"], "2");
}

#[test]
fn what_cannot_be_read_is_refused_in_upstreams_words() {
    let mut server = Server::new();
    let deep = format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{{\"name\":\"a\"}},\"x\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    for (kind, body, why) in [
        (
            "application/json",
            &b"{"[..],
            "unexpected end of JSON input ({)",
        ),
        (
            "application/json",
            b"",
            "unexpected end of JSON input (<empty>)",
        ),
        (
            "application/json",
            b"\xff\xfe{}",
            "looking for beginning of value",
        ),
        ("application/json", deep.as_bytes(), "exceeded max depth"),
        (
            "application/yaml",
            b"a: b: c",
            "mapping values are not allowed in this context (613a20623a2063)",
        ),
        (
            "application/yaml",
            b"just text",
            "json: cannot unmarshal string into Go value of type struct",
        ),
    ] {
        let answer = sent(&mut server, Method::Post, MAPS, kind, body);
        assert_eq!(answer.code, 400);
        let told = message(&answer);
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn bytes_that_are_no_text_become_marks() {
    let mut server = Server::new();
    let body = b"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},\"data\":{\"a\":\"\xff\xfe\"}}";
    let answer = sent(&mut server, Method::Post, MAPS, "application/json", body);
    assert_eq!(answer.code, 201);
    assert_eq!(
        server.get(&format!("{MAPS}/a")).1["data"]["a"],
        "\u{fffd}\u{fffd}"
    );
}

#[test]
fn half_of_a_pair_of_utf_16_is_a_mark() {
    let mut server = Server::new();
    let body = br#"{"metadata": {"name": "a"}, "data": {"k": "x\ud800y"}}"#;
    let Reply::Answer(answer) = server.reply(Method::Post, MAPS, "application/json", body) else {
        panic!("no answer");
    };
    assert_eq!(answer.code, 201);
    let (_, seen) = server.get(&format!("{MAPS}/a"));
    assert_eq!(seen["data"]["k"], "x\u{fffd}y");
}
