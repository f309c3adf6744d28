//! Following discovery: kinds come and go, and what is broken stalls nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::views::Pod;
use flyball_plan::Driver;
use flyball_process::DiscoveryState;
use serde_json::json;
use tokio::sync::mpsc;

use super::api::{Answer, Api, pass, status};
use super::toys::{AllSeeing, Discovering, engine, leading};
use crate::run::Running;

/// The groups of a server, with one resource each; `None` is a group that discovery fails for.
type Groups = Arc<Mutex<BTreeMap<&'static str, Option<&'static str>>>>;

/// The open watches, by the plural of their resource.
type Watches = Arc<Mutex<BTreeMap<String, mpsc::UnboundedSender<std::io::Result<bytes::Bytes>>>>>;

struct Scene {
    groups: Groups,
    watches: Watches,
    api: Api,
    running: Running,
}

impl Scene {
    fn begin(driver: Box<dyn Driver>, groups: &[(&'static str, Option<&'static str>)]) -> Self {
        let groups: Groups = Arc::new(Mutex::new(groups.iter().copied().collect()));
        let watches = Watches::default();
        let api = Api::new({
            let (known, watches) = (groups.clone(), watches.clone());
            move |_, asked| {
                let path = asked.path.split('?').next().unwrap_or_default();
                let group = path.strip_prefix("/apis/").unwrap_or_default();
                let group = group.split('/').next().unwrap_or_default();
                match path {
                    "/api" => status(404, "NotFound"),
                    "/apis" => apis(&known),
                    _ if !group.is_empty() && !known.lock().unwrap().contains_key(group) => {
                        status(404, "NotFound")
                    }
                    _ if path.contains("broken") => status(500, "InternalError"),
                    _ if asked.path.contains("watch=true") => {
                        if asked.path.contains("sendInitialEvents") {
                            return status(422, "Invalid");
                        }
                        let (sender, lines) = mpsc::unbounded_channel();
                        let resource = path.rsplit('/').next().unwrap_or_default();
                        let mut watches = watches.lock().unwrap();
                        watches.insert(resource.to_owned(), sender);
                        Answer::Lines(lines)
                    }
                    _ => {
                        let metadata = json!({"resourceVersion": "1"});
                        let item = json!({"metadata": {"name": "a", "namespace": "n", "uid": "a"}});
                        let list = json!({"metadata": metadata, "items": [item]});
                        Answer::Is(200, list.to_string())
                    }
                }
            }
        });
        let running = leading(&api, vec![driver]);
        Self {
            groups,
            watches,
            api,
            running,
        }
    }

    fn discovery(&self) -> DiscoveryState {
        let state = |process: &flyball_process::Process, _| process.discovery().cloned();
        self.running.shared.look(state).unwrap()
    }

    fn set(&self, group: &'static str, resource: Option<&'static str>) {
        self.groups.lock().unwrap().insert(group, resource);
    }

    /// What is watched besides pods, with the number of cached objects.
    fn watched(&self) -> Vec<(&'static str, usize)> {
        let caches = self.running.caches().into_iter();
        let mut sizes: Vec<_> = caches
            .filter(|cache| cache.kind != Pod::KIND)
            .map(|cache| (cache.kind.plural, cache.len))
            .collect();
        sizes.sort_unstable();
        sizes
    }
}

fn apis(groups: &Groups) -> Answer {
    let groups = groups.lock().unwrap();
    let group = |(name, resource): (&&str, &Option<&str>)| {
        let version = match resource {
            None => json!({"version": "v1", "freshness": "Stale"}),
            Some(resource) => json!({"version": "v1", "resources": [{"resource": resource,
                "scope": "Namespaced", "verbs": ["list", "watch", "delete"],
                "responseKind": {"kind": resource.to_uppercase()}}]}),
        };
        json!({"metadata": {"name": name}, "versions": [version]})
    };
    let items: Vec<_> = groups.iter().map(group).collect();
    Answer::Is(200, json!({ "items": items }).to_string())
}

#[tokio::test(start_paused = true)]
async fn kinds_are_watched_as_they_come_and_left_as_they_go() {
    let scene = Scene::begin(
        engine(AllSeeing),
        &[("a.io", Some("as")), ("events.k8s.io", Some("events"))],
    );
    pass(Duration::from_secs(1)).await;
    assert_eq!(scene.watched(), [("as", 1)], "events are not watched");
    scene.set("b.io", Some("bs"));
    pass(Duration::from_secs(31)).await;
    assert_eq!(scene.watched(), [("as", 1), ("bs", 1)]);
    scene.groups.lock().unwrap().remove("a.io");
    pass(Duration::from_secs(31)).await;
    assert_eq!(scene.watched(), [("bs", 1)]);
    let kinds = scene.running.health().snapshot();
    assert!(kinds.discovery().unwrap().kind("a.io/v1", "AS").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_cannot_be_told_about_keeps_its_caches_and_is_named() {
    let scene = Scene::begin(
        engine(AllSeeing),
        &[("a.io", Some("as")), ("b.io", Some("bs"))],
    );
    pass(Duration::from_secs(1)).await;
    scene.set("a.io", None);
    pass(Duration::from_secs(31)).await;
    assert_eq!(scene.watched(), [("as", 1), ("bs", 1)]);
    let discovery = scene.discovery();
    assert_eq!(discovery.failures[0].0, "a.io/v1");
    assert_eq!(discovery.errors, 1);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_listed_stalls_no_other() {
    let scene = Scene::begin(
        engine(AllSeeing),
        &[("a.io", Some("as")), ("b.io", Some("broken"))],
    );
    pass(Duration::from_secs(5)).await;
    assert_eq!(scene.watched(), [("as", 1), ("broken", 0)]);
    let caches = scene.running.caches().into_iter();
    let unready: Vec<_> = caches
        .filter(|cache| !cache.is_current)
        .map(|cache| cache.kind.plural)
        .collect();
    assert_eq!(unready, ["broken"]);
}

#[tokio::test(start_paused = true)]
async fn a_broken_discovered_kind_is_named_and_leaves_the_process_ready() {
    let groups = [
        ("a.io", Some("as")),
        ("b.io", Some("broken")),
        ("c.io", None),
    ];
    let scene = Scene::begin(engine(AllSeeing), &groups);
    let health = scene.running.health();
    // Longer than a controller of all resources waits for a kind.
    pass(Duration::from_secs(31)).await;
    let checks = health.ready();
    let wrong: Vec<&str> = checks
        .iter()
        .filter(|check| check.result.is_err())
        .map(|check| check.name.as_str())
        .collect();
    assert_eq!(wrong, ["informer/broken.b.io", "discovery/c.io/v1"]);
    assert!(checks.iter().all(crate::Check::is_well));
}

#[tokio::test(start_paused = true)]
async fn a_change_of_what_brings_resources_is_followed_soon() {
    let crds = ("apiextensions.k8s.io", Some("customresourcedefinitions"));
    let scene = Scene::begin(engine(Discovering), &[crds, ("a.io", Some("as"))]);
    pass(Duration::from_secs(5)).await;
    let watched = scene.watched();
    assert_eq!(
        watched,
        [("customresourcedefinitions", 1)],
        "and nothing else"
    );
    let asked = || {
        scene
            .api
            .lines()
            .iter()
            .filter(|line| *line == "GET /apis")
            .count()
    };
    let before = asked();
    let definition = json!({"metadata": {"name": "bs.b.io", "uid": "b", "resourceVersion": "2"}});
    let line = format!("{}\n", json!({"type": "ADDED", "object": definition}));
    let watch = scene.watches.lock().unwrap()["customresourcedefinitions"].clone();
    watch.send(Ok(line.into())).unwrap();
    scene.set("b.io", Some("bs"));
    pass(Duration::from_secs(2)).await;
    assert_eq!(asked(), before + 1);
    let found = scene.running.health().snapshot();
    assert!(found.discovery().unwrap().kind("b.io/v1", "BS").is_some());
}
