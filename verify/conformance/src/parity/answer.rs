//! What a server answered, as far as a client can notice it.

use anyhow::Result;
use flyball_protobuf::ProtobufUnreadable;
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::{Value, json};

use super::request::PROTOBUF;

/// An answer, read to its end.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) content_type: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) body: Content,
}

/// The body of an answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    /// One document.
    Document(Value),
    /// One document per line: a watch.
    Stream(Vec<Value>),
    /// Anything else.
    Text(String),
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Answer {
    /// Reads an answer to its end.
    pub(crate) async fn read(response: http::Response<Body>) -> Result<Self> {
        let (head, body) = response.into_parts();
        let bytes = body.collect().await?.to_bytes();
        let text = |name: &str| {
            let values = head.headers.get_all(name).iter();
            values
                .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
                .collect::<Vec<_>>()
        };
        let content_type = text("content-type").join(", ");
        let body = match content_type.split(';').next().unwrap_or_default() {
            "application/yaml" => of_yaml(&bytes),
            PROTOBUF if content_type.contains("stream=watch") => of_protobuf_stream(&bytes),
            PROTOBUF => of_protobuf(&bytes),
            _ => content(&bytes),
        };
        Ok(Self {
            code: head.status.as_u16(),
            content_type,
            warnings: text("warning"),
            body,
        })
    }

    /// What is known of a connection that ended before there was an answer: no status code.
    pub(crate) fn broken_off(why: &anyhow::Error) -> Self {
        Self {
            body: Content::Text(format!("{why:#}")),
            ..Self::default()
        }
    }

    /// The document, or null.
    pub(crate) fn document(&self) -> &Value {
        match &self.body {
            Content::Document(document) => document,
            _ => &Value::Null,
        }
    }

    /// Whether what was asked for was done.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The answer for people.
    pub(crate) fn shown(&self) -> String {
        let body = match &self.body {
            Content::Document(document) => document.to_string(),
            Content::Stream(lines) => {
                let lines = lines.iter().map(Value::to_string);
                lines.collect::<Vec<_>>().join("\n  ")
            }
            Content::Text(text) => text.clone(),
        };
        let warnings: String = self
            .warnings
            .iter()
            .map(|warning| format!("\n  Warning: {warning}"))
            .collect();
        format!("{} {}{warnings}\n  {body}", self.code, self.content_type)
    }
}

fn of_yaml(bytes: &[u8]) -> Content {
    let text = String::from_utf8_lossy(bytes);
    match serde_saphyr::from_str(&text) {
        Ok(document) => Content::Document(document),
        Err(_) => Content::Text(text.into_owned()),
    }
}

fn of_protobuf(bytes: &[u8]) -> Content {
    match flyball_protobuf::decode(bytes) {
        Ok(mut document) => {
            // Messages do not tell an empty list from none; JSON has it.
            let is_list = document["kind"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("List"));
            if let (true, Some(document)) = (is_list, document.as_object_mut()) {
                document.entry("items").or_insert_with(|| json!([]));
            }
            Content::Document(document)
        }
        Err(error) => unreadable(bytes, &error),
    }
}

fn of_protobuf_stream(bytes: &[u8]) -> Content {
    let mut rest = bytes;
    let mut lines = Vec::new();
    loop {
        match flyball_protobuf::decode_event(rest) {
            Ok(Some(event)) => {
                lines.push(json!({"type": event.kind, "object": event.object}));
                rest = event.rest;
            }
            Ok(None) if rest.is_empty() => break,
            Ok(None) => return Content::Text(format!("an event broke off: {rest:?}")),
            Err(error) => return unreadable(rest, &error),
        }
    }
    // As lines of JSON are read.
    match lines.len() {
        0 => Content::default(),
        1 => Content::Document(lines.remove(0)),
        _ => Content::Stream(lines),
    }
}

fn unreadable(bytes: &[u8], error: &ProtobufUnreadable) -> Content {
    Content::Text(format!("{error}: {bytes:?}"))
}

fn content(bytes: &[u8]) -> Content {
    if let Ok(document) = serde_json::from_slice(bytes) {
        return Content::Document(document);
    }
    let lines = serde_json::Deserializer::from_slice(bytes).into_iter();
    match lines.collect::<Result<Vec<Value>, _>>() {
        Ok(lines) if !lines.is_empty() => Content::Stream(lines),
        _ => Content::Text(String::from_utf8_lossy(bytes).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_documents_are_a_stream() {
        assert!(matches!(content(b"{}\n{}\n"), Content::Stream(lines) if lines.len() == 2));
        assert!(matches!(content(b"{}"), Content::Document(_)));
        assert!(matches!(content(b"404 page not found\n"), Content::Text(_)));
        assert!(matches!(content(b""), Content::Text(_)));
        assert_eq!(of_yaml(b"a: \"1\"\n"), Content::Document(json!({"a": "1"})));
    }

    #[test]
    fn protobuf_is_read_as_json_is() {
        let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "code": 404});
        let body = flyball_protobuf::encode(&status).unwrap();
        assert_eq!(of_protobuf(&body), Content::Document(status.clone()));
        assert!(matches!(of_protobuf(b"{}"), Content::Text(_)));
        let mut list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {}});
        let body = flyball_protobuf::encode(&list).unwrap();
        list["items"] = json!([]);
        assert_eq!(of_protobuf(&body), Content::Document(list));
        let event = json!({"type": "ERROR", "object": status});
        let mut stream = Vec::new();
        assert_eq!(of_protobuf_stream(&stream), Content::default());
        flyball_protobuf::encode_event(&mut stream, "ERROR", &status).unwrap();
        assert_eq!(
            of_protobuf_stream(&stream),
            Content::Document(event.clone())
        );
        assert!(matches!(of_protobuf_stream(&stream[..9]), Content::Text(_)));
        stream.extend(stream.clone());
        let both = Content::Stream(vec![event.clone(), event]);
        assert_eq!(of_protobuf_stream(&stream), both);
    }
}
