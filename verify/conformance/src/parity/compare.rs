//! Whether two answers say the same, and where they do not.

mod causes;
mod text;

use serde_json::Value;

use self::causes::{in_order, once};
use self::text::{is_generated, is_uid, same_text};
use super::answer::{Answer, Content};
use super::links::Links;

/// One place where two answers differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// `code`, `header.Warning`, `body.spec.replicas`.
    pub(crate) place: String,
    /// What upstream says.
    pub(crate) theirs: String,
    /// What ours says.
    pub(crate) ours: String,
}

/// Where two answers differ; pairs of identities in them are learnt.
pub(crate) fn compare(links: &mut Links, theirs: &Answer, ours: &Answer) -> Vec<Difference> {
    let mut walk = Walk {
        links,
        in_collection: false,
        uid: String::new(),
        differences: Vec::new(),
    };
    if theirs.code != ours.code {
        walk.differ("code", &theirs.code, &ours.code);
    }
    if theirs.content_type != ours.content_type {
        walk.differ(
            "header.Content-Type",
            &theirs.content_type,
            &ours.content_type,
        );
    }
    let warnings = |answer: &Answer| Value::from(answer.warnings.clone());
    walk.value("header.Warning", &warnings(theirs), &warnings(ours));
    match (&theirs.body, &ours.body) {
        (Content::Document(theirs), Content::Document(ours)) if theirs["type"].is_null() => {
            walk.value("body", &in_order(theirs), &in_order(ours));
        }
        (Content::Text(theirs), Content::Text(ours)) => {
            walk.value(
                "body",
                &Value::from(theirs.as_str()),
                &Value::from(ours.as_str()),
            );
        }
        (theirs, ours) => {
            let stream = |content: &Content| Value::Array(told(lines(content)));
            walk.value("body", &stream(theirs), &stream(ours));
        }
    }
    walk.differences
}

/// The entries of managedFields by who they are of: their own order is that of seconds, which end at different times.
fn by_owner(entries: &[Value]) -> Vec<Value> {
    let mut entries = entries.to_vec();
    entries.sort_by_key(|entry| {
        ["operation", "manager", "apiVersion", "subresource"].map(|field| entry[field].to_string())
    });
    entries
}

/// A body as a list of lines, so that a stream of one line compares with one of many.
fn lines(content: &Content) -> Vec<Value> {
    match content {
        Content::Document(document) => vec![document.clone()],
        Content::Stream(lines) => lines.clone(),
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![Value::from(text.as_str())],
    }
}

/// What a stream tells, without the bookmarks that are a matter of time.
fn told(mut lines: Vec<Value>) -> Vec<Value> {
    let ends_initial = |line: &Value| line.to_string().contains("k8s.io/initial-events-end");
    lines.retain(|line| line["type"] != "BOOKMARK" || ends_initial(line));
    lines
}

struct Walk<'a> {
    links: &'a mut Links,
    /// Whether the next version is that of a list or a bookmark, not of an object.
    in_collection: bool,
    /// The identity of the object that is being compared, on our server.
    uid: String,
    differences: Vec<Difference>,
}

impl Walk<'_> {
    fn differ(&mut self, place: &str, theirs: &dyn ToString, ours: &dyn ToString) {
        self.differences.push(Difference {
            place: place.to_owned(),
            theirs: theirs.to_string(),
            ours: ours.to_string(),
        });
    }

    fn value(&mut self, place: &str, theirs: &Value, ours: &Value) {
        match (theirs, ours) {
            (Value::Object(left), Value::Object(right)) => {
                let in_collection = is_collection(place, theirs, self.in_collection);
                if place.ends_with(".metadata") {
                    let uid = right.get("uid").and_then(Value::as_str);
                    self.uid = uid.unwrap_or_default().to_owned();
                }
                let is_bookmark = theirs["type"] == "BOOKMARK" && ours["type"] == "BOOKMARK";
                for (key, value) in left {
                    self.in_collection = in_collection;
                    let name = if is_bookmark { "bookmark" } else { key };
                    let place = format!("{place}.{name}");
                    match right.get(key) {
                        Some(other) => self.value(&place, value, other),
                        None => self.differ(&place, value, &"(absent)"),
                    }
                }
                for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                    self.differ(&format!("{place}.{key}"), &"(absent)", value);
                }
            }
            (Value::Array(left), Value::Array(right)) if place.ends_with("details.causes") => {
                // Upstream validates metadata several times and tells each mistake as often.
                self.list(place, &once(left), &once(right));
            }
            (Value::Array(left), Value::Array(right)) if place.ends_with("managedFields") => {
                self.list(place, &by_owner(left), &by_owner(right));
            }
            (Value::Array(left), Value::Array(right)) => self.list(place, left, right),
            (Value::String(left), Value::String(right)) => {
                let (message, diff) = without_diff(left);
                if !diff.is_empty() && self.is_same(place, &message, &right.replace('\n', "")) {
                    self.differ(&format!("{place}.diff"), &diff, &"(absent)");
                } else if !self.is_same(place, left, right) {
                    self.differ(place, theirs, ours);
                }
            }
            (Value::Number(left), Value::Number(right)) if place.ends_with("odePort") => {
                if !self
                    .links
                    .link_given_out(&left.to_string(), &right.to_string())
                {
                    self.differ(place, theirs, ours);
                }
            }
            _ if theirs == ours => {}
            _ => self.differ(place, theirs, ours),
        }
    }

    fn list(&mut self, place: &str, theirs: &[Value], ours: &[Value]) {
        for (at, (left, right)) in theirs.iter().zip(ours).enumerate() {
            self.value(&format!("{place}[{at}]"), left, right);
        }
        for (at, value) in theirs.iter().enumerate().skip(ours.len()) {
            self.differ(&format!("{place}[{at}]"), value, &"(absent)");
        }
        for (at, value) in ours.iter().enumerate().skip(theirs.len()) {
            self.differ(&format!("{place}[{at}]"), &"(absent)", value);
        }
    }

    fn is_same(&mut self, place: &str, theirs: &str, ours: &str) -> bool {
        let key = place.rsplit('.').next().unwrap_or_default();
        let field = key.split('[').next().unwrap_or_default();
        self.links.link_moment(field, theirs, ours);
        match field {
            "uid" if is_uid(theirs) && is_uid(ours) => self.links.link_word(theirs, ours),
            "resourceVersion" if is_number(theirs) && is_number(ours) => {
                if self.in_collection {
                    self.links.link_state(theirs, ours);
                    return true;
                }
                self.links.link_version(&self.uid, theirs, ours)
            }
            "cells" => self.is_same_cell(theirs, ours),
            "token" if is_token(theirs) && is_token(ours) => true,
            "continue" if !theirs.is_empty() && !ours.is_empty() => {
                self.links.link_token(theirs, ours);
                true
            }
            "clusterIP" | "clusterIPs" if is_given_out(theirs) && is_given_out(ours) => {
                self.links.link_given_out(theirs, ours)
            }
            _ if is_generated(theirs, ours) => self.links.link_word(theirs, ours),
            _ if is_uid(theirs) && is_uid(ours) && theirs != ours => {
                self.links.link_word(theirs, ours)
            }
            _ if is_credential(theirs) && is_credential(ours) => self.links.link_word(theirs, ours),
            _ => same_text(self.links, theirs, ours),
        }
    }

    /// A cell may be where what was given out is told first.
    fn is_same_cell(&mut self, theirs: &str, ours: &str) -> bool {
        let parts = |text: &str| -> Vec<String> {
            let parts = text.split([':', '/', ',']);
            parts.map(str::to_owned).collect()
        };
        let (left, right) = (parts(theirs), parts(ours));
        if left.len() == right.len() {
            for (theirs, ours) in left.iter().zip(&right) {
                let both = |is: fn(&str) -> bool| is(theirs) && is(ours);
                if both(is_given_out) || both(is_node_port) {
                    self.links.link_given_out(theirs, ours);
                }
            }
        }
        is_generated(theirs, ours) && self.links.link_word(theirs, ours)
            || same_text(self.links, theirs, ours)
    }
}

/// Whether a text is a number of the range that both servers give ports out of.
fn is_node_port(text: &str) -> bool {
    text.parse()
        .is_ok_and(|port: u16| (30_000..=32_767).contains(&port))
}

/// Whether a text names the certificate that whoever asks has shown.
fn is_credential(text: &str) -> bool {
    text.starts_with("X509SHA256=")
}

/// A message without the difference of two Go structures that upstream appends to it, and that difference.
fn without_diff(message: &str) -> (String, String) {
    if !message.contains("\n@@ ") {
        return (message.to_owned(), String::new());
    }
    let is_diff = |line: &&str| line.starts_with(['@', ' ', '+', '-']);
    let (diff, rest): (Vec<&str>, Vec<&str>) = message.split('\n').partition(is_diff);
    (rest.concat(), diff.join("\n"))
}

/// Whether versions directly below an object are those of a list or a bookmark.
fn is_collection(place: &str, value: &Value, above: bool) -> bool {
    let is_list = value.get("items").is_some() || value.get("rows").is_some();
    let is_bookmark = value["type"] == "BOOKMARK";
    let is_part = place.ends_with(".metadata");
    // Everything in a bookmark is of the collection.
    let in_bookmark = above && place.contains(".bookmark");
    is_list || is_bookmark || in_bookmark || (above && is_part)
}

/// Whether a text is a token that a server has signed.
fn is_token(text: &str) -> bool {
    text.starts_with("eyJ") && text.matches('.').count() == 2
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether an address is of the range that both servers give out of.
fn is_given_out(address: &str) -> bool {
    let mut parts = address.split('.').map(str::parse::<u8>);
    let first = (parts.next(), parts.next());
    matches!(first, (Some(Ok(10)), Some(Ok(96..=111))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_told_apart_from_the_message_around_it() {
        for (message, without, diff) in [
            ("spec: Forbidden: no", "spec: Forbidden: no", ""),
            (
                "[a: Forbidden: no\n@@ -1 +1 @@\n-  x\n+  y\n, b: Required value]",
                "[a: Forbidden: no, b: Required value]",
                "@@ -1 +1 @@\n-  x\n+  y",
            ),
        ] {
            let want = (without.to_owned(), diff.to_owned());
            assert_eq!(without_diff(message), want);
        }
    }
}
