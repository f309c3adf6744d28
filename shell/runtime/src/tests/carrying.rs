//! Carrying commands out: a later one drops the request of an earlier one.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use flyball_api::ObjectName;
use flyball_api::views::{Pod, ReplicaSet};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Keys, Now, Report, Rule, Step};
use serde_json::json;
use tokio::sync::mpsc;

use super::api::{Answer, Api, pass};
use super::toys::{TOY, engine, leading};

/// Watches two kinds.
struct Two;

impl Controller for Two {
    type Key = ObjectName;
    type Observation = ();
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        watches: &[Watch::of::<ReplicaSet>(), Watch::of::<Pod>()],
        ..TOY
    };

    fn route(&self, _: &Change, _: &Snapshot) -> Keys<ObjectName> {
        Keys::new()
    }

    fn observe(&self, _: &ObjectName, _: &Snapshot, _: &()) -> Option<()> {
        None
    }

    fn step(&self, (): &(), _: &Answers, _: Now) -> Step {
        Step::rest(Report::new(Rule::new("NothingToDo", "nothing to do")))
    }
}

type Watcher = mpsc::UnboundedSender<io::Result<Bytes>>;

/// ReplicaSets are there at once; requests for pods hold what is given and are never answered.
fn server(held: &Arc<()>, watcher: &Arc<Mutex<Option<Watcher>>>) -> Api {
    let (held, watcher) = (held.clone(), watcher.clone());
    Api::new(move |_, asked| {
        if asked.path.contains("/pods") {
            return Answer::Held(held.clone());
        }
        let (sender, lines) = mpsc::unbounded_channel();
        let end = json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {
            "resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}}});
        let line = format!("{}\n", json!({"type": "BOOKMARK", "object": end}));
        sender.send(Ok(line.into())).unwrap();
        *watcher.lock().unwrap() = Some(sender);
        Answer::Lines(lines)
    })
}

fn count(api: &Api, part: &str) -> usize {
    let lines = api.lines();
    lines.iter().filter(|line| line.contains(part)).count()
}

#[tokio::test(start_paused = true)]
async fn a_command_for_a_cache_drops_its_request_under_way() {
    let (held, watcher) = (Arc::new(()), Arc::default());
    let api = server(&held, &watcher);
    let requests = || Arc::strong_count(&held) - 2;
    let running = leading(&api, vec![engine(Two)]);
    pass(Duration::from_secs(1)).await;
    assert_eq!((count(&api, "/pods"), requests()), (1, 1));
    // Without a Lease a lost connection means that everything is listed again.
    let reset = io::ErrorKind::ConnectionReset;
    let sender = watcher.lock().unwrap().take().unwrap();
    sender.send(Err(reset.into())).unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!((count(&api, "/pods"), requests()), (2, 1));
    running.stop().await;
    pass(Duration::from_secs(1)).await;
    assert_eq!(requests(), 0, "a stop leaves nothing behind");
}

#[tokio::test(start_paused = true)]
async fn a_round_that_begins_ends_the_permission_of_the_one_before() {
    let (held, watcher) = (Arc::new(()), Arc::default());
    let api = server(&held, &watcher);
    let running = leading(&api, vec![engine(Two)]);
    pass(Duration::from_secs(1)).await;
    let before = running.shared.permissions.ends();
    let reset = io::ErrorKind::ConnectionReset;
    let sender = watcher.lock().unwrap().take().unwrap();
    sender.send(Err(reset.into())).unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(running.shared.permissions.ends(), before + 1);
    assert!(running.may_write_now());
}
