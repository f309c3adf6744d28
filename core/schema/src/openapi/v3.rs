//! OpenAPI v3: an index and one document per group and version.

use serde_json::{Map, Value, json};

use super::operations::{self, Body, Operation};
use super::parameters::{PRETTY, Parameter};
use super::schemas::{self, DELETE_OPTIONS, Dialect, PATCH};
use super::{Offered, root};
use crate::BuiltIn;

/// The index: where the document of each group and version is, with the hash of its content.
pub fn index<'a>(documents: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>) -> Value {
    let paths = documents.into_iter().map(|(group, version, hash)| {
        let root = root(group, version);
        let url = format!("/openapi/v3/{root}?hash={hash}");
        (root, json!({ "serverRelativeURL": url }))
    });
    json!({ "paths": Map::from_iter(paths) })
}

/// The document of one group and version.
pub fn document(offered: &[Offered<'_>], shared: &BuiltIn) -> Value {
    let mut paths = Map::new();
    for of in offered {
        for path in operations::paths(*of) {
            let blanks = path.blanks.iter().map(|(name, description)| {
                json!({
                    "name": name,
                    "in": "path",
                    "required": true,
                    "description": description,
                    "schema": { "type": "string", "uniqueItems": true },
                })
            });
            let parameters: Vec<Value> = blanks.chain([query(&PRETTY)]).collect();
            let mut written = Map::from_iter([("parameters".to_owned(), json!(parameters))]);
            for operation in &path.operations {
                written.insert(operation.method.to_owned(), one(operation));
            }
            paths.insert(path.path, Value::Object(written));
        }
    }
    json!({
        "openapi": "3.0.0",
        "info": { "title": "Kubernetes", "version": "unversioned" },
        "paths": paths,
        "components": {
            "schemas": schemas::all(Dialect::V3, offered, shared),
            "securitySchemes": {
                "BearerToken": {
                    "description": "Bearer Token authentication",
                    "in": "header",
                    "name": "authorization",
                    "type": "apiKey",
                },
            },
        },
    })
}

fn one(operation: &Operation) -> Value {
    let answer = content(&operation.answer);
    let mut types = vec![("application/json", answer.clone())];
    if operation.action == "list" {
        types.push(("application/json;stream=watch", answer));
    }
    let types = Map::from_iter(types.into_iter().map(|(name, of)| (name.to_owned(), of)));
    let codes = operation.codes.iter().map(|(code, word)| {
        let answer = json!({ "description": word, "content": types });
        ((*code).to_owned(), answer)
    });
    let refused = ("401".to_owned(), json!({ "description": "Unauthorized" }));
    let [group, version, kind] = &operation.about;
    let mut written = json!({
        "operationId": operation.id,
        "description": operation.description,
        "tags": [operation.tag],
        "responses": Map::from_iter(codes.chain([refused])),
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": { "group": group, "version": version, "kind": kind },
    });
    if !operation.query.is_empty() {
        written["parameters"] = operation.query.iter().map(query).collect();
    }
    match &operation.body {
        Body::Nothing => {}
        Body::Object(name) => {
            written["requestBody"] =
                json!({ "content": { "*/*": content(name) }, "required": true });
        }
        Body::DeleteOptions => {
            written["requestBody"] = json!({ "content": { "*/*": content(DELETE_OPTIONS) } });
        }
        Body::Patch { strategic } => {
            let types = patch_types(*strategic);
            let types = types.map(|name| (name.to_owned(), content(PATCH)));
            written["requestBody"] = json!({ "content": Map::from_iter(types), "required": true });
        }
    }
    written
}

/// The content types of patches.
pub(super) fn patch_types(strategic: bool) -> impl Iterator<Item = &'static str> {
    let all = [
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
    ];
    all.into_iter().take(if strategic { 4 } else { 3 })
}

fn content(name: &str) -> Value {
    json!({ "schema": schemas::reference(Dialect::V3, name) })
}

fn query((name, of, description): &Parameter) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "schema": { "type": of, "uniqueItems": true },
    })
}
