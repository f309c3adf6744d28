//! The start and the end of a term.

use flyball_api::ApiError;
use flyball_api::views::Pod;
use flyball_informer::{Command, Input};

use super::toys::{Bench, Twins, lease};
use crate::Elect;

#[test]
fn the_first_lists_of_a_leader_are_asked_for_after_the_lease_was_won() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    assert!(bench.carried(pods).is_empty());
    bench.lead(5);
    assert!(!bench.carried(pods).is_empty());
    bench.listed(pods, 9, &["a"]);
    assert!(bench.has_work());
}

#[test]
fn a_standby_lists_anew_when_it_takes_over() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.answer_election(Ok(&lease("other", 5, 3, bench.now)));
    bench.decide(|core, moment| core.elect(moment));
    bench.listed(pods, 6, &["a"]);
    assert!(!bench.has_work(), "another leads");
    bench.carried(pods);
    bench.answer_after(16, Ok(&lease("other", 5, 3, bench.now)));
    bench.answer_election(Ok(&lease("me", 8, 4, bench.now)));
    assert!(bench.core.is_announced_leader());
    assert!(
        !bench.has_work(),
        "what is cached may lack the other's last writes"
    );
    assert!(matches!(bench.carried(pods)[..], [.., Command::Watch(_)]));
    bench.listed(pods, 9, &["a"]);
    assert!(bench.has_work());
}

#[test]
fn a_leader_that_keeps_its_lease_over_a_short_silence_lists_nothing_anew() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.lead(5);
    bench.listed(pods, 9, &["a"]);
    let round = bench.core.round();
    bench.later(11);
    bench.decide(|core, moment| core.elect(moment));
    assert!(!bench.core.is_announced_leader());
    let renewed = lease("me", 12, 0, bench.now);
    bench.decide(|core, moment| core.election_answered(Ok(renewed.as_bytes()), moment));
    assert!(bench.core.is_announced_leader());
    assert_eq!(bench.core.round(), round);
}

#[test]
fn a_leader_that_sees_nothing_gives_the_lease_up_and_stands_again_when_it_sees() {
    let mut bench = Bench::of(Twins, true);
    let pods = bench.cache(Pod::KIND);
    bench.lead(5);
    let busy = ApiError::from_response(503, None, b"");
    bench.feed(pods, Input::Failed(&busy));
    for version in 6..10 {
        bench.later(2);
        bench.answer_election(Ok(&lease("me", version, 0, bench.now)));
        assert!(bench.core.is_announced_leader());
    }
    bench.later(2);
    let Elect::Send(release, _) = bench.decide(|core, moment| core.elect(moment)) else {
        panic!("nothing is sent");
    };
    assert!(String::from_utf8_lossy(&release.body).contains(r#""holderIdentity":"""#));
    assert!(!bench.core.may_write(bench.now));
    let released = lease("", 12, 0, bench.now);
    bench.decide(|core, moment| core.election_answered(Ok(released.as_bytes()), moment));
    bench.later(3);
    let elect = bench.decide(|core, moment| core.elect(moment));
    assert!(matches!(elect, Elect::Wait(_)), "{elect:?}");
    bench.feed(pods, Input::Elapsed);
    bench.feed(
        pods,
        Input::Page(br#"{"metadata":{"resourceVersion":"20"},"items":[]}"#),
    );
    bench.feed(pods, Input::WatchStarted);
    bench.later(3);
    let elect = bench.decide(|core, moment| core.elect(moment));
    assert!(matches!(elect, Elect::Send(..)), "{elect:?}");
}

impl Bench {
    fn answer_after(&mut self, seconds: u64, answer: Result<&str, &ApiError>) {
        self.later(seconds);
        self.answer_election(answer);
    }
}
