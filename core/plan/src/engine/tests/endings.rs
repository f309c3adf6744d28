//! How a sync can end otherwise than well.

use super::*;
use crate::Endings;

/// How the syncs of a set end that meets this, one after the other, each when it is due.
fn endings(what: &str, count: usize) -> (Vec<Outcome>, Endings) {
    let web = set("web", what);
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    let mut now = 0;
    let mut outcomes = Vec::new();
    while outcomes.len() < count {
        match engine.next(&store, at(now)) {
            Next::Finished(finished) => outcomes.push(finished.outcome),
            Next::Idle(Some(due)) => now = u64::try_from(due.as_millis()).unwrap(),
            other => panic!("{other:?}"),
        }
    }
    (outcomes, engine.stats(at(now)).endings)
}

#[test]
fn a_conflict_is_looked_at_again_soon_and_counts_as_no_failure() {
    let (outcomes, endings) = endings("conflict", 9);
    for (at, outcome) in outcomes[..8].iter().enumerate() {
        let Outcome::Conflicts { after, .. } = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(*after, Duration::from_millis(10 << at));
    }
    // One too many in a row is the first failure.
    let after = Duration::from_millis(5);
    assert!(matches!(&outcomes[8], Outcome::Retries { after: it, .. } if *it == after));
    assert_eq!((endings.conflict, endings.given_up), (9, 0));
}

#[test]
fn what_validation_refuses_is_left_until_something_changes() {
    let (outcomes, endings) = endings("invalid", 2);
    assert!(matches!(outcomes[..], [Outcome::Permanent { .. }, _]));
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
    let (outcomes, _) = endings("denied", 1);
    assert!(matches!(outcomes[..], [Outcome::Retries { .. }]));
}

#[test]
fn a_key_that_was_given_up_is_counted_and_its_report_says_so() {
    let (outcomes, endings) = endings("error", 4);
    assert!(matches!(outcomes[3], Outcome::GaveUp { failures: 4, .. }));
    assert_eq!(endings.given_up, 1);
}
