//! Publication: a controller plans from a list only once it is shown.

use std::sync::Mutex;
use std::time::Duration;

use flyball_api::ObjectName;
use flyball_api::views::{Pod, ReplicaSet};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{
    Actions, Answers, Body, Controller, Descriptor, Keys, Now, Report, Rule, Step, Write,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::api::{Answer, Api, pass};
use super::toys::{TOY, engine, leading};

/// Creates a pod for each set if it sees no pods at all.
struct OnePod;

impl Controller for OnePod {
    type Key = ObjectName;
    type Observation = bool;
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        watches: &[Watch::of::<ReplicaSet>(), Watch::of::<Pod>()],
        ..TOY
    };

    fn route(&self, change: &Change, _: &Snapshot) -> Keys<ObjectName> {
        vec![change.name.clone()]
    }

    fn observe(&self, _: &ObjectName, store: &Snapshot, _: &()) -> Option<bool> {
        Some(store.list::<Pod>("").next().is_some())
    }

    fn step(&self, has_pods: &bool, answers: &Answers, _: Now) -> Step {
        if *has_pods || answers.stage("create").is_some() {
            return Step::rest(Report::new(Rule::new("PodsExist", "there are pods")));
        }
        let body = Body::of(&json!({"metadata": {"generateName": "web-"}}));
        let create = Write::create(Pod::KIND, "shop", body);
        Step::Do(Actions::in_order("create", vec![create.into()]))
    }
}

/// A list by way of a watch: one object, and the bookmark that ends the list.
fn lines(kind: &str, api_version: &str) -> String {
    let object = |metadata: Value| {
        json!({"kind": kind, "apiVersion": api_version,
        "metadata": metadata})
    };
    let one = object(json!({"name": "a", "namespace": "shop", "uid": "a", "resourceVersion": "5"}));
    let end = object(json!({"resourceVersion": "5",
        "annotations": {"k8s.io/initial-events-end": "true"}}));
    let lines = [("ADDED", one), ("BOOKMARK", end)];
    let lines = lines.map(|(kind, object)| json!({"type": kind, "object": object}).to_string());
    lines.join("\n") + "\n"
}

#[tokio::test(start_paused = true)]
async fn nothing_is_planned_between_the_end_of_a_list_and_its_publication() {
    let (sender, receiver) = mpsc::unbounded_channel();
    let pods = Mutex::new(Some(receiver));
    let api = Api::new(move |_, asked| {
        if asked.method != "GET" {
            return Answer::Is(201, "{}".to_owned());
        }
        if asked.path.contains("/pods") {
            return Answer::Lines(pods.lock().unwrap().take().unwrap());
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        let lines = lines("ReplicaSet", "apps/v1");
        sender.send(Ok(lines.into())).unwrap();
        // The watch stays open as long as the process lives.
        std::mem::forget(sender);
        Answer::Lines(receiver)
    });
    let running = leading(&api, vec![engine(OnePod)]);
    // The sets have brought their key, and the pods are waited for.
    pass(Duration::from_millis(100)).await;
    let pods = || running.caches().pop().unwrap();
    assert!(!pods().readiness.synced);
    sender.send(Ok(lines("Pod", "v1").into())).unwrap();
    // The controller is woken in each turn of the event loop.
    let mut turns_between = 0;
    while !pods().is_current {
        turns_between += usize::from(pods().readiness.synced);
        running.shared.wakeups.controllers[0].notify_one();
        tokio::task::yield_now().await;
    }
    assert!(
        turns_between > 0,
        "the list was shown in the turn that completed it"
    );
    pass(Duration::from_secs(5)).await;
    let asks = api.asks();
    let writes = asks.iter().filter(|asked| asked.method != "GET");
    assert_eq!(writes.count(), 0, "{:#?}", api.lines());
    assert!(running.shared.look(|process, _| process.has_begun(0)));
}
