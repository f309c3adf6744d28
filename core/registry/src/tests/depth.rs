//! A law: what is kept can be read, however deep it is nested.

use bytes::Bytes;
use flyball_storage::Store;
use serde_json::{Value, json};

use super::{DEFINITIONS, MAPS, Server, map, things};
use crate::{Method, Registry, Stored};

const THINGS: &str = "/apis/example.com/v1/namespaces/default/things";

fn server() -> Server {
    let mut server = Server::new();
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({"name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}});
    assert_eq!(
        server.post(DEFINITIONS, &things(json!([version]))).0,
        201,
        "the definition"
    );
    server
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!("leaf"), |inner, _| json!({ "a": inner }))
}

fn thing(levels: usize) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": nested(levels)})
}

/// Everything that is stored, read again as a start of the server reads it.
fn reopened(server: &Server) -> Result<Registry, serde_json::Error> {
    let store = server.registry.store();
    let mut items = Vec::new();
    for item in store.iter() {
        let value = Stored::read(Bytes::from(item.value.kept().to_vec()))?;
        let mut item = item.clone();
        item.value = value;
        items.push(item);
    }
    let store = Store::restore(store.revision(), items, Registry::limits()).unwrap();
    Ok(Registry::new(store))
}

/// All forms in which an object is shown can be read by a usual reader of JSON.
fn check_readable(server: &mut Server, at: &str, collection: &str, what: &str) {
    server.registry = reopened(server).unwrap_or_else(|error| panic!("{what}: {error}"));
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    for (target, accept) in [(at, ""), (collection, ""), (at, table), (collection, table)] {
        let answer = match server.reply_to(
            Method::Get,
            &format!("{target}?includeObject=Object"),
            "",
            accept,
            &[],
        ) {
            crate::Reply::Answer(answer) => answer,
            crate::Reply::List(list) => list.render(),
            other => panic!("{other:?}"),
        };
        assert_eq!(answer.code, 200, "{what}");
        let read = serde_json::from_slice::<Value>(&answer.body);
        let read = read.unwrap_or_else(|error| panic!("{what}: {target}: {error}"));
        let is_row_whole = |row: &Value| row["object"]["metadata"]["name"] == "a";
        let mut rows = read["rows"].as_array().into_iter().flatten();
        assert!(rows.all(is_row_whole), "{what}: an empty row");
    }
    let mut watch = server.watch(&format!("{collection}?watch=1"));
    assert!(!server.lines(&mut watch).is_empty(), "{what}");
}

#[test]
fn what_is_kept_can_be_read() {
    let json_patch =
        |path: &str, value: Value| json!([{"op": "add", "path": path, "value": value}]);
    let mut refused = 0;
    for levels in [
        1, 60, 110, 112, 114, 115, 116, 118, 120, 121, 122, 123, 124, 125,
    ] {
        let owned = json!([{"manager": "m", "operation": "Update", "apiVersion": "v1",
            "fieldsType": "FieldsV1", "fieldsV1": nested_fields(levels)}]);
        let writes: [(Method, &str, &str, Value); 6] = [
            (Method::Post, "", "application/json", thing(levels)),
            (Method::Put, "/a", "application/json", thing(levels)),
            (
                Method::Patch,
                "/a",
                "application/merge-patch+json",
                json!({"spec": nested(levels)}),
            ),
            (
                Method::Patch,
                "/a",
                "application/json-patch+json",
                json_patch("/spec", nested(levels)),
            ),
            (
                Method::Patch,
                "/a?fieldManager=m&force=true",
                "application/apply-patch+yaml",
                thing(levels),
            ),
            (
                Method::Patch,
                "/a",
                "application/json-patch+json",
                json_patch("/metadata/managedFields", owned.clone()),
            ),
        ];
        for (at, (method, name, content_type, body)) in writes.into_iter().enumerate() {
            let mut server = server();
            let mut body = body;
            if method != Method::Post {
                let (_, before) = server.post(THINGS, &thing(0));
                if method == Method::Put {
                    let version = before["metadata"]["resourceVersion"].clone();
                    body["metadata"]["resourceVersion"] = version;
                }
            }
            let what = format!("write {at} of {levels} levels");
            let (code, answer) =
                server.send(method, &format!("{THINGS}{name}"), content_type, &body);
            match code {
                200 | 201 => check_readable(&mut server, &format!("{THINGS}/a"), THINGS, &what),
                400 | 422 => {
                    refused += 1;
                    let message = answer["message"].as_str().unwrap_or_default();
                    assert!(message.contains("exceeded max depth"), "{what}: {message}");
                    assert!(levels > 110, "{what}: {message}");
                }
                other => panic!("{what}: {other} {answer}"),
            }
        }
        let mut server = server();
        server.post(MAPS, &map("a"));
        let patch = json_patch("/metadata/managedFields", owned);
        let (code, answer) = server.patch(&format!("{MAPS}/a"), "json-patch", &patch);
        let what = format!("managedFields of {levels} levels");
        match code {
            200 => check_readable(&mut server, &format!("{MAPS}/a"), MAPS, &what),
            400 | 422 => refused += 1,
            other => panic!("{what}: {other} {answer}"),
        }
    }
    assert!(refused > 0, "nothing was too deep");
}

fn nested_fields(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "f:a": inner }))
}

#[test]
fn a_dry_run_refuses_what_a_write_refuses() {
    let mut server = server();
    let (code, answer) = server.post(&format!("{THINGS}?dryRun=All"), &thing(122));
    assert_eq!(
        (code, &answer["reason"]),
        (400, &json!("BadRequest")),
        "{answer}"
    );
}

/// A folder that was written before depth was measured opens; its object is shown, changed and deleted.
#[test]
fn an_object_that_is_too_deep_already_can_be_read_and_deleted() {
    let mut server = server();
    let mut deep = thing(0);
    deep["metadata"]["finalizers"] = json!(["example.com/held"]);
    server.post(THINGS, &deep);
    let store = server.registry.store();
    let mut items: Vec<_> = store.iter().cloned().collect();
    for item in &mut items {
        if item.key.ends_with("/default/a") && item.key.contains("things") {
            let text = String::from_utf8(item.value.kept().to_vec()).unwrap();
            let spec = nested(130).to_string();
            let text = text.replace(r#""spec":"leaf""#, &format!(r#""spec":{spec}"#));
            item.value = Stored::read(text.into()).unwrap();
        }
    }
    let store = Store::restore(store.revision(), items, Registry::limits()).unwrap();
    server.registry = Registry::new(store);
    let at = format!("{THINGS}/a");
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(server.patch(&at, "merge-patch", &labels).0, 200);
    assert_eq!(server.delete(&at, &Value::Null).0, 200);
    let released = json!({"metadata": {"finalizers": null}});
    let (code, answer) = server.patch(&at, "merge-patch", &released);
    assert_eq!(code, 200, "{answer}");
    assert_eq!(server.get(&at).0, 404);
}
