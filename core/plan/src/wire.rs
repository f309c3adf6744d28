//! Actions as an API server understands them: requests out, answers in.
//!
//! The executor of the shell and the simulator send exactly this.

use flyball_api::request::Request;
use flyball_api::{ApiError, Opaque, Text, Uid};
use serde::Deserialize;

use crate::listing::listing;
use crate::verb::Answers;
use crate::{Action, Answer, Precondition, Question, Read, Target, Verb, Want, Write, Written};

/// The request that an action stands for; `None` for a record, which is told to the recorder, and
/// for a discovery, which may take several.
pub fn request_of(action: &Action) -> Option<Request> {
    match action {
        Action::Write(write) => Some(write_request(write)),
        Action::Read(read) => read_request(&read.question),
        Action::Record(_) => None,
    }
}

fn write_request(write: &Write) -> Request {
    let facts = write.facts();
    let Target { kind, name } = &write.target;
    let mut path = match write.is_create() || write.is_of_collection() {
        true => kind.collection_path(&name.namespace),
        false => kind.object_path(&name.namespace, &name.name),
    };
    path.push_str(&write.subresource.path());
    if let Verb::Apply { manager, force } = write.verb {
        path.push_str(&format!("?fieldManager={}&force={force}", escaped(manager)));
    }
    let body = match write.delete_options() {
        Some(options) => options.to_string(),
        None => write.body.json().to_owned(),
    };
    let request = Request::with(facts.method, path, body);
    // The answer to a delete or a binding may be no object at all.
    match (facts.answers, write.want) {
        (Answers::Object, Want::Metadata) => request.metadata_only(),
        (Answers::List, _) => request.metadata_list(),
        _ => request,
    }
}

fn read_request(question: &Question) -> Option<Request> {
    let object_path = |target: &Target| {
        let Target { kind, name } = target;
        kind.object_path(&name.namespace, &name.name)
    };
    Some(match question {
        Question::Get {
            target,
            subresource,
            want,
        } => {
            let request = Request::get(object_path(target) + &subresource.path());
            match want {
                Want::Whole => request,
                Want::Metadata => request.metadata_only(),
            }
        }
        Question::Exists { target, .. } => Request::get(object_path(target)).metadata_only(),
        Question::List {
            kind,
            namespace,
            items_max,
            want,
        } => {
            let path = kind.collection_path(namespace);
            let request = Request::get(format!("{path}?limit={items_max}"));
            match want {
                Want::Whole => request,
                Want::Metadata => request.metadata_list(),
            }
        }
        Question::Path { path, query } => {
            let query = query.iter();
            let query: Vec<_> = query
                .map(|(name, value)| format!("{name}={}", escaped(value)))
                .collect();
            match query.is_empty() {
                true => Request::get(path.clone()),
                false => Request::get(format!("{path}?{}", query.join("&"))),
            }
        }
        Question::Discovery => return None,
    })
}

/// A value of a query, with everything escaped but what never needs it.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    escaped
}

/// What the body of a successful answer says.
///
/// A write whose answer cannot be read took effect all the same; only its version is unknown, so
/// that nothing is waited for.
pub fn answer_of(action: &Action, body: &[u8]) -> Answer {
    match action {
        Action::Write(write) => Answer::Done(written(write, body)),
        Action::Read(Read { question, .. }) => match question {
            Question::List { want, .. } => match listing(body, *want) {
                Ok(listing) => Answer::Listed(listing.into()),
                Err(error) => unreadable(question, &error.to_string()),
            },
            _ => match whole(body) {
                Ok(object) => Answer::Read(object),
                Err(reason) => unreadable(question, &reason),
            },
        },
        Action::Record(_) => Answer::Done(Written::default()),
    }
}

fn whole(body: &[u8]) -> Result<Opaque, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    Opaque::new(text).map_err(|error| error.to_string())
}

fn written(write: &Write, body: &[u8]) -> Written {
    match write.facts().answers {
        // A Status, or whatever was deleted.
        Answers::List => Written::default(),
        // The answer may be the object or a mere Status; what it is about is known either way.
        Answers::Either => {
            let Precondition { uid, .. } = &write.precondition;
            Written {
                name: write.target.name.name.clone(),
                uid: uid.clone().unwrap_or_default(),
                object: wanted(write, body),
                ..Written::default()
            }
        }
        Answers::Object => {
            let head = serde_json::from_slice::<Head>(body);
            let head = head.map(|Head { metadata }| metadata);
            let written = head.map_or_else(|_| Written::default(), Written::from);
            Written {
                object: wanted(write, body),
                ..written
            }
        }
    }
}

fn wanted(write: &Write, body: &[u8]) -> Option<Opaque> {
    match write.want {
        Want::Whole => whole(body).ok(),
        Want::Metadata => None,
    }
}

fn unreadable(question: &Question, reason: &str) -> Answer {
    let what = match question {
        Question::Get { target, .. } | Question::Exists { target, .. } => target.kind.to_string(),
        Question::List { kind, .. } => kind.to_string(),
        Question::Path { path, .. } => path.clone(),
        Question::Discovery => "resources".to_owned(),
    };
    Answer::Failed(ApiError::transport(format!(
        "cannot read {what} from the server: {reason}"
    )))
}

/// The part of an answer that matters.
#[derive(Deserialize)]
struct Head {
    metadata: HeadMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeadMeta {
    /// Reviews have none.
    #[serde(default)]
    name: Text,
    #[serde(default)]
    uid: Uid,
    #[serde(default)]
    resource_version: Text,
}

impl From<HeadMeta> for Written {
    fn from(meta: HeadMeta) -> Self {
        Self {
            name: meta.name,
            uid: meta.uid,
            resource_version: meta.resource_version,
            object: None,
        }
    }
}

#[cfg(test)]
mod tests;
