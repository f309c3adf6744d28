//! Events: bounded, in the background, sent again only where no answer came.

use std::sync::Arc;
use std::time::Duration;

use flyball_api::views::ObjectReference;
use flyball_plan::{Record, RecordKind};
use tokio::time::Instant;

use super::api::{Answer, Api, status};
use super::toys::shared;
use crate::events::{EventTask, Events, Sent};

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

struct Sink(Arc<Events>);

impl Sink {
    /// Events of a process that leads, or of a standby.
    fn new(api: &Api, leads: bool) -> Self {
        let shared = shared(api, (!leads).then_some(Duration::from_secs(10)));
        let events = Events::new("toy");
        let task = EventTask {
            events: events.clone(),
            client: api.client(),
            sent: Sent::Leading,
            shared,
        };
        tokio::spawn(task.run());
        Self(events)
    }

    fn record(&self, object: &str) {
        let now = crate::clock::Clock::start().now();
        self.0.record(&record(object), now);
    }

    /// Hurries, and comes back when nothing is left.
    async fn finish(&self) {
        self.0.hurry();
        while !self.0.is_idle() {
            tokio::task::yield_now().await;
        }
    }
}

const EVENTS: &str = "/api/v1/namespaces/shop/events";

#[tokio::test(start_paused = true)]
async fn the_first_is_created_the_same_again_is_patched() {
    let api = Api::new(|_, _| Answer::Is(201, "{}".to_owned()));
    let sink = Sink::new(&api, true);
    sink.record("web");
    sink.record("web");
    api.until(|asked| asked.method == "PATCH").await;
    let asks = api.asks();
    assert_eq!(asks[0].line(), format!("POST {EVENTS}"));
    let name = asks[0].json()["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(asks[1].line(), format!("PATCH {EVENTS}/{name}"));
    assert_eq!(asks[1].json()["count"], 2);
    sink.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_count_on_an_event_that_is_gone_creates_another() {
    let api = Api::new(|_, asked| match asked.method.as_str() {
        "PATCH" => status(404, "NotFound"),
        _ => Answer::Is(201, "{}".to_owned()),
    });
    let sink = Sink::new(&api, true);
    sink.record("web");
    sink.record("web");
    sink.finish().await;
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
    let sink = Sink::new(&api, true);
    sink.record("web");
    sink.record("db");
    sink.record("cache");
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
    let sink = Sink::new(&api, true);
    sink.record("web");
    sink.record("db");
    api.until(|asked| asked.body.contains("\"db\"")).await;
    assert_eq!(api.asks().len(), 13);
}

#[tokio::test(start_paused = true)]
async fn what_is_too_much_is_dropped_and_counted() {
    let api = Api::new(|_, _| Answer::Never);
    let sink = Sink::new(&api, true);
    sink.record("first");
    api.until(|_| true).await;
    // The one under way counts as waiting.
    for i in 0..1_005 {
        sink.record(&format!("web-{i}"));
    }
    assert_eq!(sink.0.dropped(), 6);
}

#[tokio::test(start_paused = true)]
async fn a_stop_sends_what_is_waiting_without_second_tries() {
    let api = Api::new(|_, _| Answer::Refused);
    let sink = Sink::new(&api, true);
    for name in ["a", "b", "c"] {
        sink.record(name);
    }
    api.until(|_| true).await;
    let start = Instant::now();
    sink.finish().await;
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(
        api.asks().len(),
        4,
        "the first again, then each of the others"
    );
}

#[tokio::test(start_paused = true)]
async fn a_standby_sends_no_events() {
    let api = Api::new(|_, _| Answer::Is(201, "{}".to_owned()));
    let sink = Sink::new(&api, false);
    sink.record("web");
    sink.finish().await;
    assert_eq!(api.asks().len(), 0);
}
