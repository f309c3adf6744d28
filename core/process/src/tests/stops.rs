//! The order of a stop, and reads that are shared.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::Pod;
use flyball_plan::{Answer, Listing, Next, Read, Written};

use super::toys::{Bench, Twins, lease};
use crate::{Elect, Phase, Question, Reading};

fn phase(bench: &mut Bench) -> Option<Phase> {
    let phase = bench.decide(|core, moment| core.stop_phase(moment));
    phase.map(|(phase, _)| phase)
}

#[test]
fn a_stop_waits_for_what_runs_then_for_events_and_then_gives_the_lease_up() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.lead(5);
    bench.listed(pods, 9, &["a"]);
    let Next::Work(work) = bench.next() else {
        panic!("no work");
    };
    let now = bench.now;
    bench.decide(|core, _| core.stop(now));
    assert_eq!(phase(&mut bench), Some(Phase::Draining));
    assert!(bench.core.may_write(now), "what runs may still write");
    assert!(!bench.has_work(), "nothing new is handed out");
    let done = Answer::Done(Written::default());
    bench.decide(|core, moment| core.answered(0, work.id, &work.actions, vec![done], moment));
    assert_eq!(phase(&mut bench), Some(Phase::Events));
    bench.core.events_sent();
    assert_eq!(phase(&mut bench), Some(Phase::Releasing));
    let Elect::Send(release, _) = bench.decide(|core, moment| core.elect(moment)) else {
        panic!("the Lease is not given up");
    };
    assert!(String::from_utf8_lossy(&release.body).contains(r#""holderIdentity":"""#));
    assert!(!bench.core.may_write(now));
    let released = lease("", 12, 0, now);
    bench.decide(|core, moment| core.election_answered(Ok(released.as_bytes()), moment));
    assert_eq!(phase(&mut bench), Some(Phase::Stopped));
}

#[test]
fn a_stop_that_takes_too_long_ends_the_term_and_keeps_the_lease() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.lead(5);
    bench.listed(pods, 9, &["a"]);
    assert!(bench.has_work());
    let now = bench.now;
    bench.decide(|core, _| core.stop(now));
    bench.later(10);
    assert_eq!(phase(&mut bench), Some(Phase::Events));
    assert!(!bench.core.may_write(bench.now));
    bench.core.events_sent();
    assert_eq!(phase(&mut bench), Some(Phase::Stopped));
}

#[test]
fn one_request_serves_all_who_ask_the_same_meanwhile() {
    let mut bench = Bench::of(Twins, false);
    let survey = Read::list(Pod::KIND, "", 10)
        .not_older_than(Duration::from_secs(1))
        .into();
    let now = bench.now;
    let question = Question::List(Pod::KIND);
    let read = |bench: &mut Bench, now| bench.core.read(0, &survey, now).unwrap();
    assert!(matches!(read(&mut bench, now), Reading::Ask(asked) if asked == question));
    assert!(matches!(read(&mut bench, now), Reading::Wait(asked) if asked == question));
    let answer = Answer::Listed(Arc::new(Listing::default()));
    let answered = now + Duration::from_millis(500);
    bench.core.read_answered(0, question, answer, answered);
    assert!(matches!(
        read(&mut bench, answered),
        Reading::Known(Answer::Listed(_))
    ));
    let later = now + Duration::from_secs(2);
    assert!(
        matches!(read(&mut bench, later), Reading::Ask(_)),
        "it counts from the question"
    );
}
