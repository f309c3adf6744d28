//! What patches come to that do not fit, in upstream's words.

use serde_json::{Value, json};

use super::{MAPS, Server, map};
use crate::{Answer, Method, Reply};

const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]},
            },
        },
    })
}

fn raw(server: &mut Server, target: &str, kind: &str, body: &str) -> (Answer, Value) {
    let kind = format!("application/{kind}");
    let Reply::Answer(answer) = server.reply(Method::Patch, target, &kind, body.as_bytes()) else {
        panic!("{target}");
    };
    let document = serde_json::from_slice(&answer.body).unwrap();
    (answer, document)
}

#[test]
fn numbers_that_are_too_large_lose_their_upper_bits_where_structures_are_merged() {
    let mut server = Server::new();
    server.post(DEPLOYMENTS, &deployment());
    let path = format!("{DEPLOYMENTS}/web");
    let large = json!({"spec": {"minReadySeconds": 4_294_967_301_u64}});
    let (code, patched) = server.patch(&path, "strategic-merge-patch", &large);
    assert_eq!(
        (code, &patched["spec"]["minReadySeconds"]),
        (200, &json!(5))
    );
    let mut applied = deployment();
    applied["spec"]["revisionHistoryLimit"] = json!(4_294_967_303_u64);
    let (code, applied) = server.patch(
        &format!("{path}?fieldManager=me&force=true"),
        "apply",
        &applied,
    );
    assert_eq!(
        (code, &applied["spec"]["revisionHistoryLimit"]),
        (200, &json!(7))
    );
    // Text is read by a decoder, which is strict.
    assert_eq!(server.patch(&path, "merge-patch", &large).0, 422);
}

#[test]
fn what_is_applied_and_cannot_be_converted_is_told_with_its_name() {
    let mut server = Server::new();
    let odd = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "db"}, "binaryData": {"f": "10.0"},
    });
    let target = format!("{MAPS}/db?fieldManager=me");
    let (code, refused) = server.patch(&target, "apply", &odd);
    assert_eq!(code, 500);
    assert_eq!(
        refused["message"],
        "failed to convert new object (/db; /v1, Kind=ConfigMap) to proper version: unable to convert unstructured \
         object to /v1, Kind=ConfigMap: error decoding from json: illegal base64 data at input byte 2"
    );
}

#[test]
fn a_strategic_merge_patch_does_not_say_what_the_object_is() {
    let mut server = Server::new();
    server.post(DEPLOYMENTS, &deployment());
    let odd = json!({"kind": "Odd", "spec": {"replicas": 2}});
    for (part, kind) in [("", "Deployment"), ("/scale", "Scale")] {
        let path = format!("{DEPLOYMENTS}/web{part}");
        let (code, patched) = server.patch(&path, "strategic-merge-patch", &odd);
        assert_eq!((code, &patched["kind"]), (200, &json!(kind)), "{patched}");
        let (code, _) = server.patch(&path, "merge-patch", &odd);
        assert_eq!(code, 422);
    }
}

#[test]
fn fields_that_a_patch_names_twice_are_told_or_refused() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let path = format!("{MAPS}/a");
    let twice = r#"{"data": {"a": "1", "a": "2"}}"#;
    for kind in ["merge-patch+json", "strategic-merge-patch+json"] {
        let (answer, _) = raw(&mut server, &path, kind, twice);
        assert_eq!(answer.warnings, [r#"duplicate field "data.a""#]);
        let strict = format!("{path}?fieldValidation=Strict");
        let (answer, refused) = raw(&mut server, &strict, kind, twice);
        assert_eq!(answer.code, 422);
        let message = refused["message"].as_str().unwrap();
        let end = r#"strict decoding error: duplicate field "data.a""#;
        assert!(message.ends_with(end), "{message}");
    }
    let operation = r#"[{"op": "add", "path": "/data/b", "value": "1", "odd": 1}]"#;
    let (answer, _) = raw(&mut server, &path, "json-patch+json", operation);
    assert_eq!(answer.warnings, [r#"json patch unknown field "[0].odd""#]);
}

#[test]
fn where_fields_are_not_looked_at_patches_are_read_by_other_libraries() {
    let mut server = Server::new();
    server.post(MAPS, &map("a"));
    let path = format!("{MAPS}/a?fieldValidation=Ignore");
    for (kind, body, code, message) in [
        ("merge-patch+json", "null", 400, "Invalid JSON Patch"),
        ("merge-patch+json", "{", 400, "Invalid JSON Patch"),
        (
            "json-patch+json",
            "{}",
            400,
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
        ),
        ("json-patch+json", "[", 400, "unexpected end of JSON input"),
    ] {
        let (answer, refused) = raw(&mut server, &path, kind, body);
        assert_eq!(
            (answer.code, refused["message"].as_str()),
            (code, Some(message))
        );
    }
    let (answer, _) = raw(&mut server, &path, "merge-patch+json", "[]");
    assert_eq!(answer.code, 422);
}

#[test]
fn of_two_mistakes_that_which_upstream_declares_first_is_told() {
    let mut server = Server::new();
    let ranges = "/api/v1/namespaces/default/limitranges";
    let range = json!({
        "apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a"},
        "spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]},
    });
    assert_eq!(server.post(ranges, &range).0, 201);
    let patches = [
        (
            json!({"spec": {"limits": [{"max": {"cpu": "no!"}, "type": 7}]}}),
            "cannot convert int64 to v1.LimitType",
        ),
        (
            json!({"metadata": {"labels": "x", "resourceVersion": 7}}),
            "cannot convert int64 to string",
        ),
    ];
    for (patch, why) in patches {
        let (_, refused) = server.patch(&format!("{ranges}/a"), "strategic-merge-patch", &patch);
        let message = refused["message"].as_str().unwrap();
        assert!(message.ends_with(why), "{message}");
    }
}
