//! The sink of records: bounded, in the background, patient with silence only.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::ObjectReference;
use flyball_plan::{Record, RecordKind};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::api::{Answer, Api, status};
use crate::clock::Clock;
use crate::events::EventSink;
use crate::stop::Stopper;
use crate::term::Term;

fn record(object: &str) -> Record {
    Record {
        about: ObjectReference {
            kind: "ReplicaSet".into(),
            namespace: "shop".into(),
            name: object.into(),
            ..ObjectReference::default()
        },
        kind: RecordKind::Normal,
        reason: "SuccessfulCreate",
        message: "created".into(),
    }
}

fn sink(api: &Api, term: Term) -> (EventSink, JoinHandle<()>, Stopper) {
    let (sink, teller) = EventSink::new("toy", api.client(), Arc::new(term), Clock::start());
    let (stopper, stop) = Stopper::new();
    (sink, tokio::spawn(teller.run(stop)), stopper)
}

const EVENTS: &str = "/api/v1/namespaces/shop/events";

#[tokio::test(start_paused = true)]
async fn the_first_is_created_the_same_again_is_patched() {
    let api = Api::new(|_, _| Answer::Is(201, "{}".to_owned()));
    let (sink, teller, stopper) = sink(&api, Term::forever());
    sink.record(record("web"));
    sink.record(record("web"));
    api.until(|asked| asked.method == "PATCH").await;
    let asks = api.asks();
    assert_eq!(asks[0].line(), format!("POST {EVENTS}"));
    let name = asks[0].json()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(asks[1].line(), format!("PATCH {EVENTS}/{name}"));
    assert_eq!(asks[1].json()["count"], 2);
    stopper.stop();
    teller.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_count_on_an_event_that_is_gone_creates_it_anew() {
    let api = Api::new(|_, asked| match asked.method.as_str() {
        "PATCH" => status(404, "NotFound"),
        _ => Answer::Is(201, "{}".to_owned()),
    });
    let (sink, teller, stopper) = sink(&api, Term::forever());
    sink.record(record("web"));
    sink.record(record("web"));
    stopper.stop();
    teller.await.unwrap();
    let methods: Vec<_> = api.asks().into_iter().map(|asked| asked.method).collect();
    assert_eq!(methods, ["POST", "PATCH", "POST"]);
    assert_eq!(api.asks()[2].json()["count"], 2);
}

#[tokio::test(start_paused = true)]
async fn silence_is_tried_again_and_a_refusal_is_not() {
    let api = Api::new(|before, _| match before {
        0..3 => Answer::Refused,
        3 => Answer::Is(201, "{}".to_owned()),
        _ => status(403, "Forbidden"),
    });
    let start = Instant::now();
    let (sink, _teller, _stopper) = sink(&api, Term::forever());
    sink.record(record("web"));
    sink.record(record("db"));
    sink.record(record("cache"));
    api.until(|asked| asked.body.contains("cache")).await;
    let asks = api.asks();
    assert_eq!(asks.len(), 6, "{:?}", api.lines());
    // A random first pause of up to ten seconds, then ten each.
    assert!(asks[1].at - asks[0].at <= Duration::from_secs(10));
    assert_eq!(asks[2].at - asks[1].at, Duration::from_secs(10));
    assert!(start.elapsed() <= Duration::from_secs(31));
}

#[tokio::test(start_paused = true)]
async fn an_event_is_dropped_after_twelve_tries() {
    let api = Api::new(|before, _| match before {
        0..12 => Answer::Refused,
        _ => Answer::Is(201, "{}".to_owned()),
    });
    let (sink, _teller, _stopper) = sink(&api, Term::forever());
    sink.record(record("web"));
    sink.record(record("db"));
    api.until(|asked| asked.body.contains("\"db\"")).await;
    assert_eq!(api.asks().len(), 13);
}

#[tokio::test(start_paused = true)]
async fn what_is_too_much_is_dropped_and_counted() {
    let api = Api::new(|_, _| Answer::Never);
    let (sink, _teller, _stopper) = sink(&api, Term::forever());
    sink.record(record("first"));
    api.until(|_| true).await;
    for i in 0..1_005 {
        sink.record(record(&format!("web-{i}")));
    }
    assert_eq!(sink.dropped(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_stop_tells_what_is_waiting_without_second_tries() {
    let api = Api::new(|_, _| Answer::Refused);
    let (sink, teller, stopper) = sink(&api, Term::forever());
    for name in ["a", "b", "c"] {
        sink.record(record(name));
    }
    api.until(|_| true).await;
    let start = Instant::now();
    stopper.stop();
    teller.await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(
        api.asks().len(),
        4,
        "the first again, then each of the others"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_told_by_who_does_not_lead() {
    let api = Api::new(|_, _| Answer::Is(201, "{}".to_owned()));
    let (sink, teller, stopper) = sink(&api, Term::default());
    sink.record(record("web"));
    stopper.stop();
    teller.await.unwrap();
    assert_eq!(api.asks().len(), 0);
}
