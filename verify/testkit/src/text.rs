//! What a controller does, as stable text that people read.
//!
//! ```text
//! stage pods (slow start)
//!   2 × create Pod default/web-*, controlled by ReplicaSet web
//!     {metadata: {labels: {app: web}}, spec: {containers: [{image: web, name: web}]}}
//!     → web-00001, web-00002
//! stage status
//!   update ReplicaSet default/web status [uid, version]
//!     {replicas: 3}
//! rests: scaled up: desired 3, active 1
//! ```
//!
//! Creates are shown by their body, patches by the patch, updates by what they change. What a
//! write insists on stands in brackets.

use std::fmt::Write as _;

use flyball_plan::{
    Action, Answer, Precondition, Propagation, Question, RecordKind, Subresource, Target, Verb,
    Write,
};
use serde_json::{Map, Value};

/// The longest line that JSON is put on whole.
const LINE_WIDTH_MAX: usize = 96;

/// JSON on one line, with as few quotes as YAML needs.
pub fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields =
                sorted(fields).map(|(name, value)| format!("{}: {}", word(name), flow(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(flow).collect::<Vec<_>>().join(", ")
            )
        }
        Value::String(text) => word(text),
        other => other.to_string(),
    }
}

/// Fields by name: whether a map keeps its order is decided elsewhere, when features are chosen.
fn sorted(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields.into_iter()
}

/// A string, quoted only where a reader or YAML would take it for something else.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./ $".contains(c);
    let odd = !text.chars().all(plain) || text.trim() != text;
    let otherwise = ["", "null", "true", "false"].contains(&text) || text.parse::<f64>().is_ok();
    if odd || otherwise {
        format!("{text:?}")
    } else {
        text.to_owned()
    }
}

/// JSON on one line if it fits, else field by field.
fn block(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    let line = flow(value);
    match value {
        Value::Object(fields) if line.len() + indent > LINE_WIDTH_MAX => {
            for (name, value) in sorted(fields) {
                let line = flow(value);
                if line.len() + indent + name.len() > LINE_WIDTH_MAX && is_nest(value) {
                    let _ = writeln!(out, "{pad}{}:", word(name));
                    block(value, indent + 2, out);
                } else {
                    let _ = writeln!(out, "{pad}{}: {line}", word(name));
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                let _ = writeln!(out, "{pad}- {}", flow(item));
            }
        }
        _ => {
            let _ = writeln!(out, "{pad}{line}");
        }
    }
}

fn is_nest(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

/// One action and what became of it, given the object as it was before.
pub(crate) struct Line {
    head: String,
    body: Value,
    answer: String,
    failed: bool,
}

impl Line {
    pub(crate) fn of(action: &Action, before: Option<&Value>, answer: &Answer) -> Self {
        let (head, body) = said(action, before);
        let failed = !matches!(answer, Answer::Done(_));
        Self {
            head,
            body,
            answer: answered(action, answer),
            failed,
        }
    }

    fn says_the_same(&self, other: &Line) -> bool {
        self.head == other.head && self.body == other.body
    }
}

/// All actions of a stage; equal ones are counted, not repeated.
pub(crate) fn lines(lines: &[Line]) -> String {
    let mut out = String::new();
    for alike in lines.chunk_by(Line::says_the_same) {
        let _ = writeln!(out, "  {}{}", times(alike), alike[0].head);
        if alike[0].body != Value::Null {
            block(&alike[0].body, 4, &mut out);
        }
        answers(alike, &mut out);
    }
    out
}

/// What became of equal actions: names of what was made side by side, equal failures counted.
fn answers(alike: &[Line], out: &mut String) {
    let same = |a: &Line, b: &Line| a.failed == b.failed && (!a.failed || a.answer == b.answer);
    for group in alike.chunk_by(same) {
        let said: Vec<_> = group.iter().map(|line| line.answer.as_str()).collect();
        if group[0].failed {
            let _ = writeln!(out, "    → {}{}", times(group), group[0].answer);
        } else if !group[0].answer.is_empty() {
            let _ = writeln!(out, "    → {}", said.join(", "));
        }
    }
}

fn times(lines: &[Line]) -> String {
    if lines.len() > 1 {
        format!("{} × ", lines.len())
    } else {
        String::new()
    }
}

fn said(action: &Action, before: Option<&Value>) -> (String, Value) {
    match action {
        Action::Write(write) => written(write, before),
        Action::Read(read) => (asked(&read.question), Value::Null),
        Action::Record(record) => {
            let kind = match record.kind {
                RecordKind::Normal => "Normal",
                RecordKind::Warning => "Warning",
            };
            let about = &record.about;
            let about = format!("{} {}/{}", about.kind, about.namespace, about.name);
            let (reason, message) = (record.reason, &record.message);
            let head = format!("record {kind} {reason} on {about}: {message}");
            (head, Value::Null)
        }
    }
}

fn asked(question: &Question) -> String {
    match question {
        Question::Get {
            target,
            subresource,
            ..
        } => format!("ask for {}{}", named(target), part(*subresource)),
        Question::Exists { target, uid } => {
            format!("ask whether {} is still {uid}", named(target))
        }
        Question::List {
            kind, namespace, ..
        } if namespace.is_empty() => format!("list every {}", kind.kind),
        Question::List {
            kind, namespace, ..
        } => format!("list {} in {namespace}", kind.kind),
        Question::Path { path, .. } => format!("get {path}"),
        Question::Discovery => "discover".to_owned(),
    }
}

fn written(write: &Write, before: Option<&Value>) -> (String, Value) {
    let (words, what) = (write.words(), part(write.subresource));
    let (target, insists) = (named(&write.target), insists(&write.precondition));
    let mut body = parse(write.body.json());
    match write.verb {
        Verb::Create if write.is_create() => {
            let owner = take_controller(&mut body);
            let named = body["metadata"]["name"].as_str().map(ToOwned::to_owned);
            let prefix = body["metadata"]["generateName"]
                .as_str()
                .unwrap_or_default();
            let name = named.unwrap_or_else(|| format!("{prefix}*"));
            strip(&mut body, &["name", "generateName", "namespace"]);
            let Target { kind, name: place } = &write.target;
            let (kind, namespace) = (kind.kind, &place.namespace);
            (format!("{words} {kind} {namespace}/{name}{owner}"), body)
        }
        Verb::Update => {
            let changed = changes(write.subresource, body, before);
            (format!("{words} {target}{what}{insists}"), changed)
        }
        Verb::Delete {
            propagation,
            grace_seconds,
        } => {
            let how = dependents(propagation);
            let grace = match grace_seconds {
                None => String::new(),
                Some(0) => ", at once".to_owned(),
                Some(seconds) => format!(", within {seconds} s"),
            };
            (
                format!("{words} {target}{insists}{how}{grace}"),
                Value::Null,
            )
        }
        Verb::DeleteCollection { propagation } => {
            let Target { kind, name } = &write.target;
            let (kind, namespace, how) = (kind.kind, &name.namespace, dependents(propagation));
            (format!("{words} {kind} in {namespace}{how}"), Value::Null)
        }
        _ => {
            strip(&mut body, &["uid", "resourceVersion", "name", "namespace"]);
            (format!("{words} {target}{what}{insists}"), body)
        }
    }
}

/// What an update changes.
fn changes(subresource: Subresource, mut body: Value, before: Option<&Value>) -> Value {
    if let (Some(before), Some(body)) = (before, body.as_object_mut()) {
        // What the server keeps, whatever is sent.
        let kept = match subresource {
            Subresource::STATUS => "spec",
            _ => "status",
        };
        for field in ["apiVersion", "kind", kept] {
            body.insert(field.to_owned(), before[field].clone());
        }
        if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
            for field in ["resourceVersion", "uid", "generation", "creationTimestamp"] {
                metadata.insert(field.to_owned(), before["metadata"][field].clone());
            }
        }
    }
    let changed = difference(before.unwrap_or(&Value::Null), &body);
    if subresource == Subresource::STATUS && changed.get("metadata").is_none() {
        let status = changed.get("status").cloned();
        return status.unwrap_or_else(|| Map::new().into());
    }
    changed
}

fn dependents(propagation: Option<Propagation>) -> &'static str {
    match propagation {
        None => "",
        Some(Propagation::Background) => ", dependents afterwards",
        Some(Propagation::Foreground) => ", dependents first",
        Some(Propagation::Orphan) => ", dependents stay",
    }
}

fn answered(action: &Action, answer: &Answer) -> String {
    match answer {
        Answer::Done(written) if action.write().is_some_and(Write::is_create) => {
            written.name.to_string()
        }
        Answer::Done(_) => String::new(),
        Answer::Read(_) => "found".to_owned(),
        Answer::Listed(listing) => match listing.count() {
            0 => "none".to_owned(),
            count => format!("{count} found"),
        },
        Answer::Discovered(found) => {
            let (kinds, failures) = (found.resources().len(), found.failures().len());
            match failures {
                0 => format!("{kinds} kinds"),
                _ => format!("{kinds} kinds, {failures} failures"),
            }
        }
        Answer::Failed(error) => format!("{:?}: {error}", error.class()),
        Answer::Skipped => "skipped".to_owned(),
    }
}

fn named(target: &Target) -> String {
    format!("{} {}", target.kind.kind, target.name)
}

fn part(subresource: Subresource) -> String {
    match subresource {
        Subresource::NONE => String::new(),
        other => format!(" {other}"),
    }
}

fn insists(precondition: &Precondition) -> &'static str {
    match (&precondition.uid, &precondition.resource_version) {
        (Some(_), Some(_)) => " [uid, version]",
        (Some(_), None) => " [uid]",
        (None, Some(_)) => " [version]",
        (None, None) => " [whatever is there]",
    }
}

fn parse(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()))
}

/// Takes out what the headline says already.
fn strip(body: &mut Value, metadata_fields: &[&str]) {
    let Some(fields) = body.as_object_mut() else {
        return;
    };
    fields.remove("apiVersion");
    fields.remove("kind");
    let Some(Value::Object(metadata)) = fields.get_mut("metadata") else {
        return;
    };
    metadata.retain(|field, _| !metadata_fields.contains(&field.as_str()));
    if metadata.is_empty() {
        fields.remove("metadata");
    }
}

/// Takes the one owner of a body out and says it in words.
fn take_controller(body: &mut Value) -> String {
    let Some(Value::Object(metadata)) = body.get_mut("metadata") else {
        return String::new();
    };
    let text = match metadata
        .get("ownerReferences")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([one]) if one["controller"] == true && one["blockOwnerDeletion"] == true => {
            let text = |field: &str| one[field].as_str().unwrap_or_default();
            format!(", controlled by {} {}", text("kind"), text("name"))
        }
        _ => return String::new(),
    };
    metadata.remove("ownerReferences");
    text
}

/// What must be merged into `old` to get `new`; null for what goes.
fn difference(old: &Value, new: &Value) -> Value {
    let (Value::Object(was), Value::Object(is)) = (old, new) else {
        return new.clone();
    };
    let mut changed = Map::new();
    for (field, value) in is {
        match was.get(field) {
            Some(before) if before == value => {}
            None if value.is_null() => {}
            Some(before @ Value::Object(_)) if value.is_object() => {
                let deeper = difference(before, value);
                if deeper.as_object().is_some_and(|deeper| !deeper.is_empty()) {
                    changed.insert(field.clone(), deeper);
                }
            }
            _ => {
                changed.insert(field.clone(), value.clone());
            }
        }
    }
    for field in was.keys().filter(|field| !is.contains_key(*field)) {
        changed.insert(field.clone(), Value::Null);
    }
    changed.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_only_what_could_be_mistaken() {
        let value = json!({"a": "web-1", "b": "1", "c": ["true", "x: y", ""], "d": null, "e": 1});
        assert_eq!(
            flow(&value),
            r#"{a: web-1, b: "1", c: ["true", "x: y", ""], d: null, e: 1}"#
        );
    }

    #[test]
    fn a_difference_is_what_changed_came_and_went() {
        let old = json!({"same": 1, "deep": {"x": 1, "y": 2}, "gone": [1]});
        let new = json!({"same": 1, "deep": {"x": 1, "y": 3}, "came": "a"});
        let changed = json!({"deep": {"y": 3}, "gone": null, "came": "a"});
        assert_eq!(difference(&old, &new), changed);
    }
}
