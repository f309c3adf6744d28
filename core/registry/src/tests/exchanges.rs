//! Requests that were sent to kube-apiserver v1.36.4, with what it answered, sent here.
//!
//! What differs from run to run is left out on both sides: identities, versions, times and ages, tokens,
//! the order of mistakes; and so are the descriptions of columns, which are ours, and the hashes of
//! storage versions, which are not told here.

use serde_json::Value;

use super::Server;
use crate::{Answer, Method, Reply};

/// Sends all exchanges of a file to a fresh server and says what is answered differently.
pub(super) fn differences(file: &str) -> Vec<String> {
    let exchanges: Vec<Value> = serde_json::from_str(file).unwrap();
    let mut server = Server::new();
    let mut wrong = Vec::new();
    for (at, exchange) in exchanges.iter().enumerate() {
        let text = |field: &str| exchange[field].as_str().unwrap_or_default();
        let (method, path) = (text("method"), unescaped(text("path")));
        let answer = send(&mut server, exchange, method, &path);
        let body = serde_json::from_slice(&answer.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&answer.body).into()));
        let (ours, theirs) = (plain(body), plain(exchange["answer"].clone()));
        let mut lines = Vec::new();
        if exchange["code"] != answer.code {
            lines.push(format!(
                "  code {} instead of {}",
                answer.code, exchange["code"]
            ));
        }
        let warnings: Vec<String> = answer
            .warnings
            .iter()
            .map(|one| {
                format!(
                    "299 - \"{}\"",
                    one.replace('\\', "\\\\").replace('"', "\\\"")
                )
            })
            .collect();
        if warnings.join(", ") != text("warning") {
            lines.push(format!(
                "  warnings {warnings:?} instead of {}",
                text("warning")
            ));
        }
        if ours != theirs {
            let (mut left, mut right) = (Vec::new(), Vec::new());
            leaves("", &theirs, &mut left);
            leaves("", &ours, &mut right);
            lines.extend(
                left.iter()
                    .filter(|one| !right.contains(one))
                    .map(|one| format!("  - {one}")),
            );
            lines.extend(
                right
                    .iter()
                    .filter(|one| !left.contains(one))
                    .map(|one| format!("  + {one}")),
            );
        }
        if !lines.is_empty() {
            let body = exchange["body"].to_string();
            let body: String = body.chars().take(300).collect();
            wrong.push(format!(
                "{at}: {method} {path} {body}\n{}",
                lines.join("\n")
            ));
        }
    }
    wrong
}

fn send(server: &mut Server, exchange: &Value, method: &str, path: &str) -> Answer {
    let mut body = exchange["body"].clone();
    if exchange["rv"] == true {
        let target = path.split('?').next().unwrap();
        let (_, present) = server.get(target);
        body["metadata"]["resourceVersion"] = present["metadata"]["resourceVersion"].clone();
    }
    let body = match body {
        Value::Null => Vec::new(),
        Value::String(raw) => raw.into_bytes(),
        body => body.to_string().into_bytes(),
    };
    let method = match method {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        "PATCH" => Method::Patch,
        _ => Method::Delete,
    };
    let content_type = exchange["type"].as_str().unwrap_or("application/json");
    let accept = exchange["accept"].as_str().unwrap_or_default();
    match server.reply_to(method, path, content_type, accept, &body) {
        Reply::Answer(answer) => answer,
        Reply::List(list) => list.render(),
        // What upstream answers to paths that lead nowhere is written where there is HTTP.
        Reply::Page => Answer::new(404, "404 page not found\n"),
        Reply::Watch(_) => panic!("{path} is a watch"),
    }
}

fn unescaped(path: &str) -> String {
    path.replace("%3D", "=")
        .replace("%2C", ",")
        .replace("%20", " ")
}

/// A value without what differs from run to run.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => {
            for name in [
                "uid",
                "resourceVersion",
                "continue",
                "description",
                "storageVersionHash",
            ] {
                fields.remove(name);
            }
            for name in [
                "creationTimestamp",
                "deletionTimestamp",
                "lastTransitionTime",
                "time",
            ] {
                if fields.get(name).is_some_and(Value::is_string) {
                    fields.insert(name.to_owned(), "TIME".into());
                }
            }
            if let Some(Value::Array(cells)) = fields.get_mut("cells") {
                for cell in cells {
                    let age = |text: &str| {
                        let is_time = text.len() == 20 && text.ends_with('Z');
                        is_time || text.len() < 5 && text.ends_with('s')
                    };
                    if cell.as_str().is_some_and(age) {
                        *cell = "AGE".into();
                    }
                }
            }
            for name in ["causes", "conditions", "managedFields"] {
                if let Some(Value::Array(items)) = fields.get_mut(name) {
                    *items = items.drain(..).map(plain).collect();
                    items.sort_by_key(Value::to_string);
                    // Upstream looks at metadata up to three times, and tells each time what it finds.
                    items.dedup();
                }
            }
            let several = fields
                .get("details")
                .and_then(|details| details["causes"].as_array())
                .is_some_and(|causes| causes.len() > 1);
            if let Some(Value::String(message)) = fields.get_mut("message")
                && let Some(at) = message.find("Invalid value: \"{\\\"apiVersion")
            {
                // What was patched is told whole, with its versions and times.
                let end = message.rfind("}\": ").unwrap_or(at);
                message.replace_range(at..end, "PATCHED");
            }
            if several && let Some(Value::String(message)) = fields.get_mut("message") {
                // The causes say the same, in an order that can be compared.
                let end = message.find(" is invalid: [").unwrap_or(message.len());
                message.truncate(end);
            }
            fields
                .into_iter()
                .map(|(name, value)| (name, plain(value)))
                .collect()
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::String(text) => Value::String(without_identities(&text)),
        other => other,
    }
}

/// A text in which identities and generated names are all the same.
fn without_identities(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_uid = rest.get(..36).is_some_and(|part| {
            part.bytes().enumerate().all(|(at, byte)| match at {
                8 | 13 | 18 | 23 => byte == b'-',
                _ => byte.is_ascii_hexdigit(),
            })
        });
        let (told, length) = match rest.strip_prefix("gen-") {
            _ if is_uid => ("UID", 36),
            Some(suffix) if suffix.len() >= 5 => ("gen-NAME", 9),
            _ => ("", first.len_utf8()),
        };
        match told {
            "" => out.push(first),
            told => out.push_str(told),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// The leaves of a value, each with its path.
fn leaves(path: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                leaves(&format!("{path}.{name}"), value, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                leaves(&format!("{path}[{at}]"), item, out);
            }
        }
        leaf => out.push(format!("{path} = {leaf}")),
    }
}
