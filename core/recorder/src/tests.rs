//! Upstream's rules, one by one.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::views::ObjectReference;
use flyball_plan::{Now, Record, RecordKind};
use serde_json::Value;

use crate::{EventWrite, Recorder};

fn at(seconds: u64) -> Now {
    Now {
        monotonic: Duration::from_secs(seconds),
        wall: "2026-01-01T00:00:00Z"
            .parse::<Timestamp>()
            .unwrap()
            .saturating_add(Duration::from_secs(seconds)),
    }
}

fn record(object: &str, message: &str) -> Record {
    Record {
        about: ObjectReference {
            kind: "ReplicaSet".into(),
            namespace: "shop".into(),
            name: object.into(),
            ..ObjectReference::default()
        },
        kind: RecordKind::Normal,
        reason: "SuccessfulCreate",
        message: message.into(),
    }
}

fn created(write: &EventWrite) -> Value {
    serde_json::from_str(write.create.json()).unwrap()
}

#[test]
fn a_first_record_creates_an_event_in_upstreams_shape() {
    let mut recorder = Recorder::new("replicaset-controller");
    let write = recorder
        .record(&record("web", "Created pod: web-a"), at(0))
        .unwrap();
    assert!(write.patch.is_none());
    let event = created(&write);
    assert_eq!(event["metadata"]["namespace"], "shop");
    assert!(
        event["metadata"]["name"]
            .as_str()
            .unwrap()
            .starts_with("web.")
    );
    assert_eq!(event["source"]["component"], "replicaset-controller");
    assert_eq!(event["reportingComponent"], "replicaset-controller");
    assert_eq!(event["count"], 1);
    assert_eq!(event["type"], "Normal");
}

#[test]
fn the_same_record_again_counts_up() {
    let mut recorder = Recorder::new("c");
    let first = recorder.record(&record("web", "same"), at(0)).unwrap();
    recorder.wrote(&first, "web.server-chose");
    let second = recorder.record(&record("web", "same"), at(5)).unwrap();
    let (name, body) = second.patch.clone().unwrap();
    assert_eq!(name, "web.server-chose");
    let body: Value = serde_json::from_str(body.json()).unwrap();
    assert_eq!(body["count"], 2);
    assert_eq!(body["lastTimestamp"], "2026-01-01T00:00:05Z");
    // Should the Event be gone, the whole story is told anew.
    assert_eq!(created(&second)["count"], 2);
    assert_eq!(created(&second)["firstTimestamp"], "2026-01-01T00:00:00Z");
}

#[test]
fn from_the_tenth_message_on_similar_records_are_combined() {
    let mut recorder = Recorder::new("c");
    for i in 0..9 {
        let write = recorder
            .record(&record("web", &format!("m{i}")), at(0))
            .unwrap();
        assert!(
            !created(&write)["message"]
                .as_str()
                .unwrap()
                .starts_with("(combined")
        );
    }
    let tenth = recorder.record(&record("web", "m9"), at(1)).unwrap();
    assert_eq!(
        created(&tenth)["message"],
        "(combined from similar events): m9"
    );
    assert!(tenth.patch.is_none());
    let eleventh = recorder.record(&record("web", "m10"), at(1)).unwrap();
    assert!(eleventh.patch.is_some());
    // After ten minutes of silence each speaks for itself again.
    let later = recorder.record(&record("web", "m11"), at(700)).unwrap();
    assert_eq!(created(&later)["message"], "m11");
}

#[test]
fn one_object_gets_25_events_at_once_and_then_one_in_five_minutes() {
    let mut recorder = Recorder::new("c");
    let mut told = 0;
    for i in 0..100 {
        told += usize::from(
            recorder
                .record(&record("web", &format!("{i}")), at(0))
                .is_some(),
        );
    }
    assert_eq!(told, 25);
    assert!(recorder.record(&record("other", "x"), at(0)).is_some());
    assert!(recorder.record(&record("web", "x"), at(299)).is_none());
    assert!(recorder.record(&record("web", "x"), at(301)).is_some());
}

#[test]
fn memory_is_bounded() {
    let mut recorder = Recorder::new("c");
    for i in 0..50_000 {
        recorder.record(&record(&format!("web-{i}"), "x"), at(0));
    }
    assert!(recorder.len() <= 4096);
}

#[test]
fn the_name_fits_however_long_the_objects_is() {
    let mut recorder = Recorder::new("c");
    let mut name_of = |object: &str| {
        let write = recorder.record(&record(object, "x"), at(0)).unwrap();
        created(&write)["metadata"]["name"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(name_of("web").starts_with("web."));
    // 237 characters and the time would end in "-.": the dash goes too.
    let long = format!("{}-{}", "a".repeat(235), "b".repeat(17));
    let name = name_of(&long);
    assert!(
        name.len() <= 253 && name.starts_with(&format!("{}.", "a".repeat(235))),
        "{name}"
    );
    assert_ne!(name, name_of(&long.replace('b', "c")));
}

#[test]
fn a_repeated_message_among_many_keeps_its_own_count() {
    let mut recorder = Recorder::new("c");
    for i in 0..12 {
        recorder
            .record(&record("web", &format!("m{i}")), at(0))
            .unwrap();
    }
    let again = recorder.record(&record("web", "m3"), at(1)).unwrap();
    assert_eq!(created(&again)["message"], "m3");
    assert_eq!(created(&again)["count"], 2);
}

#[test]
fn warnings_have_a_budget_of_their_own() {
    let mut recorder = Recorder::new("c");
    let warning = |i: usize| Record {
        kind: RecordKind::Warning,
        ..record("web", &i.to_string())
    };
    let normal = (0..30).filter_map(|i| recorder.record(&record("web", &i.to_string()), at(0)));
    assert_eq!(normal.count(), 25);
    let warnings = (0..30).filter_map(|i| recorder.record(&warning(i), at(0)));
    assert_eq!(warnings.count(), 25);
}

#[test]
fn a_record_about_an_object_without_a_namespace_goes_to_the_default_one() {
    let mut recorder = Recorder::new("c");
    let mut about_node = record("node-1", "x");
    about_node.about.namespace = "".into();
    let write = recorder.record(&about_node, at(0)).unwrap();
    assert_eq!(write.namespace, "default");
    assert_eq!(created(&write)["involvedObject"]["namespace"], Value::Null);
}
