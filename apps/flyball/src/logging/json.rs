//! One JSON object per line, with upstream's keys.

use serde_json::{Value, json};

use super::fields::FieldValue;
use super::{Message, Severity, short_file};

/// Fields that name an object: their value `namespace/name` is shown in two parts, as upstream
/// does.
const OBJECT_FIELDS: &[&str] = &[
    "object",
    "owner",
    "pod",
    "node",
    "namespaceObject",
    "replicaSet",
    "replicationController",
    "deployment",
    "statefulSet",
    "daemonSet",
    "job",
    "cronJob",
    "service",
    "lease",
];

/// `{"ts":1700000000000.123,"caller":"file.rs:12","msg":"…","v":0,…}` and a line break; errors have
/// no `v`.
pub(super) fn render(message: &Message) -> String {
    let (whole, fraction) = (
        message.time_us.div_euclid(1000),
        message.time_us.rem_euclid(1000),
    );
    // Written by hand because the keys have an order that readers know, and the time more digits
    // than a float keeps.
    let mut line = format!("{{\"ts\":{whole}.{fraction:03}");
    let mut put = |name: &str, value: Value| {
        line.push_str(&format!(",{}:{value}", Value::from(name)));
    };
    if let Some(logger) = &message.logger {
        put("logger", json!(logger));
    }
    put(
        "caller",
        json!(format!("{}:{}", short_file(message.file), message.line)),
    );
    put("msg", json!(message.text));
    match message.severity {
        Severity::Error => put("severity", json!("error")),
        Severity::Warning => {
            put("severity", json!("warning"));
            put("v", json!(0));
        }
        Severity::Info => put("v", json!(message.v)),
    }
    for (name, value) in &message.fields {
        put(
            name,
            match value {
                FieldValue::Text(text) if OBJECT_FIELDS.contains(name) => object(text),
                FieldValue::Text(text) => json!(text),
                FieldValue::Signed(number) => json!(number),
                FieldValue::Unsigned(number) => json!(number),
                FieldValue::Float(number) => json!(number),
                FieldValue::Bool(truth) => json!(truth),
            },
        );
    }
    if let Some(err) = &message.err {
        put("err", json!(err));
    }
    line.push_str("}\n");
    line
}

fn object(text: &str) -> Value {
    match text.split_once('/') {
        Some((namespace, name)) => json!({ "name": name, "namespace": namespace }),
        None => json!({ "name": text }),
    }
}
