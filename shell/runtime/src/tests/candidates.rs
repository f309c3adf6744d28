//! Candidates on one Lease: handover, loss, and what they leave of the Lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::api::{Answer, Api, pass};
use super::leases::{Kept, LEASE, serving};
use super::toys::elected;
use crate::run::Running;

fn candidate(api: &Api, identity: &str) -> Running {
    elected(api, Vec::new(), identity)
}

fn nothing_else(_: &super::api::Asked) -> Answer {
    Answer::Is(201, "{}".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_released_lease_is_taken_over_within_a_second() {
    let lease = Kept::default();
    let api = serving(&lease, nothing_else);
    let first = candidate(&api, "first");
    first.may_write(true).await;
    let second = candidate(&api, "second");
    pass(Duration::from_secs(30)).await;
    assert!(first.may_write_now() && !second.may_write_now());
    let released = Instant::now();
    first.stop().await;
    second.may_write(true).await;
    assert!(
        released.elapsed() < Duration::from_secs(1),
        "{:?}",
        released.elapsed()
    );
    let record = lease.lock().unwrap().object.clone().unwrap();
    assert_eq!(record["spec"]["holderIdentity"], "second");
    assert_eq!(record["spec"]["leaseTransitions"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_silent_leader_is_replaced_when_its_lease_is_over() {
    let lease = Kept::default();
    let api = serving(&lease, nothing_else);
    let first = candidate(&api, "first");
    first.may_write(true).await;
    let second = candidate(&api, "second");
    pass(Duration::from_secs(30)).await;
    let killed = Instant::now();
    drop(first);
    second.may_write(true).await;
    let took = killed.elapsed();
    assert!(
        took > Duration::from_secs(12) && took <= Duration::from_secs(15),
        "{took:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_leader_cut_off_from_the_server_stops_at_its_deadline_and_comes_back() {
    let lease = Kept::default();
    let cut = Arc::new(AtomicBool::new(false));
    let api = Api::new({
        let (cut, lease) = (cut.clone(), lease.clone());
        move |_, asked| match cut.load(Ordering::SeqCst) {
            true => Answer::Never,
            false => lease.lock().unwrap().serve(asked),
        }
    });
    let leader = candidate(&api, "first");
    leader.may_write(true).await;
    pass(Duration::from_secs(9)).await;
    cut.store(true, Ordering::SeqCst);
    let at = Instant::now();
    // Said on time, although a request is still waiting for its answer.
    leader.may_write(false).await;
    assert!(
        at.elapsed() <= Duration::from_secs(10),
        "{:?}",
        at.elapsed()
    );
    assert!(!leader.may_write_now());
    cut.store(false, Ordering::SeqCst);
    leader.may_write(true).await;
    assert!(leader.may_write_now());
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_told_of_another_stops_at_once() {
    let lease = Kept::default();
    let api = serving(&lease, nothing_else);
    let leader = candidate(&api, "first");
    leader.may_write(true).await;
    pass(Duration::from_secs(1)).await;
    {
        let mut lease = lease.lock().unwrap();
        let mut stolen = lease.object.clone().unwrap();
        stolen["spec"]["holderIdentity"] = "thief".into();
        lease.store(stolen);
    }
    let at = Instant::now();
    leader.may_write(false).await;
    assert_eq!(at.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn what_others_wrote_on_the_lease_stays_on_it() {
    let lease = Kept::default();
    let made = json!({
        "metadata": {"name": "flyball", "namespace": "kube-system", "labels": {"team": "a"},
            "annotations": {"note": "b"}, "fromTheFuture": {"x": 1}},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 1, "leaseTransitions": 3},
    });
    lease.lock().unwrap().store(made.clone());
    let api = serving(&lease, nothing_else);
    let leader = candidate(&api, "first");
    leader.may_write(true).await;
    pass(Duration::from_secs(10)).await;
    leader.stop().await;
    let left = lease.lock().unwrap().object.clone().unwrap();
    for field in ["labels", "annotations", "fromTheFuture"] {
        assert_eq!(left["metadata"][field], made["metadata"][field], "{field}");
    }
    assert_eq!(left["spec"]["holderIdentity"], "");
    assert_eq!(left["spec"]["leaseTransitions"], 4);
}

#[tokio::test(start_paused = true)]
async fn a_stop_during_a_renewal_still_releases() {
    let lease = Kept::default();
    // The second renewal takes effect, but its answer never comes: the stop interrupts it.
    let api = {
        let lease = lease.clone();
        Api::new(move |_, asked| {
            let mut lease = lease.lock().unwrap();
            assert!(lease.puts < 20, "a release is not tried again and again");
            let answer = lease.serve(asked);
            let is_second = asked.method == "PUT" && lease.puts == 2;
            if is_second { Answer::Never } else { answer }
        })
    };
    let leader = candidate(&api, "first");
    leader.may_write(true).await;
    // Renewals come every two seconds.
    pass(Duration::from_millis(4_500)).await;
    assert_eq!(lease.lock().unwrap().puts, 2);
    leader.stop().await;
    assert_eq!(lease.lock().unwrap().holder(), "");
    assert_eq!(api.asks().last().unwrap().line(), format!("PUT {LEASE}"));
}
