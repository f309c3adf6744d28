//! The whole runtime: from start to stop, and what is sent in which order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::ObjectName;
use flyball_api::views::{ObjectReference, Pod, ReplicaSet};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{
    Action, Actions, Answers, Body, Controller, Descriptor, Keys, Now, Record, RecordKind, Report,
    Rule, Step, Write,
};
use serde_json::json;
use tokio::time::Instant;

use super::api::{Answer, Api, Asked, pass};
use super::leases::{Kept, LEASE};
use super::toys::{TOY, engine, leading, options, setup};
use crate::health::Check;
use crate::metrics::Metrics;
use crate::run::{Running, Setup, start};

/// Creates three pods, one after the other, tells of it, and begins again a minute later.
struct Toy;

impl Controller for Toy {
    type Key = ObjectName;
    type Observation = Arc<ReplicaSet>;
    type Memory = ();

    const DESCRIPTOR: Descriptor = TOY;

    fn route(&self, change: &Change, _store: &Snapshot) -> Keys<ObjectName> {
        vec![change.name.clone()]
    }

    fn observe(&self, key: &ObjectName, store: &Snapshot, _: &()) -> Option<Arc<ReplicaSet>> {
        store.get::<ReplicaSet>(&key.namespace, &key.name).cloned()
    }

    fn step(&self, seen: &Arc<ReplicaSet>, answers: &Answers, _now: Now) -> Step {
        let Some(round) = answers.stage("create") else {
            let body = Body::of(&json!({"metadata": {"generateName": "web-"}}));
            let create = || Write::create(Pod::KIND, "shop", body.clone()).into();
            return Step::Do(Actions::in_order(
                "create",
                vec![create(), create(), create()],
            ));
        };
        if answers.stage("tell").is_none() {
            let record = Record {
                about: ObjectReference::of(ReplicaSet::KIND, &seen.metadata),
                kind: RecordKind::Normal,
                reason: "Created",
                message: format!("created {}", round.written().count()),
            };
            return Step::Do(Actions::in_order("tell", vec![Action::Record(record)]));
        }
        Step::rest_for(
            Duration::from_secs(60),
            Report::new(Rule::new("Done", "done")),
        )
    }
}

/// What pods are answered with.
type Pods = Arc<Mutex<fn() -> Answer>>;

fn created_in_a_second() -> Answer {
    let pod = r#"{"metadata":{"name":"web-1","uid":"u","resourceVersion":""}}"#;
    Answer::Later(Duration::from_secs(1), 201, pod.to_owned())
}

struct World {
    lease: Kept,
    pods: Pods,
    lease_silent: Arc<AtomicBool>,
    api: Api,
}

impl World {
    fn new() -> Self {
        let (lease, lease_silent) = (Kept::default(), Arc::new(AtomicBool::new(false)));
        let pods: Pods = Arc::new(Mutex::new(created_in_a_second));
        let inner = {
            let (pods, open) = (pods.clone(), Mutex::new(Vec::new()));
            move |asked: &Asked| match asked.path.as_str() {
                path if path.contains("/pods") => pods.lock().unwrap()(),
                path if path.contains("watch=true") => {
                    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
                    let set = json!({"metadata": {"name": "web", "namespace": "shop", "uid": "s",
                        "resourceVersion": "5"}});
                    let end = json!({"kind": "ReplicaSet", "metadata": {"resourceVersion": "5",
                        "annotations": {"k8s.io/initial-events-end": "true"}}});
                    for (kind, object) in [("ADDED", set), ("BOOKMARK", end)] {
                        let line = format!("{}\n", json!({"type": kind, "object": object}));
                        sender.send(Ok(line.into())).unwrap();
                    }
                    // The watch stays open as long as the server lives.
                    open.lock().unwrap().push(sender);
                    Answer::Lines(receiver)
                }
                _ => Answer::Is(201, "{}".to_owned()),
            }
        };
        let api = {
            let (lease, silent) = (lease.clone(), lease_silent.clone());
            Api::new(move |_, asked| {
                if !asked.path.contains("/leases") {
                    return inner(asked);
                }
                match silent.load(Ordering::SeqCst) {
                    true => Answer::Never,
                    false => lease.lock().unwrap().serve(asked),
                }
            })
        };
        Self {
            lease,
            pods,
            lease_silent,
            api,
        }
    }

    fn start(&self, shutdown_timeout: Duration) -> Running {
        let setup = Setup {
            election: Some((options("me"), self.api.client())),
            shutdown_timeout,
            ..setup(&self.api, vec![engine(Toy)])
        };
        start(setup, &mut Metrics::default()).unwrap()
    }

    fn sent(&self, line: &str) -> Vec<usize> {
        let lines = self.api.lines();
        let matching = lines
            .iter()
            .enumerate()
            .filter(|(_, sent)| sent.starts_with(line));
        matching.map(|(i, _)| i).collect()
    }
}

const PODS: &str = "POST /api/v1/namespaces/shop/pods";
const EVENTS: &str = "POST /api/v1/namespaces/shop/events";

#[tokio::test(start_paused = true)]
async fn a_stop_ends_writes_then_tells_events_then_releases_the_lease() {
    let world = World::new();
    let running = world.start(Duration::from_secs(30));
    world.api.until(|asked| asked.line() == PODS).await;
    let asked_to_stop = Instant::now();
    running.stop().await;
    // The sync under way came to its end: three pods, a second each.
    assert_eq!(asked_to_stop.elapsed(), Duration::from_secs(3));
    let pods = world.sent(PODS);
    let release = *world.sent(&format!("PUT {LEASE}")).last().unwrap();
    let told = *world.sent(EVENTS).last().unwrap();
    assert_eq!(pods.len(), 3);
    assert!(pods[2] < told && told < release, "{:#?}", world.api.lines());
    assert_eq!(
        release,
        world.api.lines().len() - 1,
        "nothing is sent after the release"
    );
    assert_eq!(world.lease.lock().unwrap().holder(), "");
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_takes_too_long_cuts_off_and_keeps_the_lease() {
    let world = World::new();
    *world.pods.lock().unwrap() = || {
        let pod = r#"{"metadata":{"name":"web-1"}}"#;
        Answer::Later(Duration::from_secs(50), 201, pod.to_owned())
    };
    let running = world.start(Duration::from_secs(5));
    world.api.until(|asked| asked.line() == PODS).await;
    let asked_to_stop = Instant::now();
    running.stop().await;
    assert!(asked_to_stop.elapsed() < Duration::from_secs(8));
    pass(Duration::from_secs(300)).await;
    assert_eq!(
        world.sent(PODS).len(),
        1,
        "the rest of the plan is not sent"
    );
    assert_eq!(
        world.lease.lock().unwrap().holder(),
        "me",
        "its last write may still land"
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_that_loses_its_lease_stops_writing_and_rejoins() {
    let world = World::new();
    let running = world.start(Duration::from_secs(5));
    world
        .api
        .until(|asked| asked.line().starts_with(EVENTS))
        .await;
    // From now on the server is silent about Leases, and slow to answer about pods.
    world.lease_silent.store(true, Ordering::SeqCst);
    let silent_at = Instant::now();
    pass(Duration::from_secs(600)).await;
    let late = |asked: &Asked| {
        asked.line().starts_with(PODS) && asked.at > silent_at + Duration::from_secs(10)
    };
    assert!(!world.api.asks().iter().any(late), "a write after the term");
    world.lease_silent.store(false, Ordering::SeqCst);
    world.api.until(late).await;
    assert_eq!(world.lease.lock().unwrap().holder(), "me");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_standby_fills_its_caches_and_writes_nothing() {
    let world = World::new();
    world.lease.lock().unwrap().store(json!({
        "metadata": {"name": "flyball", "namespace": "kube-system"},
        "spec": {"holderIdentity": "other", "leaseDurationSeconds": 3600},
    }));
    let running = world.start(Duration::from_secs(5));
    pass(Duration::from_secs(120)).await;
    assert!(running.health().ready().iter().all(crate::Check::is_well));
    assert_eq!(world.sent(PODS).len() + world.sent(EVENTS).len(), 0);
    running.stop().await;
    assert_eq!(
        world.lease.lock().unwrap().holder(),
        "other",
        "only a holder releases"
    );
}

/// A list without objects brings no change. Its end alone lets the controller begin.
#[tokio::test(start_paused = true)]
async fn a_controller_begins_once_its_kinds_are_listed_also_where_there_are_no_objects() {
    let api = Api::new(|_, _| {
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
        let end = json!({"type": "BOOKMARK", "object": {"kind": "ReplicaSet", "metadata": {
            "resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}}}});
        tokio::spawn(async move {
            // By now the controller has looked for the first time.
            pass(Duration::from_millis(50)).await;
            sender.send(Ok(format!("{end}\n").into())).unwrap();
            sender.closed().await;
        });
        Answer::Lines(receiver)
    });
    let began = Instant::now();
    let running = leading(&api, vec![engine(Toy)]);
    while !running.health().ready().iter().all(Check::is_well) {
        pass(Duration::from_millis(10)).await;
    }
    assert!(
        began.elapsed() < Duration::from_millis(500),
        "{:?}",
        began.elapsed()
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_a_running_sync_before_it_releases_the_lease() {
    let world = World::new();
    *world.pods.lock().unwrap() = || {
        let pod = r#"{"metadata":{"name":"web-1","uid":"u","resourceVersion":""}}"#;
        Answer::Later(Duration::from_secs(10), 201, pod.to_owned())
    };
    let running = world.start(Duration::ZERO);
    world.api.until(|asked| asked.line() == PODS).await;
    let stop = tokio::spawn(running.stop());
    // Three pods of ten seconds each: renewed all the while, and released only after.
    pass(Duration::from_secs(29)).await;
    assert_eq!(world.sent(PODS).len(), 3);
    assert_eq!(world.lease.lock().unwrap().holder(), "me");
    pass(Duration::from_secs(2)).await;
    stop.await.unwrap();
    assert_eq!(world.lease.lock().unwrap().holder(), "");
    let told = *world.sent(EVENTS).last().unwrap();
    assert!(world.sent(PODS)[2] < told, "{:#?}", world.api.lines());
}
