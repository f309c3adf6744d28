//! Which items a change concerns.

use std::sync::Arc;

use flyball_api::Object;
use flyball_api::views::{Partial, Pod};
use flyball_informer::{Change, Snapshot};
use flyball_plan::{Controller, Now, Target};
use flyball_testkit::{Caches, World};
use serde_json::{Value, json};

use super::*;

/// An owner reference to a widget.
fn of(name: &str, block: bool) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "name": name,
        "uid": format!("widget-{name}"), "blockOwnerDeletion": block})
}

fn widget(name: &str, owners: &[Value]) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name, "ownerReferences": owners}})
}

fn waiting(mut object: Value, finalizer: &str) -> Value {
    object["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    object["metadata"]["finalizers"] = json!([finalizer]);
    object
}

/// A world, the caches that follow it, and what they say.
struct Scene {
    world: World,
    caches: Caches,
}

impl Scene {
    fn of(objects: &[Value]) -> Self {
        let mut world = prepared(World::default());
        for object in objects {
            world.put(object.clone());
        }
        let mut caches = Caches::watched_by::<GarbageCollector>(&world);
        caches.catch_up(&world);
        Self { world, caches }
    }

    fn snapshot(&self) -> Snapshot {
        self.caches.snapshot()
    }

    fn keys(&self, change: &Change) -> Vec<String> {
        let keys = GarbageCollector.route(change, &self.snapshot()).into_iter();
        keys.map(short).collect()
    }

    fn put(&mut self, object: Value) -> Vec<String> {
        self.world.put(object);
        self.seen()
    }

    fn remove(&mut self, name: &str) -> Vec<String> {
        let target = Target {
            kind: WIDGET,
            name: ObjectName::new("default", name),
        };
        assert!(self.world.remove(&target));
        self.seen()
    }

    /// What the changes since the last look lead to.
    fn seen(&mut self) -> Vec<String> {
        let changes = self.caches.catch_up(&self.world);
        changes
            .iter()
            .flat_map(|change| self.keys(change))
            .collect()
    }
}

fn short(item: Item) -> String {
    match item {
        Item::Object { name, .. } => name.name.to_string(),
        Item::Owner { name, .. } => format!("unseen {name}"),
    }
}

#[test]
fn the_dependents_of_what_is_gone_are_looked_at() {
    let mut scene = Scene::of(&[
        widget("a", &[]),
        widget("b", &[of("a", false)]),
        widget("c", &[of("a", true)]),
        widget("d", &[]),
    ]);
    assert_eq!(scene.remove("a"), ["b", "c"]);
    assert!(scene.remove("d").is_empty());
}

#[test]
fn an_owner_that_waits_is_looked_at_when_a_dependent_goes_or_lets_go() {
    let owner = || waiting(widget("a", &[]), "foregroundDeletion");
    let mut scene = Scene::of(&[
        owner(),
        widget("b", &[of("a", true)]),
        widget("c", &[of("a", true)]),
    ]);
    assert_eq!(scene.remove("b"), ["a", "b"]);
    assert_eq!(scene.put(widget("c", &[of("a", false)])), ["a", "a", "c"]);
    assert_eq!(scene.put(widget("c", &[])), ["a"]);
}

#[test]
fn an_owner_that_waits_is_looked_at_when_finalizers_hold_a_dependent() {
    let dependent = || widget("b", &[of("a", true)]);
    let owner = || waiting(widget("a", &[]), "foregroundDeletion");
    let mut scene = Scene::of(&[owner(), dependent()]);
    assert_eq!(scene.put(waiting(dependent(), "example.com/keep")), ["a"]);
    let mut labelled = waiting(dependent(), "example.com/keep");
    labelled["metadata"]["labels"] = json!({"x": "y"});
    assert!(
        scene.put(labelled).is_empty(),
        "the same finalizers hold it"
    );
    assert_eq!(scene.put(waiting(dependent(), "example.com/last")), ["a"]);
    let mut scene = Scene::of(&[widget("a", &[]), dependent()]);
    let held = scene.put(waiting(dependent(), "example.com/keep"));
    assert!(held.is_empty(), "the owner does not wait");
}

#[test]
fn an_owner_that_begins_to_wait_concerns_its_dependents() {
    let mut scene = Scene::of(&[widget("a", &[]), widget("b", &[of("a", true)])]);
    let begun = scene.put(waiting(widget("a", &[]), "foregroundDeletion"));
    assert_eq!(begun, ["b", "a"]);
    let mut again = waiting(widget("a", &[]), "foregroundDeletion");
    again["metadata"]["labels"] = json!({"x": "y"});
    assert!(scene.put(again).is_empty(), "it waits already");
    let mut scene = Scene::of(&[widget("a", &[]), widget("b", &[of("a", true)])]);
    assert_eq!(scene.put(waiting(widget("a", &[]), "orphan")), ["a"]);
}

#[test]
fn an_owner_that_no_cache_shows_is_to_be_asked_for() {
    let mut scene = Scene::of(&[]);
    assert_eq!(scene.put(widget("b", &[of("a", false)])), ["unseen a"]);
    assert!(scene.put(widget("a", &[])).is_empty());
    assert!(scene.put(widget("c", &[of("a", false)])).is_empty());
}

#[test]
fn what_is_made_anew_under_a_name_is_not_what_was_there() {
    let mut scene = Scene::of(&[widget("a", &[]), widget("b", &[of("a", false)])]);
    let mut other = widget("a", &[]);
    other["metadata"]["uid"] = "another".into();
    assert_eq!(scene.put(other), ["b"]);
}

#[test]
fn a_second_look_takes_nothing_for_known() {
    let mut scene = Scene::of(&[widget("b", &[of("a", false)])]);
    scene.seen();
    let snapshot = scene.snapshot();
    let view = snapshot.view_of(WIDGET).unwrap().of::<Partial>().unwrap();
    let cached = view.get("default", "b").unwrap().clone();
    let change = Change::resynced(cached).of_kind(WIDGET);
    assert_eq!(scene.keys(&change), ["unseen a"]);
}

#[test]
fn a_kind_that_vanished_is_no_deletion_of_its_objects() {
    let mut scene = Scene::of(&[widget("a", &[]), {
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
        pod["metadata"]["ownerReferences"] = json!([of("a", false)]);
        pod
    }]);
    scene.caches.forget(WIDGET, &scene.world);
    let item = Item::named("Pod default/p").unwrap();
    let seen = GarbageCollector
        .observe(&item, &scene.snapshot(), &Default::default())
        .unwrap();
    let step = GarbageCollector.step(&seen, &Default::default(), Now::at(scene.world.now()));
    assert!(format!("{step:?}").contains("OwnerKindUnknown"), "{step:?}");
}

#[test]
fn objects_that_some_controller_watches_in_full_count_as_well() {
    let pod = Pod::decode(
        br#"{"metadata":{"name":"p","namespace":"default","uid":"p","ownerReferences":[
            {"apiVersion":"example.com/v1","kind":"Widget","name":"a","uid":"widget-a"}]}}"#,
    );
    let scene = Scene::of(&[]);
    let change = Change::added(Arc::new(pod.unwrap()));
    assert_eq!(scene.keys(&change), ["unseen a"]);
}
