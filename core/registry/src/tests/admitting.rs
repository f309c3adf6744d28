//! What kube-apiserver v1.36.4 answered to the same requests, where its admission plugins decide.
//!
//! Each file in `admission/` holds sequences of requests to a fresh cluster as they were sent to a real
//! server, with the code that it answered, its warnings, the Status of a refusal, and what some fields
//! were afterwards. Its ServiceAccount plugin was off, so pods name no service account.

use std::time::Duration;

use serde_json::Value;

use super::Server;
use crate::{Method, Reply};
use flyball_rbac::{AUTHENTICATED, User};

const FILES: &[(&str, &str)] = &[
    ("classes", include_str!("admission/classes.json")),
    ("grants", include_str!("admission/grants.json")),
    ("limits", include_str!("admission/limits.json")),
    ("namespaces", include_str!("admission/namespaces.json")),
    ("priorities", include_str!("admission/priorities.json")),
    ("quotas", include_str!("admission/quotas.json")),
    ("security", include_str!("admission/security.json")),
    ("volumes", include_str!("admission/volumes.json")),
];

#[test]
fn admission_decides_as_upstream_does() {
    let mut wrong = Vec::new();
    for (file, text) in FILES {
        let mut server = Server::new();
        let cases: Vec<Value> = serde_json::from_str(text).expect(file);
        for case in cases {
            for (index, step) in case["steps"].as_array().into_iter().flatten().enumerate() {
                let title = format!("{file}, {}, step {index}", case["title"]);
                wrong.extend(differences(&mut server, step).map(|how| format!("{title}: {how}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How the answer to a step differs from upstream's.
fn differences(server: &mut Server, step: &Value) -> Option<String> {
    let method = match step["method"].as_str().unwrap() {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        _ => Method::Delete,
    };
    let body = match &step["body"] {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    server.now = server.now.saturating_add(Duration::from_secs(1));
    let admin = server.user.clone();
    if let Some(name) = step["as"]["name"].as_str() {
        let groups = step["as"]["groups"].as_array().into_iter().flatten();
        let groups = groups.filter_map(Value::as_str);
        let groups: Vec<&str> = groups.chain([AUTHENTICATED]).collect();
        server.user = User::of_groups(name, &groups);
    }
    let content_type = step["type"].as_str().unwrap_or("application/json");
    let path = step["path"].as_str().unwrap();
    let reply = server.reply(method, path, content_type, &body);
    server.user = admin;
    let Reply::Answer(answer) = reply else {
        panic!("{path} is a watch");
    };
    let ours: Value = serde_json::from_slice(&answer.body).unwrap();
    let warnings = step["warnings"].as_array().into_iter().flatten();
    let warnings: Vec<&str> = warnings.filter_map(Value::as_str).collect();
    let mut pairs = vec![
        (Value::from(answer.code), step["code"].clone()),
        (answer.warnings.into(), warnings.into()),
    ];
    if !step["status"].is_null() {
        pairs.push((ours.clone(), step["status"].clone()));
    }
    for (path, theirs) in step["shows"].as_object().into_iter().flatten() {
        let value = path
            .split('.')
            .fold(&ours, |value, part| match part.parse::<usize>() {
                Ok(index) => &value[index],
                Err(_) => &value[part],
            });
        pairs.push((value.clone(), theirs.clone()));
    }
    let wrong = pairs.iter().find(|(ours, theirs)| ours != theirs);
    wrong.map(|(one, theirs)| {
        let message = &ours["message"];
        format!("{path}\n  - {theirs}\n  + {one}\n    {message}")
    })
}
