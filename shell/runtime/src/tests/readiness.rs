//! Health: what fails a probe, and what is only shown.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::ObjectName;
use flyball_api::views::{Node, Pod, ReplicaSet};
use flyball_informer::{Change, Snapshot, Watch};
use flyball_plan::{Answers, Controller, Descriptor, Keys, Now, Report, Rule, Step};
use flyball_process::Process;
use serde_json::json;
use tokio::sync::mpsc;

use super::api::{Answer, Api, pass};
use super::leases::Kept;
use super::toys::{TOY, engine, leading, options, setup};
use crate::health::Check;
use crate::metrics::Metrics;
use crate::run::{Running, Setup, start};

/// Watches three kinds.
struct Three;

impl Controller for Three {
    type Key = ObjectName;
    type Observation = ();
    type Memory = ();

    const DESCRIPTOR: Descriptor = Descriptor {
        watches: &[
            Watch::of::<ReplicaSet>(),
            Watch::of::<Pod>(),
            Watch::of::<Node>(),
        ],
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

/// A server with one Lease and no other objects, of which a part can go away.
struct Scene {
    api: Api,
    /// What is in the paths that are refused.
    away: Arc<Mutex<Option<&'static str>>>,
}

impl Scene {
    fn new() -> Self {
        let (lease, away) = (Kept::default(), Arc::default());
        let is_away = {
            let away: Arc<Mutex<Option<&str>>> = Arc::clone(&away);
            move |path: &str| away.lock().unwrap().is_some_and(|part| path.contains(part))
        };
        let api = Api::new(move |_, asked| match asked.path.as_str() {
            path if is_away(path) => Answer::Refused,
            path if path.contains("/leases") => lease.lock().unwrap().serve(asked),
            path if asked.method == "GET" => watch(path.to_owned(), is_away.clone()),
            _ => Answer::Is(201, "{}".to_owned()),
        });
        Self { api, away }
    }

    fn refuse(&self, part: Option<&'static str>) {
        *self.away.lock().unwrap() = part;
    }

    /// A runtime that has become leader and listed everything.
    async fn leader(&self, metrics: &mut Metrics) -> Running {
        let setup = Setup {
            election: Some((options("me"), self.api.client())),
            ..setup(&self.api, vec![engine(Three)])
        };
        let running = start(setup, metrics).unwrap();
        running.may_write(true).await;
        pass(Duration::from_secs(1)).await;
        assert_eq!(wrong(&running.health().ready()), [""; 0]);
        running
    }
}

/// An empty list by way of a watch, which breaks when its path is refused.
fn watch(path: String, is_away: impl Fn(&str) -> bool + Send + 'static) -> Answer {
    let (sender, lines) = mpsc::unbounded_channel();
    let (kind, api_version) = match path.as_str() {
        path if path.contains("/pods") => ("Pod", "v1"),
        path if path.contains("/nodes") => ("Node", "v1"),
        _ => ("ReplicaSet", "apps/v1"),
    };
    let end = json!({"kind": kind, "apiVersion": api_version, "metadata": {
        "resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}}});
    let line = format!("{}\n", json!({"type": "BOOKMARK", "object": end}));
    sender.send(Ok(line.into())).unwrap();
    tokio::spawn(async move {
        while !is_away(&path) {
            pass(Duration::from_millis(100)).await;
        }
        let _ = sender.send(Err(std::io::ErrorKind::ConnectionReset.into()));
    });
    Answer::Lines(lines)
}

/// The names of the checks that do not hold, with a mark for those that fail the probe.
fn wrong(checks: &[Check]) -> Vec<String> {
    let wrong = checks.iter().filter(|check| check.result.is_err());
    let named = wrong.map(|check| match check.is_well() {
        true => check.name.clone(),
        false => format!("{}!", check.name),
    });
    named.collect()
}

fn reason(running: &Running, name: &str) -> String {
    let checks = running.health().ready();
    let check = checks.into_iter().find(|check| check.name == name);
    check.unwrap().result.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn a_kind_out_of_touch_is_shown_and_fails_a_leader_after_half_a_minute() {
    let scene = Scene::new();
    let running = scene.leader(&mut Metrics::default()).await;
    let health = running.health();
    scene.refuse(Some("/pods"));
    pass(Duration::from_secs(3)).await;
    assert_eq!(
        wrong(&health.ready()),
        [""; 0],
        "shorter than is worth showing"
    );
    pass(Duration::from_secs(20)).await;
    assert_eq!(wrong(&health.ready()), ["informer/pods"]);
    let why = reason(&running, "informer/pods");
    assert!(
        why.starts_with("out of touch with the server for 2"),
        "{why}"
    );
    pass(Duration::from_secs(10)).await;
    assert_eq!(wrong(&health.ready()), ["informer/pods!"]);
    assert_eq!(wrong(&health.alive()), [""; 0]);
    scene.refuse(None);
    pass(Duration::from_secs(60)).await;
    assert_eq!(wrong(&health.ready()), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn an_outage_of_the_server_makes_a_standby_that_is_alive_and_ready() {
    let scene = Scene::new();
    let running = scene.leader(&mut Metrics::default()).await;
    let health = running.health();
    scene.refuse(Some("/"));
    for halves in 0..120 {
        pass(Duration::from_millis(500)).await;
        assert_eq!(wrong(&health.alive()), [""; 0], "after {halves} / 2 s");
    }
    let leads = |process: &Process, _| process.is_announced_leader();
    assert!(!running.shared.look(leads));
    let all = ["replicasets.apps", "pods", "nodes"].map(|kind| format!("informer/{kind}"));
    assert_eq!(wrong(&health.ready()), all);
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_lists_again_is_not_ready() {
    let scene = Scene::new();
    // Without a Lease every lost connection means that everything is listed again.
    let running = leading(&scene.api, vec![engine(Three)]);
    pass(Duration::from_secs(1)).await;
    let health = running.health();
    assert_eq!(wrong(&health.ready()), [""; 0]);
    scene.refuse(Some("/pods"));
    pass(Duration::from_secs(2)).await;
    assert_eq!(wrong(&health.ready()), ["toy-controller!"]);
    assert_eq!(reason(&running, "toy-controller"), "listing again");
    pass(Duration::from_secs(5)).await;
    assert_eq!(wrong(&health.ready()), ["toy-controller!", "informer/pods"]);
}

#[tokio::test(start_paused = true)]
async fn a_doubt_about_the_history_is_shown() {
    let scene = Scene::new();
    let mut metrics = Metrics::default();
    let running = scene.leader(&mut metrics).await;
    for line in [
        "flyball_history_doubt 0",
        "flyball_server_history_changes_total 0",
        "leader_election_master_status{name=\"flyball\"} 1",
    ] {
        let text = metrics.text();
        assert!(
            text.lines().any(|it| it == line),
            "{line} is not in\n{text}"
        );
    }
    scene.refuse(Some("/"));
    running.may_write(false).await;
    pass(Duration::from_secs(3)).await;
    let expected = "waiting for a sign that the server's history is the same, for 3 s";
    assert_eq!(reason(&running, "history"), expected);
    assert!(metrics.text().contains("\nflyball_history_doubt 1\n"));
    scene.refuse(None);
    running.may_write(true).await;
    assert!(metrics.text().contains("\nflyball_history_doubt 0\n"));
}
