//! Events of the newer group, which are kept as those of the core.

use serde_json::{Value, json};

use crate::object::Object;

/// What fields that can be selected are called in the newer group and in the core.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("regarding.kind", "involvedObject.kind"),
    ("regarding.namespace", "involvedObject.namespace"),
    ("regarding.name", "involvedObject.name"),
    ("regarding.uid", "involvedObject.uid"),
    ("regarding.apiVersion", "involvedObject.apiVersion"),
    (
        "regarding.resourceVersion",
        "involvedObject.resourceVersion",
    ),
    ("regarding.fieldPath", "involvedObject.fieldPath"),
    ("reportingController", "reportingComponent"),
];

/// What is written if there is nothing.
type Blank = fn() -> Option<Value>;

/// Names in the newer group, names in the core, and what is written in the core and in the newer group
/// if there is nothing.
const NAMES: [(&str, &str, Blank, Blank); 9] = [
    ("regarding", "involvedObject", empty, empty),
    ("note", "message", nothing, nothing),
    ("deprecatedSource", "source", empty, empty),
    ("deprecatedFirstTimestamp", "firstTimestamp", null, null),
    ("deprecatedLastTimestamp", "lastTimestamp", null, null),
    ("deprecatedCount", "count", nothing, nothing),
    ("reportingController", "reportingComponent", text, nothing),
    ("reportingInstance", "reportingInstance", text, nothing),
    ("eventTime", "eventTime", null, null),
];

fn nothing() -> Option<Value> {
    None
}

fn null() -> Option<Value> {
    Some(Value::Null)
}

fn text() -> Option<Value> {
    Some("".into())
}

fn empty() -> Option<Value> {
    Some(json!({}))
}

pub(super) fn to_kept(mut event: Object) -> Object {
    for (own, kept, blank, _) in NAMES {
        let value = event.remove(own).filter(|value| !value.is_null());
        if let Some(value) = value.or_else(blank) {
            event.insert(kept.to_owned(), value);
        }
    }
    event
}

pub(super) fn from_kept(mut event: Object) -> Object {
    for (own, kept, _, blank) in NAMES {
        let value = event.remove(kept);
        let value = value.filter(|value| !value.is_null() && value != "");
        if let Some(value) = value.or_else(blank) {
            event.insert(own.to_owned(), value);
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_the_same_in_both_groups() {
        let event = json!({
            "metadata": {"name": "e"},
            "regarding": {"kind": "Pod", "name": "p"},
            "note": "N",
            "reason": "R",
            "type": "Normal",
            "action": "A",
            "reportingController": "c",
            "reportingInstance": "i",
            "eventTime": "2026-01-02T03:04:05.123456Z",
            "deprecatedSource": {"component": "c"},
            "deprecatedFirstTimestamp": null,
            "deprecatedLastTimestamp": null,
            "deprecatedCount": 3,
        });
        let event = event.as_object().unwrap();
        let kept = to_kept(event.clone());
        assert_eq!(kept["message"], "N");
        assert_eq!(kept["involvedObject"]["name"], "p");
        assert_eq!(kept["reportingComponent"], "c");
        assert_eq!(kept["count"], 3);
        assert!(!kept.contains_key("note") && !kept.contains_key("regarding"));
        assert_eq!(&from_kept(kept), event);
    }
}
