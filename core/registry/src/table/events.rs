//! Events, of the core group and of `events.k8s.io`, which name the same things differently.

use serde_json::Value;

use super::age;
use super::columns::{Printer, cells, text as column};
use super::row::{Row, number, text};

pub(super) const EVENTS: Printer = Printer {
    columns: &[
        column("Last Seen", "How long ago it was last seen."),
        column("Type", "Whether it is normal or a warning."),
        column("Reason", "What happened, in one word."),
        column("Object", "What it happened to."),
        column("Subobject", "The part of the object that it happened to.").wide(),
        column("Source", "Who tells of it.").wide(),
        column("Message", "What happened."),
        column("First Seen", "How long ago it was first seen.").wide(),
        column("Count", "How often it was seen.").wide(),
        column("Name", "The name of the event itself.")
            .naming()
            .wide(),
    ],
    cells,
};

fn cells(row: &Row<'_>) -> Vec<Value> {
    let core = |old: &str, new: &str| match row.at(old) {
        Value::Null => row.at(new),
        old => old,
    };
    let object = core("involvedObject", "regarding");
    let source = core("source", "deprecatedSource");
    let kind = text(&object["kind"]).to_lowercase();
    let target = match text(&object["name"]) {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let (first, last, count) = seen(row, &core);
    cells![
        last,
        row.text("type"),
        row.text("reason"),
        target,
        text(&object["fieldPath"]),
        teller(
            source,
            text(core("reportingComponent", "reportingController")),
            row
        ),
        text(core("message", "note")).trim(),
        first,
        count,
        row.name(),
    ]
}

/// When it was first and last seen, and how often.
fn seen<'a>(row: &Row<'a>, core: &dyn Fn(&str, &str) -> &'a Value) -> (String, String, i64) {
    let first = match core("firstTimestamp", "deprecatedFirstTimestamp") {
        written if age::time(written).is_some() => age::since(written, row.now),
        _ => row.since("eventTime"),
    };
    let series = row.at("series");
    if series.is_object() {
        let last = age::since(&series["lastObservedTime"], row.now);
        return (first, last, number(&series["count"]));
    }
    let last = match core("lastTimestamp", "deprecatedLastTimestamp") {
        written if age::time(written).is_some() => age::since(written, row.now),
        _ => first.clone(),
    };
    // One that was seen only once has no count in the newer API.
    let count = match number(core("count", "deprecatedCount")) {
        0 => 1,
        count => count,
    };
    (first, last, count)
}

/// The component and the host or instance that tell of it.
fn teller(source: &Value, controller: &str, row: &Row<'_>) -> String {
    let filled = |text: &str, other: &str| {
        if text.is_empty() {
            other.to_owned()
        } else {
            text.to_owned()
        }
    };
    let component = filled(text(&source["component"]), controller);
    match filled(text(&source["host"]), row.text("reportingInstance")) {
        instance if instance.is_empty() => component,
        instance => format!("{component}, {instance}"),
    }
}
