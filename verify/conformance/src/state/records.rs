//! Event objects as a count per text: who, what kind, why, what.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Names;

/// What the event recorder puts before the latest of many similar messages.
const COMBINED: &str = "(combined from similar events): ";

pub(super) fn count(
    events: &[Value],
    names: &Names,
    loose_reasons: &BTreeMap<String, String>,
) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for event in events {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or("");
        let reason = text("/reason");
        // Every run has a namespace of its own.
        let message = match text("/involvedObject/namespace") {
            "" => text("/message").to_owned(),
            namespace => text("/message").replace(namespace, "<namespace>"),
        };
        let is_loose = loose_reasons.contains_key(reason);
        let message = if is_loose {
            // Which of many similar events is the first to be combined depends on timing too.
            let message = message.as_str();
            names.normalise_loosely(message.strip_prefix(COMBINED).unwrap_or(message))
        } else {
            names.normalise(&message)
        };
        let key = format!(
            "{}/{} {} {reason} [{}] {message}",
            text("/involvedObject/kind"),
            names.normalise(text("/involvedObject/name")),
            text("/type"),
            text("/source/component"),
        );
        let times = event["count"]
            .as_u64()
            .or(event["series"]["count"].as_u64())
            .unwrap_or(1);
        let sum = counts.entry(key).or_insert(0);
        *sum = if is_loose { 1 } else { *sum + times };
    }
    counts
}
