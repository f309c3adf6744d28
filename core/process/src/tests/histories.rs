//! Servers that were restored from an older backup, and connections that were lost.

use std::time::Duration;

use flyball_api::ApiError;
use flyball_api::request::Method;
use flyball_api::views::Pod;
use flyball_informer::{Command, Input};
use flyball_plan::{Answer, Next, Written};

use super::toys::{Bench, Twins, event, lease};
use crate::Elect;

fn leading() -> (Bench, crate::CacheId) {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.lead(5);
    bench.listed(pods, 9, &["a"]);
    (bench, pods)
}

#[test]
fn after_a_lost_connection_nothing_is_written_until_a_renewal_succeeds() {
    let (mut bench, pods) = leading();
    bench.later(2);
    let now = bench.now;
    bench.answer_election(Ok(&lease("me", 10, 0, now)));
    assert!(bench.core.may_write(now));
    bench.feed(pods, Input::Failed(&ApiError::transport("reset")));
    assert!(!bench.core.may_write(now));
    assert!(bench.core.history().doubt.is_some());
    // The renewal is brought forward, and only one that was sent since counts.
    bench.answer_election(Ok(&lease("me", 11, 0, now)));
    assert!(bench.core.may_write(now));
    assert_eq!(bench.core.history().changes, 0);
    assert!(bench.has_work());
}

#[test]
fn a_kind_that_had_seen_more_than_the_last_renewal_is_listed_anew() {
    let (mut bench, pods) = leading();
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    bench.feed(pods, Input::Event(event("ADDED", "b", 12).as_bytes()));
    bench.publish(pods);
    let round = bench.core.round();
    bench.feed(pods, Input::Failed(&ApiError::transport("reset")));
    bench.answer_election(Ok(&lease("me", 20, 0, bench.now)));
    assert!(bench.core.may_write(bench.now));
    assert!(!bench.has_work(), "what came after version 10 may be lost");
    bench.listed(pods, 21, &["a"]);
    assert!(bench.has_work());
    assert_eq!(
        (bench.core.round(), bench.core.history().changes),
        (round, 0)
    );
}

#[test]
fn a_lease_without_our_last_renewal_is_of_another_history() {
    let (mut bench, pods) = leading();
    let renewed = bench.now;
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    let round = bench.core.round();
    bench.feed(pods, Input::Failed(&ApiError::transport("reset")));
    let conflict = ApiError::from_response(409, None, b"");
    bench.answer_election(Err(&conflict));
    // The restored Lease is ours, as it was a renewal ago, and its version is newer than all known.
    bench.answer_election(Ok(&lease("me", 99, 0, renewed)));
    assert_eq!(bench.core.history().changes, 1);
    assert_eq!(bench.core.round(), round + 1);
    assert!(
        !bench.core.may_write(bench.now),
        "whose Lease it is must be shown"
    );
    bench.answer_election(Ok(&lease("me", 100, 0, bench.now)));
    assert!(bench.core.may_write(bench.now));
    assert!(!bench.has_work(), "nothing is listed in this history");
    bench.listed(pods, 101, &["a"]);
    assert!(bench.has_work());
}

#[test]
fn a_version_that_goes_back_voids_what_was_planned_and_what_is_waited_for() {
    let (mut bench, pods) = leading();
    let Next::Work(work) = bench.next() else {
        panic!("no work");
    };
    let round = bench.core.round();
    bench.feed(pods, Input::Event(event("MODIFIED", "a", 3).as_bytes()));
    assert_eq!(bench.core.history().changes, 1);
    assert!(
        !bench.core.may_send(round, bench.now),
        "it was planned from the lost history"
    );
    let done = Answer::Done(Written {
        resource_version: "4".into(),
        ..Written::default()
    });
    let next =
        bench.decide(|core, moment| core.answered(0, work.id, &work.actions, vec![done], moment));
    assert!(next.is_none(), "{next:?}");
    bench.answer_election(Ok(&lease("me", 5, 0, bench.now)));
    bench.listed(pods, 6, &["a"]);
    assert!(bench.has_work(), "the gate of the lost history is gone");
}

#[test]
fn what_was_created_at_an_older_version_than_was_seen_is_of_another_history() {
    let (mut bench, _) = leading();
    let Next::Work(work) = bench.next() else {
        panic!("no work");
    };
    let done = Answer::Done(Written {
        resource_version: "8".into(),
        ..Written::default()
    });
    bench.decide(|core, moment| core.answered(0, work.id, &work.actions, vec![done], moment));
    assert_eq!(bench.core.history().changes, 1);
}

#[test]
fn without_a_lease_a_lost_connection_lists_everything_anew_once() {
    let mut bench = Bench::of(Twins, false);
    let pods = bench.cache(Pod::KIND);
    bench.listed(pods, 9, &["a"]);
    let lost = ApiError::transport("reset");
    bench.feed(pods, Input::Failed(&lost));
    assert_eq!(bench.core.round(), 1);
    bench.feed(pods, Input::Failed(&lost));
    assert_eq!(bench.core.round(), 1);
    assert!(!bench.has_work());
}

#[test]
fn a_lease_of_another_storage_is_never_compared() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.lead(5);
    bench.listed(pods, 1_000, &["a"]);
    for version in 6..9 {
        bench.later(2);
        bench.answer_election(Ok(&lease("me", version, 0, bench.now)));
        assert_eq!(bench.core.history().changes, 0);
    }
}

#[test]
fn a_list_that_goes_back_after_a_version_too_new_is_of_another_history() {
    let (mut bench, pods) = leading();
    for version in 10..16 {
        bench.later(2);
        bench.answer_election(Ok(&lease("me", version, 0, bench.now)));
    }
    let body = br#"{"kind":"Status","reason":"Timeout","message":"Too large resource version: 9"}"#;
    let too_new = ApiError::from_response(504, None, body);
    bench.feed(pods, Input::Failed(&too_new));
    // What was read before is published while the list is under way.
    bench.publish(pods);
    bench.list(pods, 3, &["a"]);
    assert_eq!(bench.core.history().changes, 1);
}

#[test]
fn a_renewal_in_doubt_proves_nothing_of_what_was_before() {
    let (mut bench, pods) = leading();
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    bench.feed(pods, Input::Event(event("ADDED", "b", 12).as_bytes()));
    bench.publish(pods);
    bench.later(2);
    // A renewal is under way when the connection is lost, and is answered in time.
    bench.decide(|core, moment| core.elect(moment));
    bench.later(1);
    bench.feed(pods, Input::Failed(&ApiError::transport("reset")));
    let renewed = lease("me", 20, 0, bench.now);
    bench.decide(|core, moment| core.election_answered(Ok(renewed.as_bytes()), moment));
    assert!(!bench.core.may_write(bench.now));
    bench.answer_election(Ok(&lease("me", 21, 0, bench.now)));
    assert!(bench.core.may_write(bench.now));
    assert!(!bench.has_work(), "what came after version 10 may be lost");
}

#[test]
fn a_watched_lease_with_a_renewal_that_was_never_sent_is_read() {
    let (mut bench, _) = leading();
    let renewed = bench.now;
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    bench.later(1);
    // The Lease of an older backup, from a history that was longer than this one.
    let strange = lease("me", 99, 0, renewed);
    let line = format!(r#"{{"type":"ADDED","object":{strange}}}"#);
    bench.decide(|core, moment| core.lease_told(line.as_bytes(), moment));
    let Elect::Send(read, _) = bench.decide(|core, moment| core.elect(moment)) else {
        panic!("the Lease is not read");
    };
    assert_eq!(read.method, Method::Get);
    bench.decide(|core, moment| core.election_answered(Ok(strange.as_bytes()), moment));
    assert_eq!(bench.core.history().changes, 1);
}

#[test]
fn a_connection_found_lost_after_the_renewal_is_judged_by_the_renewal_before() {
    let (mut bench, pods) = leading();
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    bench.feed(pods, Input::Event(event("ADDED", "b", 12).as_bytes()));
    bench.publish(pods);
    // Another connection is found lost first, and the renewal succeeds on the restored server.
    let lost = ApiError::transport("reset");
    bench.later(2);
    bench.answer_election(Err(&lost));
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now - Duration::from_secs(2))));
    bench.answer_election(Ok(&lease("me", 20, 0, bench.now)));
    assert!(bench.core.may_write(bench.now));
    bench.feed(pods, Input::Failed(&lost));
    bench.answer_election(Ok(&lease("me", 21, 0, bench.now)));
    assert!(bench.core.may_write(bench.now));
    assert!(!bench.has_work(), "what came after version 10 may be lost");
}

#[test]
fn a_process_that_overslept_trusts_no_connection() {
    let (mut bench, pods) = leading();
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    bench.feed(pods, Input::WatchStarted);
    bench.feed(pods, Input::Event(event("ADDED", "b", 12).as_bytes()));
    bench.publish(pods);
    bench.decide(|core, moment| core.elect(moment));
    bench.carried(pods);
    // It was stopped, and continued before its term was over.
    bench.later(6);
    bench.answer_election(Ok(&lease("me", 20, 0, bench.now)));
    assert!(matches!(bench.carried(pods)[..], [Command::Watch(_), ..]));
    assert!(bench.core.may_write(bench.now));
    assert!(!bench.has_work(), "what came after version 10 may be lost");
}

#[test]
fn a_kind_that_was_judged_is_not_judged_by_the_same_renewal_again() {
    let (mut bench, pods) = leading();
    bench.later(2);
    bench.answer_election(Ok(&lease("me", 10, 0, bench.now)));
    let lost = ApiError::transport("reset");
    bench.feed(pods, Input::Failed(&lost));
    bench.answer_election(Ok(&lease("me", 20, 0, bench.now)));
    // It goes on where it was, and has seen more when the next renewal succeeds.
    bench.feed(pods, Input::WatchStarted);
    bench.feed(pods, Input::Event(event("ADDED", "b", 15).as_bytes()));
    bench.publish(pods);
    bench.answer_election(Ok(&lease("me", 21, 0, bench.now)));
    assert!(bench.has_work(), "version 20 is of the same history as 10");
}
