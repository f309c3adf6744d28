//! The engine with a toy controller.

mod endings;
mod toy;

use std::sync::Arc;

use flyball_api::views::{Pod, ReplicaSet};
use flyball_api::{ApiError, Object};

use super::*;
use crate::Written;
use toy::{Toy, at, set, store};

/// An engine that has been told of these sets.
fn engine(sets: &[&Arc<ReplicaSet>]) -> Engine<Toy> {
    let mut engine = Engine::new(Toy);
    for set in sets {
        engine.changed(&Change::added(Arc::clone(set)), &store(sets, "1"), at(0));
    }
    engine
}

fn work(next: Next) -> Work {
    match next {
        Next::Work(work) => work,
        other => panic!("no work: {other:?}"),
    }
}

fn outcome(next: Next) -> Outcome {
    match next {
        Next::Finished(finished) => finished.outcome,
        other => panic!("not finished: {other:?}"),
    }
}

fn idle(next: Next) -> Option<Duration> {
    match next {
        Next::Idle(at) => at,
        other => panic!("not idle: {other:?}"),
    }
}

fn created(version: &str) -> Vec<Answer> {
    let resource_version = version.into();
    vec![Answer::Done(Written {
        resource_version,
        ..Written::default()
    })]
}

fn failed() -> Vec<Answer> {
    vec![Answer::Failed(ApiError::from_response(500, None, b""))]
}

#[test]
fn a_change_becomes_a_sync_that_acts_hears_and_rests() {
    let web = set("web", "create");
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    let work = work(engine.next(&store, at(0)));
    assert_eq!(
        (work.key.as_str(), work.actions.stage),
        ("shop/web", "create")
    );
    assert_eq!(engine.stats(at(0)).syncs_running, 1);
    let next = engine.answered(work.id, created(""), at(1)).unwrap();
    let Next::Finished(finished) = next else {
        panic!("not finished")
    };
    assert_eq!(finished.outcome, Outcome::Rested);
    assert_eq!(finished.report.to_string(), "scripted: stages 1");
    assert_eq!(idle(engine.next(&store, at(1))), None);
    assert_eq!(engine.stats(at(1)).syncs_running, 0);
}

#[test]
fn a_key_is_left_alone_for_as_long_as_its_controller_says() {
    let patient = set("patient", "create");
    let store = store(&[&patient], "1");
    let mut engine = engine(&[&patient]);
    let due = at(5_000).monotonic;
    assert_eq!(idle(engine.next(&store, at(0))), Some(due));
    // What comes meanwhile does not put it off.
    engine.changed(&Change::added(patient.clone()), &store, at(4_000));
    assert_eq!(idle(engine.next(&store, at(4_999))), Some(due));
    assert_eq!(work(engine.next(&store, at(5_000))).key, "shop/patient");
}

#[test]
fn a_key_without_an_object_is_absent() {
    let web = set("web", "create");
    let mut engine = engine(&[&web]);
    assert_eq!(
        outcome(engine.next(&store(&[], "1"), at(0))),
        Outcome::Absent
    );
    assert_eq!(idle(engine.next(&store(&[], "1"), at(0))), None);
}

#[test]
fn a_key_waits_until_the_cache_shows_its_own_write() {
    let web = set("web", "create");
    let mut engine = engine(&[&web]);
    let first = work(engine.next(&store(&[&web], "1"), at(0)));
    assert_eq!(
        outcome(engine.answered(first.id, created("100"), at(0)).unwrap()),
        Outcome::Rested
    );
    assert_eq!(engine.stats(at(0)).keys_gated, 1);
    // A change comes while the cache is behind: nothing is planned, and it is looked at again.
    engine.changed(&Change::added(web.clone()), &store(&[&web], "99"), at(10));
    let Outcome::Gated(waiting) = outcome(engine.next(&store(&[&web], "99"), at(10))) else {
        panic!("the gate is open")
    };
    assert_eq!(waiting.kind(), Pod::kind());
    assert_eq!(engine.stats(at(10)).stale_skips, [(Pod::kind(), 1)]);
    assert_eq!(
        idle(engine.next(&store(&[&web], "99"), at(11))),
        Some(at(1_010).monotonic)
    );
    assert!(matches!(
        engine.next(&store(&[&web], "99"), at(1_010)),
        Next::Finished(_)
    ));
    // The cache catches up: the next look finds the gate open.
    let again = work(engine.next(&store(&[&web], "100"), at(2_010)));
    assert_eq!(again.key, "shop/web");
    assert_eq!(engine.stats(at(2_010)).keys_gated, 0);
}

#[test]
fn a_write_of_one_key_holds_up_no_other() {
    let (web, db) = (set("web", "create"), set("db", "create"));
    let stale = store(&[&web, &db], "1");
    let mut engine = engine(&[&web, &db]);
    let first = work(engine.next(&stale, at(0)));
    engine.answered(first.id, created("100"), at(0));
    let second = work(engine.next(&stale, at(0)));
    assert_ne!(first.key, second.key);
}

#[test]
fn failures_back_off_and_are_given_up() {
    let web = set("web", "error");
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    let mut now = 0;
    for after in [5, 10, 20] {
        let Outcome::Retries {
            error,
            after: delay,
        } = outcome(engine.next(&store, at(now)))
        else {
            panic!("not retried")
        };
        assert_eq!(
            (error.as_str(), delay),
            ("it is broken", Duration::from_millis(after))
        );
        assert_eq!(
            idle(engine.next(&store, at(now))),
            Some(at(now + after).monotonic)
        );
        now += after;
    }
    let Outcome::GaveUp { failures, .. } = outcome(engine.next(&store, at(now))) else {
        panic!("not given up")
    };
    assert_eq!(failures, 4);
    assert_eq!(idle(engine.next(&store, at(now))), None);
    // The next change starts afresh.
    engine.changed(&Change::added(web.clone()), &store, at(now));
    let again = outcome(engine.next(&store, at(now)));
    assert!(matches!(again, Outcome::Retries { after, .. } if after == Duration::from_millis(5)));
}

#[test]
fn waiting_for_its_own_writes_does_not_make_a_key_forget_its_failures() {
    let web = set("web", "fail");
    let mut engine = engine(&[&web]);
    let first = work(engine.next(&store(&[&web], "1"), at(0)));
    let failure = outcome(engine.answered(first.id, created("100"), at(0)).unwrap());
    assert!(matches!(failure, Outcome::Retries { after, .. } if after.as_millis() == 5));
    // Due, but the cache is behind; then it catches up, and the sync fails again.
    assert!(matches!(
        outcome(engine.next(&store(&[&web], "1"), at(5))),
        Outcome::Gated(_)
    ));
    let second = work(engine.next(&store(&[&web], "100"), at(1_005)));
    let failure = outcome(engine.answered(second.id, failed(), at(1_005)).unwrap());
    assert!(matches!(failure, Outcome::Retries { after, .. } if after.as_millis() == 10));
}

#[test]
fn a_rest_for_a_while_looks_again_then() {
    let web = set("web", "wait");
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    assert_eq!(
        outcome(engine.next(&store, at(0))),
        Outcome::Waits(Duration::from_secs(30))
    );
    assert_eq!(idle(engine.next(&store, at(1))), Some(at(30_000).monotonic));
    assert!(matches!(engine.next(&store, at(30_000)), Next::Finished(_)));
}

#[test]
fn a_sync_that_never_rests_is_failed() {
    let web = set("web", "loop");
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    let mut next = engine.next(&store, at(0));
    let mut stages = 0;
    while let Next::Work(work) = next {
        stages += 1;
        next = engine.answered(work.id, created(""), at(0)).unwrap();
    }
    assert_eq!(stages, STAGES_MAX);
    let why = format!("after {STAGES_MAX} stages");
    assert!(matches!(outcome(next), Outcome::Retries { error, .. } if error.contains(&why)));
}

#[test]
fn no_more_syncs_run_at_once_than_there_are_workers() {
    let sets: Vec<_> = ["a", "b", "c"].map(|name| set(name, "create")).into();
    let sets: Vec<_> = sets.iter().collect();
    let store = store(&sets, "1");
    let mut engine = engine(&sets);
    let first = work(engine.next(&store, at(0)));
    let second = work(engine.next(&store, at(0)));
    assert_eq!(idle(engine.next(&store, at(0))), None);
    engine.answered(first.id, created(""), at(0));
    let third = work(engine.next(&store, at(0)));
    assert_eq!(engine.stats(at(0)).syncs_running, 2);
    assert_ne!(second.key, third.key);
}

#[test]
fn a_key_is_never_synced_twice_at_once() {
    let web = set("web", "create");
    let store = store(&[&web], "1");
    let mut engine = engine(&[&web]);
    let first = work(engine.next(&store, at(0)));
    engine.changed(&Change::added(web.clone()), &store, at(0));
    assert_eq!(idle(engine.next(&store, at(0))), None);
    engine.answered(first.id, created(""), at(0));
    // The change that came meanwhile is not lost.
    assert_eq!(work(engine.next(&store, at(0))).key, "shop/web");
}

#[test]
fn an_abandoned_sync_keeps_its_writes_in_mind_and_comes_back() {
    let web = set("web", "create");
    let mut engine = engine(&[&web]);
    let first = work(engine.next(&store(&[&web], "1"), at(0)));
    engine.abandon(first.id, &created("100"), at(0));
    assert_eq!(engine.stats(at(0)).syncs_running, 0);
    assert!(engine.answered(first.id, created("1"), at(0)).is_none());
    assert!(matches!(
        outcome(engine.next(&store(&[&web], "99"), at(0))),
        Outcome::Gated(_)
    ));
    assert_eq!(
        work(engine.next(&store(&[&web], "100"), at(1_000))).key,
        "shop/web"
    );
}

#[test]
fn a_resync_waits_behind_real_changes() {
    let (old, new) = (set("old", ""), set("new", ""));
    let store = store(&[&old, &new], "1");
    let mut engine = Engine::new(Toy);
    engine.changed(&Change::resynced(old.clone()), &store, at(0));
    engine.changed(&Change::added(new.clone()), &store, at(1));
    let Next::Finished(first) = engine.next(&store, at(2)) else {
        panic!("not finished")
    };
    assert_eq!(first.key, new.object_name().to_string());
    let Next::Finished(second) = engine.next(&store, at(2)) else {
        panic!("not finished")
    };
    assert_eq!(second.key, old.object_name().to_string());
}

#[test]
fn a_shut_down_takes_nothing_new_and_finishes_the_rest() {
    let (web, db) = (set("web", "error"), set("db", "create"));
    let store = store(&[&web, &db], "1");
    let mut engine = engine(&[&db]);
    let running = work(engine.next(&store, at(0)));
    engine.changed(&Change::added(web.clone()), &store, at(0));
    engine.shut_down();
    engine.changed(&Change::added(db.clone()), &store, at(0));
    assert!(!engine.is_drained());
    // What waited is worked off once; its retry is refused.
    assert!(matches!(
        outcome(engine.next(&store, at(0))),
        Outcome::GaveUp { .. }
    ));
    assert!(!engine.is_drained());
    engine.answered(running.id, created(""), at(0));
    assert!(engine.is_drained());
    assert_eq!(idle(engine.next(&store, at(100_000))), None);
}

#[test]
fn configured_pacing_overrides_the_descriptors() {
    let sets = [set("a", "create"), set("b", "create")];
    let store = store(&[&sets[0], &sets[1]], "1");
    let mut engine = Engine::with(Toy, 0, Options::default());
    for set in &sets {
        engine.changed(&Change::added(set.clone()), &store, at(0));
    }
    // No workers at all would never do anything: one is the least.
    work(engine.next(&store, at(0)));
    assert_eq!(idle(engine.next(&store, at(0))), None);
}

#[test]
fn memory_is_changed_by_rests_and_may_be_lost_at_any_time() {
    let once = set("a", "once");
    let store = store(&[&once], "1");
    let mut engine = engine(&[]);
    let sync = |engine: &mut Engine<Toy>, ms| {
        engine.changed(&Change::added(once.clone()), &store, at(ms));
        outcome(engine.next(&store, at(ms)))
    };
    assert_eq!(sync(&mut engine, 1), Outcome::Rested);
    assert_eq!(sync(&mut engine, 2), Outcome::Absent, "it is remembered");
    engine.forget_memory();
    assert_eq!(sync(&mut engine, 3), Outcome::Rested);
    // A term begins.
    engine.renew();
    assert_eq!(sync(&mut engine, 4), Outcome::Rested);
    assert_eq!(sync(&mut engine, 5), Outcome::Absent);
    engine.changed(&Change::deleted(once.clone()), &store, at(6));
    assert_eq!(
        sync(&mut engine, 6),
        Outcome::Rested,
        "a change is told, too"
    );
}

#[test]
fn keys_that_exist_without_a_change_are_synced_when_a_term_begins() {
    let first = set("initial", "wait");
    let store = store(&[&first], "1");
    let mut engine = engine(&[]);
    assert_eq!(idle(engine.next(&store, at(0))), None);
    engine.begin(at(0));
    let waits = Outcome::Waits(Duration::from_secs(30));
    assert_eq!(outcome(engine.next(&store, at(0))), waits);
    idle(engine.next(&store, at(1)));
    assert_eq!(outcome(engine.next(&store, at(30_000))), waits, "periodic");
}
