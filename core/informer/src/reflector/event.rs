//! Reading one line of a watch.

use std::collections::BTreeMap;

use flyball_api::{ApiError, Object, Status, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::type_check::TypeCheck;

/// The annotation of the bookmark that ends the initial events of a streamed list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What a line of a watch says.
#[derive(Debug, PartialEq)]
pub(super) enum Event<T> {
    /// An object came (`added`) or changed.
    Put { object: T, added: bool },
    /// An object went; this is its final state.
    Deleted(T),
    /// The watch has come to this version; `ends_initial` if a streamed list is complete.
    Bookmark { version: Text, ends_initial: bool },
    /// The server gives the watch up.
    Failure(ApiError),
    /// An object of some other kind.
    Foreign(String),
}

/// The line, for whatever the server may have written.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: Text,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
struct BookmarkMeta {
    #[serde(rename = "resourceVersion")]
    version: Text,
    annotations: Option<BTreeMap<Text, Text>>,
}

/// Reads a line; an error says what was wrong with it.
pub(super) fn read_event<T: Object>(line: &[u8], types: &TypeCheck) -> Result<Event<T>, String> {
    if let Some((kind, object)) = split(line)
        && let Ok(event) = read(kind, object, types)
    {
        return Ok(event);
    }
    // Either not quite as the server writes it, or wrong; now find out what is.
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    read(line.kind.as_bytes(), line.object.get().as_bytes(), types)
}

/// Cuts a line as the server writes it without looking at the object, so that the object is read
/// once and not twice. Whether the cut was right shows when the object is read.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let quote = rest.iter().position(|byte| *byte == b'"')?;
    let object = rest[quote..].strip_prefix(br#"","object":"#)?;
    Some((&rest[..quote], object.trim_ascii_end().strip_suffix(b"}")?))
}

fn read<T: Object>(kind: &[u8], object: &[u8], types: &TypeCheck) -> Result<Event<T>, String> {
    let parse = |error: serde_json::Error| error.to_string();
    match kind {
        b"ADDED" | b"MODIFIED" | b"DELETED" => {
            if let Err(found) = types.check(object) {
                return Ok(Event::Foreign(found));
            }
            let object = T::decode(object).map_err(|error| error.to_string())?;
            if object.name().is_empty() {
                return Err("an object without a name".to_owned());
            }
            Ok(match kind {
                b"DELETED" => Event::Deleted(object),
                _ => Event::Put {
                    object,
                    added: kind == b"ADDED",
                },
            })
        }
        b"BOOKMARK" => {
            let Bookmark { metadata } = serde_json::from_slice(object).map_err(parse)?;
            let end = metadata
                .annotations
                .as_ref()
                .and_then(|all| all.get(INITIAL_EVENTS_END));
            let ends_initial = end.is_some_and(|value| value == "true");
            Ok(Event::Bookmark {
                version: metadata.version,
                ends_initial,
            })
        }
        b"ERROR" => {
            let status: Status = serde_json::from_slice(object).map_err(parse)?;
            Ok(Event::Failure(ApiError::from_status(status)))
        }
        _ => Err(format!(
            "unknown event type {:?}",
            String::from_utf8_lossy(kind)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Thing;

    fn event(line: &str) -> Result<Event<Thing>, String> {
        read_event(line.as_bytes(), &TypeCheck::of(Thing::KIND))
    }

    #[test]
    fn reads_objects_as_the_server_writes_them_and_in_any_other_form() {
        let object = Thing::new("n", "a");
        let json = object.json();
        for line in [
            format!(r#"{{"type":"ADDED","object":{json}}}"#),
            format!("{{\"type\":\"ADDED\",\"object\":{json}}}\r\n"),
            format!(r#" {{ "object" : {json} , "type" : "ADDED" }} "#),
            format!(r#"{{"type":"ADDED","object":{json},"more":{{}}}}"#),
        ] {
            let expected = Event::Put {
                object: object.clone(),
                added: true,
            };
            assert_eq!(event(&line), Ok(expected), "{line}");
        }
        assert_eq!(event(&object.event("DELETED")), Ok(Event::Deleted(object)));
    }

    #[test]
    fn a_bookmark_needs_only_a_version() {
        let bookmark = |annotations: &str| {
            event(&format!(
                r#"{{"type":"BOOKMARK","object":{{"kind":"Thing","metadata":{{"resourceVersion":"7",{annotations}"creationTimestamp":null}}}}}}"#
            ))
        };
        let expected = |ends_initial| {
            Ok(Event::Bookmark {
                version: "7".into(),
                ends_initial,
            })
        };
        assert_eq!(bookmark(""), expected(false));
        assert_eq!(
            bookmark(r#""annotations":{"k8s.io/initial-events-end":"true"},"#),
            expected(true)
        );
        assert_eq!(bookmark(r#""annotations":null,"#), expected(false));
    }

    #[test]
    fn an_error_event_is_an_api_error() {
        let line = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}"#;
        let Ok(Event::Failure(error)) = event(line) else {
            panic!("{:?}", event(line));
        };
        assert!(error.is_gone());
    }

    #[test]
    fn garbage_half_lines_and_unknown_types_are_errors() {
        let whole = Thing::new("n", "a").event("MODIFIED");
        for cut in 0..whole.len() {
            assert!(event(&whole[..cut]).is_err(), "{}", &whole[..cut]);
        }
        for line in ["nonsense", "\0\u{1}", "[]", r#"{"type":"NEW","object":{}}"#] {
            assert!(event(line).is_err(), "{line}");
        }
        assert!(read_event::<Thing>(b"\xff\xfe", &TypeCheck::of(Thing::KIND)).is_err());
        assert!(event(&Thing::new("n", "").event("ADDED")).is_err());
        let other = r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}}"#;
        assert_eq!(event(other), Ok(Event::Foreign("Pod of v1".into())));
    }
}
