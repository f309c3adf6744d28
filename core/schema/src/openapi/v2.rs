//! OpenAPI v2: one document for everything.

use serde_json::{Map, Value, json};

use super::Offered;
use super::operations::{self, Body, Operation};
use super::parameters::{PRETTY, Parameter};
use super::schemas::{self, DELETE_OPTIONS, Dialect, PATCH};
use super::v3::patch_types;
use crate::BuiltIn;

/// The document of everything that is offered.
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
                    "type": "string",
                    "uniqueItems": true,
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
        "swagger": "2.0",
        "info": { "title": "Kubernetes", "version": "unversioned" },
        "paths": paths,
        "definitions": schemas::all(Dialect::V2, offered, shared),
        "securityDefinitions": {
            "BearerToken": {
                "description": "Bearer Token authentication",
                "in": "header",
                "name": "authorization",
                "type": "apiKey",
            },
        },
        "security": [{ "BearerToken": [] }],
    })
}

fn one(operation: &Operation) -> Value {
    let answer = schemas::reference(Dialect::V2, &operation.answer);
    let codes = operation.codes.iter().map(|(code, word)| {
        let answer = json!({ "description": word, "schema": answer });
        ((*code).to_owned(), answer)
    });
    let refused = ("401".to_owned(), json!({ "description": "Unauthorized" }));
    let [group, version, kind] = &operation.about;
    let produces: &[&str] = match operation.action {
        "list" => &["application/json", "application/json;stream=watch"],
        _ => &["application/json"],
    };
    let mut parameters: Vec<Value> = operation.query.iter().map(query).collect();
    let (consumes, body) = match &operation.body {
        Body::Nothing => (vec!["*/*"], None),
        Body::Object(name) => (vec!["*/*"], Some((name.as_str(), true))),
        Body::DeleteOptions => (vec!["*/*"], Some((DELETE_OPTIONS, false))),
        Body::Patch { strategic } => (patch_types(*strategic).collect(), Some((PATCH, true))),
    };
    if let Some((name, required)) = body {
        let mut body = json!({
            "name": "body",
            "in": "body",
            "schema": schemas::reference(Dialect::V2, name),
        });
        if required {
            body["required"] = true.into();
        }
        parameters.insert(0, body);
    }
    let mut written = json!({
        "operationId": operation.id,
        "description": operation.description,
        "tags": [operation.tag],
        "schemes": ["https"],
        "consumes": consumes,
        "produces": produces,
        "responses": Map::from_iter(codes.chain([refused])),
        "x-kubernetes-action": operation.action,
        "x-kubernetes-group-version-kind": { "group": group, "version": version, "kind": kind },
    });
    if !parameters.is_empty() {
        written["parameters"] = parameters.into();
    }
    written
}

fn query((name, of, description): &Parameter) -> Value {
    json!({
        "name": name,
        "in": "query",
        "description": description,
        "type": of,
        "uniqueItems": true,
    })
}
