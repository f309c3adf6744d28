//! Answers to large requests are not larger than a client can take.

use serde_json::{Value, json};

use super::{DEFINITIONS, MAPS, Server, things};
use crate::{Answer, Method, Reply};

const PODS: &str = "/api/v1/namespaces/default/pods";
const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";

fn answer(server: &mut Server, target: &str, body: &Value) -> Answer {
    let body = body.to_string();
    match server.reply(Method::Post, target, "application/json", body.as_bytes()) {
        Reply::Answer(answer) => answer,
        other => panic!("{target}: {other:?}"),
    }
}

fn characters(warnings: &[String]) -> usize {
    warnings.iter().map(|warning| warning.chars().count()).sum()
}

#[test]
fn warnings_about_many_ports_are_cut() {
    let mut server = Server::new();
    let ports: Vec<Value> = (0..1_000).map(|_| json!({"containerPort": 80})).collect();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": [
        {"name": "c", "image": "i", "ports": ports}]}});
    let answer = answer(&mut server, PODS, &pod);
    assert_eq!(answer.code, 201);
    let first =
        "spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]";
    assert_eq!(answer.warnings[0], first);
    let total = characters(&answer.warnings);
    assert!((4_096..4_096 + 256).contains(&total), "{total}");
}

#[test]
fn a_warning_about_a_field_with_a_long_name_is_cut() {
    let mut server = Server::new();
    let name = "x".repeat(1 << 20);
    let map = json!({"metadata": {"name": "a"}, name: 1});
    let answer = answer(&mut server, MAPS, &map);
    assert_eq!(answer.code, 201);
    assert_eq!(answer.warnings.len(), 1);
    assert_eq!(characters(&answer.warnings), 256);
}

#[test]
fn an_answer_to_many_controllers_does_not_show_all_owners_with_each() {
    let mut server = Server::new();
    let owner = |at: usize| {
        json!({"apiVersion": "v1", "kind": "Pod", "name": format!("a{at}"), "uid": at.to_string(),
            "controller": true})
    };
    let owners: Vec<Value> = (0..3_000).map(owner).collect();
    let map = json!({"metadata": {"name": "a", "ownerReferences": owners}});
    let many = answer(&mut server, MAPS, &map);
    assert_eq!(many.code, 422);
    assert!(many.body.len() < 2 << 20, "{} bytes", many.body.len());
    // A few keep upstream's text.
    let owners: Vec<Value> = (0..5).map(owner).collect();
    let map = json!({"metadata": {"name": "a", "ownerReferences": owners}});
    let few = answer(&mut server, MAPS, &map);
    let told: Value = serde_json::from_slice(&few.body).unwrap();
    assert_eq!(told["details"]["causes"].as_array().unwrap().len(), 4);
}

#[test]
fn an_answer_to_many_empty_containers_lists_some_of_their_mistakes() {
    let mut server = Server::new();
    let pod = json!({"metadata": {"name": "a"}, "spec": {"containers": vec![json!({}); 30_000]}});
    let answer = answer(&mut server, PODS, &pod);
    assert_eq!(answer.code, 422);
    assert!(answer.body.len() < 1 << 20, "{} bytes", answer.body.len());
    let told: Value = serde_json::from_slice(&answer.body).unwrap();
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("spec.containers[0].name: Required value"));
    assert!(
        message.ends_with(" more errors]"),
        "{}",
        &message[message.len() - 80..]
    );
}

/// A long name above many fields: each error, conflict or path would repeat it.
#[test]
fn names_too_long_for_the_fields_below_them_are_refused() {
    let mut server = Server::new();
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object",
        "additionalProperties": {"type": "array", "items": {"type": "integer"}}}}});
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}});
    server.post(DEFINITIONS, &things(json!([version])));
    let thing = |key: &str, items: Value| {
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"},
            "spec": {key: items}})
    };
    let (long, wrong) = ("k".repeat(1 << 20), Value::from(vec!["x"; 100_000]));
    let (code, refused) = server.post(THINGS, &thing(&long, wrong.clone()));
    assert_eq!(code, 413, "{refused}");
    let target = format!("{THINGS}/a?fieldManager=m");
    let (code, _) = server.patch(&target, "apply", &thing(&long, wrong));
    assert_eq!(code, 413);
    let right = Value::from(vec![1; 100_000]);
    assert_eq!(server.post(THINGS, &thing("short", right)).0, 201);
    let moved = json!([{"op": "move", "from": "/spec/short", "path": format!("/spec/{long}")}]);
    let (code, _) = server.patch(&format!("{THINGS}/a"), "json-patch", &moved);
    assert_eq!(code, 413);
}
