//! Events of one component.

use std::time::Duration;

use flyball_api::Timestamp;
use flyball_api::request::Method;
use flyball_api::views::ObjectReference;
use flyball_plan::{Now, Record, RecordKind};

use crate::{Teller, Told};

fn created(pod: &str) -> Record {
    Record {
        about: ObjectReference {
            kind: "ReplicaSet".into(),
            namespace: "shop".into(),
            name: "web".into(),
            ..ObjectReference::default()
        },
        kind: RecordKind::Normal,
        reason: "SuccessfulCreate",
        message: format!("Created pod: {pod}"),
    }
}

fn at(seconds: u64) -> Now {
    let monotonic = Duration::from_secs(seconds);
    Now {
        monotonic,
        wall: Timestamp::UNIX_EPOCH.saturating_add(monotonic),
    }
}

/// The method of the request that is to be sent.
fn sent(teller: &mut Teller, now: u64) -> Option<Method> {
    match teller.next(true, Duration::from_secs(now)) {
        Told::Send(request) => Some(request.method),
        Told::Wait(_) | Told::Idle => None,
    }
}

#[test]
fn a_repeated_record_counts_up_the_event_that_was_sent() {
    let mut teller = Teller::new("toy");
    teller.record(&created("a"), at(1));
    teller.record(&created("a"), at(2));
    assert_eq!(sent(&mut teller, 3), Some(Method::Post));
    assert_eq!(sent(&mut teller, 3), None, "one at a time");
    teller.answered(Ok(()), Duration::from_secs(3), 0.0);
    assert!(!teller.is_idle());
    assert_eq!(sent(&mut teller, 3), Some(Method::StrategicPatch));
    teller.answered(Ok(()), Duration::from_secs(3), 0.0);
    assert!(teller.is_idle());
}

#[test]
fn a_record_dropped_for_want_of_permission_leaves_no_event_to_count_up() {
    let mut teller = Teller::new("toy");
    teller.record(&created("a"), at(1));
    assert!(matches!(
        teller.next(false, Duration::from_secs(1)),
        Told::Idle
    ));
    assert!(teller.is_idle());
    teller.record(&created("a"), at(2));
    assert_eq!(sent(&mut teller, 2), Some(Method::Post));
}
