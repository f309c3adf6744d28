//! Following discovery: kinds come and go, and what is broken stalls nothing else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flyball_api::views::Pod;
use flyball_informer::Watch;
use flyball_plan::Sight;
use serde_json::json;
use tokio::sync::mpsc;

use super::api::{Answer, Api, pass, status};
use crate::caches::Caches;
use crate::clock::{Clock, lock};
use crate::decisions::Decisions;
use crate::discovery::{Discovered, Discoverer};
use crate::feed::Feed;
use crate::loops::Loops;

/// A server whose groups have one resource each; `None` is a group that cannot be told about.
type Groups = Arc<Mutex<BTreeMap<&'static str, Option<&'static str>>>>;

struct Scene {
    groups: Groups,
    caches: Arc<Caches>,
    fares: Arc<Mutex<Discovered>>,
    api: Api,
    feed: Arc<Feed>,
}

impl Scene {
    fn begin(sight: Sight, groups: &[(&'static str, Option<&'static str>)]) -> Self {
        let groups: Groups = Arc::new(Mutex::new(groups.iter().copied().collect()));
        let known = groups.clone();
        let api = Api::new(move |_, asked| {
            let path = asked.path.split('?').next().unwrap_or_default();
            match path {
                "/api" => status(404, "NotFound"),
                "/apis" => apis(&known),
                _ if path.contains("broken") => status(500, "InternalError"),
                _ if asked.path.contains("watch=true") => {
                    if asked.path.contains("sendInitialEvents") {
                        return status(422, "Invalid");
                    }
                    // Open as long as the process lives.
                    let (sender, lines) = mpsc::unbounded_channel();
                    std::mem::forget(sender);
                    Answer::Lines(lines)
                }
                _ => {
                    let metadata = json!({"resourceVersion": "1"});
                    let item = json!({"metadata": {"name": "a", "namespace": "n", "uid": "a"}});
                    Answer::Is(
                        200,
                        json!({"metadata": metadata, "items": [item]}).to_string(),
                    )
                }
            }
        });
        let clock = Clock::start();
        let caches = Arc::new(Caches::new(&[Watch::of::<Pod>()], true));
        let feed = Arc::new(Feed {
            caches: caches.clone(),
            loops: Arc::new(Loops::new(Vec::new(), &Decisions::default(), clock)),
            client: api.client(),
            clock,
            resources_moved: Arc::default(),
        });
        let fares = Arc::default();
        tokio::spawn(Discoverer::new(feed.clone(), sight, Arc::clone(&fares)).run());
        Self {
            groups,
            caches,
            fares,
            api,
            feed,
        }
    }

    fn set(&self, group: &'static str, resource: Option<&'static str>) {
        self.groups.lock().unwrap().insert(group, resource);
    }

    /// What is watched besides pods, with the number of cached objects.
    fn watched(&self) -> Vec<(&'static str, usize)> {
        let sizes = self.caches.sizes().into_iter();
        let mut sizes: Vec<_> = sizes
            .filter(|(kind, _)| *kind != Pod::KIND)
            .map(|(kind, size)| (kind.plural, size))
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
        Sight::Everything,
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
    let kinds = scene.caches.snapshot();
    assert!(kinds.discovery().unwrap().kind("a.io/v1", "AS").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_group_that_cannot_be_told_about_keeps_its_caches_and_is_named() {
    let scene = Scene::begin(
        Sight::Everything,
        &[("a.io", Some("as")), ("b.io", Some("bs"))],
    );
    pass(Duration::from_secs(1)).await;
    scene.set("a.io", None);
    pass(Duration::from_secs(31)).await;
    assert_eq!(scene.watched(), [("as", 1), ("bs", 1)]);
    let fares = lock(&scene.fares);
    assert_eq!(fares.failures[0].0, "a.io/v1");
    assert_eq!(fares.errors, 1);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_cannot_be_listed_stalls_no_other() {
    let scene = Scene::begin(
        Sight::Everything,
        &[("a.io", Some("as")), ("b.io", Some("broken"))],
    );
    pass(Duration::from_secs(5)).await;
    assert_eq!(scene.watched(), [("as", 1), ("broken", 0)]);
    let unready = scene
        .caches
        .readiness(scene.feed.clock.monotonic())
        .into_iter();
    let unready: Vec<_> = unready
        .filter(|(kind, ready)| *kind != Pod::KIND && !ready.synced)
        .map(|(kind, _)| kind.plural)
        .collect();
    assert_eq!(unready, ["broken"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_broken_of_other_people_is_named_and_leaves_the_process_ready() {
    let groups = [
        ("a.io", Some("as")),
        ("b.io", Some("broken")),
        ("c.io", None),
    ];
    let scene = Scene::begin(Sight::Everything, &groups);
    let health = crate::Health {
        caches: scene.caches.clone(),
        discovered: scene.fares.clone(),
        loops: scene.feed.loops.clone(),
        term: Arc::new(crate::Term::forever()),
        clock: scene.feed.clock,
    };
    tokio::spawn(scene.feed.clone().run(scene.caches.slots()[0].clone()));
    pass(Duration::from_secs(5)).await;
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
    let scene = Scene::begin(Sight::Discovery, &[crds, ("a.io", Some("as"))]);
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
    scene.feed.resources_moved.notify_one();
    scene.set("b.io", Some("bs"));
    pass(Duration::from_secs(2)).await;
    assert_eq!(asked(), before + 1);
    let found = scene.caches.snapshot();
    assert!(found.discovery().unwrap().kind("b.io/v1", "BS").is_some());
}
