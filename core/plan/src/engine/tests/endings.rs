//! How a sync can end otherwise than well.

use super::*;
use crate::{Again, Endings, Finished, Wait};

/// How the syncs of a set end that meets this, one after the other, each when it is due.
fn endings(what: &str, count: usize) -> (Vec<Finished>, Endings) {
    let web = set("web", what);
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    let mut now = 0;
    let mut ended = Vec::new();
    while ended.len() < count {
        match engine.next(&store, at(now)) {
            Next::Finished(finished) => ended.push(*finished),
            Next::Idle(Some(due)) => now = u64::try_from(due.as_millis()).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    (ended, engine.stats(at(now)).endings)
}

#[test]
fn a_conflict_is_looked_at_again_soon_and_counts_as_no_failure() {
    let (ended, endings) = endings("conflict", 9);
    for (at, finished) in ended[..8].iter().enumerate() {
        let Outcome::Conflicts { after, .. } = finished.outcome else {
            panic!("{finished:?}");
        };
        assert_eq!(after, Duration::from_millis(10 << at));
        assert_eq!(finished.report.again, Again::After(after));
    }
    // One too many in a row is the first failure.
    let after = Duration::from_millis(5);
    assert!(matches!(&ended[8].outcome, Outcome::Retries { after: it, .. } if *it == after));
    assert_eq!(ended[8].report.again, Again::After(after));
    assert_eq!((endings.conflict, endings.given_up), (9, 0));
}

#[test]
fn what_validation_refuses_is_left_until_something_changes() {
    let (ended, endings) = endings("invalid", 2);
    assert!(matches!(ended[0].outcome, Outcome::Permanent { .. }));
    let again = Again::After(Duration::from_secs(1000));
    assert_eq!(ended[0].report.again, again);
    assert_eq!(endings.permanent, 2);

    let web = set("web", "invalid");
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    outcome(engine.next(&store, at(0)));
    let due = idle(engine.next(&store, at(0)));
    assert_eq!(due, Some(Duration::from_secs(1000)), "a webhook may change");
    engine.changed(&Change::added(web.clone()), &store, at(1));
    let again = outcome(engine.next(&store, at(1)));
    assert!(matches!(again, Outcome::Permanent { .. }));
}

#[test]
fn a_refusal_that_names_no_field_is_tried_again() {
    let (ended, _) = endings("denied", 1);
    assert!(matches!(ended[0].outcome, Outcome::Retries { .. }));
}

#[test]
fn a_key_that_was_given_up_is_counted_and_its_report_says_so() {
    let (ended, endings) = endings("error", 4);
    let Finished {
        outcome, report, ..
    } = &ended[3];
    assert!(matches!(outcome, Outcome::GaveUp { failures: 4, .. }));
    assert_eq!(report.saw.last(), Some(&("failures", "4".to_owned())));
    assert_eq!(report.waits_for, Some(Wait::RETRY));
    assert_eq!(report.again, Again::OnChange);
    assert_eq!(endings.given_up, 1);
}
