//! A value as upstream writes it into a message: its own Go structure, written by Go's encoder.
//!
//! What the server works with is not what the API shows: fields have their names in Go and their order there, and
//! those that are not set are told as well. A line of `shown.txt` is the fields of such a structure in their order:
//! the name, `:` and the place in the API if that is not the name with a small first letter, and what is written if
//! the field is not set: what follows `=`, nothing at all for `?`, null otherwise.

use serde_json::{Map, Value};

use super::{SHOWN, line};
use crate::{Schema, Shape};

const POD_SPEC: &str = "io.k8s.api.core.v1.PodSpec";

/// The fields of a pod that upstream keeps in its security context.
const OF_SECURITY_CONTEXT: &[&str] = &[
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostUsers",
];

/// A value of a type as upstream shows it in messages.
pub fn go_text(schema: Schema<'_>, value: &Value) -> String {
    let mut out = String::new();
    write(schema, value, &mut out);
    out
}

/// JSON as Go writes it: without spaces, and safe to put into HTML.
pub fn go_json(value: &Value) -> String {
    let text = value.to_string();
    if !text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return text;
    }
    // Outside of strings none of these occurs in JSON.
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

fn write(schema: Schema<'_>, value: &Value, out: &mut String) {
    match (schema.shape(), value) {
        (Shape::Object(_), Value::Object(members)) => {
            let name = schema.get().name.as_str();
            match line(SHOWN, name) {
                Some(fields) if name == POD_SPEC => {
                    structure(schema, fields, &with_security(members), out);
                }
                Some(fields) => structure(schema, fields, members, out),
                None => out.push_str(&go_json(value)),
            }
        }
        (Shape::Map { value: of, .. }, Value::Object(members)) => {
            let members = members.iter();
            braced(out, members, |out, (key, value)| {
                out.push_str(&go_json(&Value::from(key.as_str())));
                out.push(':');
                write(schema.at(*of), value, out);
            });
        }
        (Shape::List(list), Value::Array(items)) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(schema.at(list.item), item, out);
            }
            out.push(']');
        }
        _ => out.push_str(&go_json(value)),
    }
}

fn braced<T>(
    out: &mut String,
    members: impl Iterator<Item = T>,
    mut each: impl FnMut(&mut String, T),
) {
    out.push('{');
    for (at, member) in members.enumerate() {
        if at > 0 {
            out.push(',');
        }
        each(out, member);
    }
    out.push('}');
}

/// A field of a structure: its name in Go, its place in the API, and what is written if it is not set.
struct Told<'a> {
    name: &'a str,
    place: String,
    unset: &'a str,
}

fn told(field: &str) -> Told<'_> {
    let at = field.find(['=', '?']).unwrap_or(field.len());
    let (named, unset) = field.split_at(at);
    let (name, place) = match named.split_once(':') {
        Some((name, place)) => (name, place.to_owned()),
        None => {
            let mut letters = named.chars();
            let first = letters.next().map(|first| first.to_ascii_lowercase());
            (named, first.into_iter().chain(letters).collect())
        }
    };
    Told { name, place, unset }
}

fn structure(schema: Schema<'_>, fields: &str, members: &Map<String, Value>, out: &mut String) {
    let written = fields.split(' ').filter_map(|field| {
        let told = told(field);
        let (of, value) = found(schema, members, &told.place);
        let text = match (value, told.unset) {
            (None, "?") => return None,
            (Some(value), "?") if is_go_empty(value) => return None,
            (Some(value), _) => of.map_or_else(|| go_json(value), |of| go_text(of, value)),
            (None, "={}") => {
                let empty = Value::Object(Map::new());
                of.map_or_else(|| go_json(&empty), |of| go_text(of, &empty))
            }
            (None, unset) => unset.strip_prefix('=').unwrap_or("null").to_owned(),
        };
        Some((told.name, text))
    });
    braced(out, written, |out, (name, text)| {
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        out.push_str(&text);
    });
}

/// What lies at a place, with its type.
fn found<'s, 'v>(
    schema: Schema<'s>,
    members: &'v Map<String, Value>,
    place: &str,
) -> (Option<Schema<'s>>, Option<&'v Value>) {
    let (first, rest) = match place.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (place, None),
    };
    let of = schema.field(first);
    let value = members.get(first).filter(|value| !value.is_null());
    match (rest, of, value) {
        (None, of, value) => (of, value),
        (Some(rest), Some(of), Some(Value::Object(members))) => found(of, members, rest),
        _ => (None, None),
    }
}

/// Whether Go leaves a value out where a field says that it may.
pub fn is_go_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// A pod's spec with what upstream keeps elsewhere.
fn with_security(spec: &Map<String, Value>) -> Map<String, Value> {
    let mut spec = spec.clone();
    let held: Vec<(String, Value)> = OF_SECURITY_CONTEXT
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), spec.get(*name)?.clone())))
        .collect();
    let context = spec
        .entry("securityContext")
        .or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(context) = context {
        context.extend(held);
    }
    spec
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::builtin;

    fn shown(name: &str, value: Value) -> String {
        go_text(builtin().named(name).unwrap(), &value)
    }

    #[test]
    fn json_is_safe_to_put_into_html() {
        assert_eq!(go_json(&json!("a<b>&")), r#""a\u003cb\u003e\u0026""#);
        assert_eq!(
            go_json(&json!({"b": 1, "a": [true]})),
            r#"{"a":[true],"b":1}"#
        );
    }

    #[test]
    fn a_structure_has_names_order_and_zeros_of_go() {
        for (name, value, told) in [
            (
                "io.k8s.api.core.v1.ServicePort",
                json!({"port": 80, "protocol": "TCP"}),
                r#"{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}"#,
            ),
            (
                "io.k8s.api.policy.v1.PodDisruptionBudgetSpec",
                json!({"maxUnavailable": "30%", "selector": {"matchLabels": {"a": "<"}, "matchExpressions": []}}),
                r#"{"MinAvailable":null,"Selector":{"matchLabels":{"a":"\u003c"}},"MaxUnavailable":"30%","UnhealthyPodEvictionPolicy":null}"#,
            ),
            (
                "io.k8s.api.storage.v1.VolumeAttachmentSpec",
                json!({"attacher": "a", "nodeName": "n", "source": {}}),
                r#"{"Attacher":"a","Source":{"PersistentVolumeName":null,"InlineVolumeSpec":null},"NodeName":"n"}"#,
            ),
            (
                "io.k8s.api.apps.v1.DeploymentStrategy",
                json!({"rollingUpdate": {"maxSurge": 1}, "type": "x"}),
                r#"{"Type":"x","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}"#,
            ),
        ] {
            assert_eq!(shown(name, value), told);
        }
    }

    #[test]
    fn the_metadata_of_a_template_stand_beside_its_spec() {
        let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {
            "containers": [{"name": "c", "tty": true}], "hostNetwork": true,
        }});
        let told = shown("io.k8s.api.core.v1.PodTemplateSpec", template);
        let start = r#"{"labels":{"a":"b"},"Spec":{"Volumes":null,"InitContainers":null,"Containers":[{"Name":"c","#;
        assert!(told.starts_with(start), "{told}");
        assert!(told.contains(r#""StdinOnce":false,"TTY":true}]"#), "{told}");
        assert!(
            told.contains(r#""SecurityContext":{"HostNetwork":true,"HostPID":false,"#),
            "{told}"
        );
    }
}
