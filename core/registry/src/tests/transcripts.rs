//! Conversations with kube-apiserver v1.36.4, held again with this one.
//!
//! Each file in `transcripts/` holds requests as they were sent to a real one, with what it answered.
//! A text such as `@3.metadata.uid` in a request stands for that part of the answer to the third
//! request. Left out of the comparison is what no two servers have in common: identities, versions,
//! times, and addresses and ports that chance gave.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Server;
use crate::{Answer, Method, Reply};

macro_rules! transcripts {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                replay(include_str!(concat!("transcripts/", stringify!($name), ".json")));
            }
        )*
    };
}

transcripts! {
    certificates
    eviction
    pod_parts
    scale
    services
    versions
}

fn replay(text: &str) {
    let steps: Vec<Value> = serde_json::from_str(text).unwrap();
    let mut server = Server::new();
    let mut answers: Vec<Value> = Vec::new();
    let mut named = BTreeSet::new();
    let mut wrong = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let mut request = step.clone();
        fill(&mut request, &answers);
        words(&step["body"].to_string(), &mut named);
        words(&step["target"].to_string(), &mut named);
        // The paths are kept as they were sent; what decodes them is not here.
        let target = request["target"].as_str().unwrap().replace("%3D", "=");
        let (target, body) = (target.as_str(), &request["body"]);
        let method = match request["method"].as_str().unwrap() {
            "GET" => Method::Get,
            "POST" => Method::Post,
            "PUT" => Method::Put,
            "PATCH" => Method::Patch,
            _ => Method::Delete,
        };
        let sent = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let kind = request["type"].as_str().unwrap_or("application/json");
        let Answer {
            code,
            body,
            warnings,
            ..
        } = match server.reply(method, target, kind, &sent) {
            Reply::Answer(answer) => answer,
            Reply::List(list) => list.render(),
            other => panic!("{target}: {other:?}"),
        };
        let answer: Value = serde_json::from_slice(&body).unwrap();
        let warned = step
            .get("warnings")
            .cloned()
            .unwrap_or(Value::Array(Vec::new()));
        let theirs = [step["code"].clone(), step["answer"].clone(), warned];
        let ours = [code.into(), answer.clone(), warnings.into()];
        let lines = |all: &[Value]| {
            let mut lines = Vec::new();
            all.iter()
                .for_each(|value| leaves("", value, &named, &mut lines));
            lines
        };
        let (theirs, ours) = (lines(&theirs), lines(&ours));
        let minus = theirs.iter().filter(|line| !ours.contains(line));
        let plus = ours.iter().filter(|line| !theirs.contains(line));
        let minus = minus.map(|line| format!("  - {line}\n"));
        let differences: String = minus
            .chain(plus.map(|line| format!("  + {line}\n")))
            .collect();
        if !differences.is_empty() {
            let (method, body) = (&step["method"], &step["body"]);
            wrong.push(format!("{number}: {method} {target} {body}\n{differences}"));
        }
        answers.push(answer);
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        steps.len(),
        wrong.join("\n")
    );
}

/// Puts parts of earlier answers into a request.
fn fill(value: &mut Value, answers: &[Value]) {
    match value {
        Value::Object(map) => map.values_mut().for_each(|value| fill(value, answers)),
        Value::Array(list) => list.iter_mut().for_each(|value| fill(value, answers)),
        Value::String(text) => {
            let Some((number, path)) = text.strip_prefix('@').and_then(|rest| rest.split_once('.'))
            else {
                return;
            };
            let answer = &answers[number.parse::<usize>().unwrap()];
            *value = path
                .split('.')
                .fold(answer, |value, part| &value[part])
                .clone();
        }
        _ => {}
    }
}

/// Everything in a text that looks like a number or an address.
fn words(text: &str, into: &mut BTreeSet<String>) {
    let all = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    into.extend(all.map(|word| word.trim_matches('.').to_owned()));
}

/// An answer as lines that can be compared one by one, without what chance or time gave.
fn leaves(path: &str, value: &Value, named: &BTreeSet<String>, lines: &mut Vec<String>) {
    match value {
        // What else is known of a user depends on how it was recognized.
        _ if [".spec.extra", ".spec.groups"].contains(&path) => {}
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                leaves(&format!("{path}.{key}"), value, named, lines);
            }
        }
        Value::Array(list) if !list.is_empty() => {
            for (index, value) in list.iter().enumerate() {
                leaves(&format!("{path}[{index}]"), value, named, lines);
            }
        }
        Value::String(text) => {
            let is_own = [".uid", ".resourceVersion"]
                .iter()
                .any(|end| path.ends_with(end));
            let told = match is_own && !text.is_empty() {
                true => "…".to_owned(),
                false => without_chance(&without_maps(text), named),
            };
            lines.push(format!("{path} = {told:?}"));
        }
        Value::Number(number) => {
            let is_drawn = number
                .as_i64()
                .is_some_and(|n| (30_000..=32_767).contains(&n))
                && !named.contains(&number.to_string());
            let told = if is_drawn {
                "PORT".to_owned()
            } else {
                number.to_string()
            };
            lines.push(format!("{path} = {told}"));
        }
        _ => lines.push(format!("{path} = {value}")),
    }
}

/// The text without identities, times, and addresses that were not asked for.
fn without_chance(text: &str, named: &BTreeSet<String>) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-:./".contains(c);
    let mut out = String::new();
    for word in text.split_inclusive(|c| !is_part(c)) {
        let bare = word.trim_end_matches(|c| !is_part(c));
        let rest = &word[bare.len()..];
        let bytes = bare.as_bytes();
        let is_time =
            bytes.len() >= 20 && bytes[4] == b'-' && bytes[10] == b'T' && bare.ends_with('Z');
        let is_uid =
            bytes.len() == 36 && bytes[8] == b'-' && bytes[13] == b'-' && bytes[23] == b'-';
        let address = bare.trim_end_matches(['.', ':', ',']);
        let is_address = is_in_range(address) && !named.contains(address);
        out.push_str(match bare {
            _ if is_time => "TIME",
            _ if is_uid => "UID",
            _ if is_address => "ADDRESS",
            bare => bare,
        });
        out.push_str(rest);
    }
    out
}

/// Whether a text is an address that chance can give a service.
fn is_in_range(text: &str) -> bool {
    let address: Result<core::net::Ipv4Addr, _> = text.parse();
    address.is_ok_and(|address| {
        let [first, second, ..] = address.octets();
        first == 10 && (96..112).contains(&second)
    })
}

/// The text of a mistake without a map in it: upstream writes the fields of its own structs.
fn without_maps(text: &str) -> String {
    match (text.find("value: {\""), text.rfind('}')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}value: {{}}{}", &text[..start], &text[end + 1..])
        }
        _ => text.to_owned(),
    }
}
