//! Whole families: what is left of them when the collector has done its work.

use flyball_api::views::{Deployment, Pod, ReplicaSet};
use flyball_plan::{Answer, Controller, Propagation, Question, Read, Write};
use flyball_testkit::builders::{deployment, pod, replica_set};
use flyball_testkit::{Moment, Runner, World};
use serde_json::{Value, json};

use super::*;

/// A Deployment, its ReplicaSet and three pods.
fn tree() -> World {
    let mut world = prepared(World::default());
    world.put(deployment("web").json());
    world.put(
        replica_set("web-1")
            .controlled_by("Deployment", "web")
            .json(),
    );
    for name in ["web-1-a", "web-1-b", "web-1-c"] {
        world.put(pod(name).controlled_by("ReplicaSet", "web-1").json());
    }
    world
}

fn delete(world: &mut World, how: Propagation) {
    let web = world.get::<Deployment>("default", "web").unwrap();
    let delete = Write::delete(Deployment::KIND, &web.metadata).propagating(how);
    let answer = world.apply(&delete.into());
    assert!(matches!(answer, Answer::Done(_)), "{answer:?}");
}

/// Runs the collector until nothing changes; the order in which objects went.
fn settle(world: &mut World) -> Vec<String> {
    let from = world.history().len();
    let mut runner = Runner::new(GarbageCollector, world);
    runner
        .converge(world, |_| (), &mut |_| Ok(()))
        .unwrap_or_else(|why| panic!("{why}"));
    let went = world.history()[from..].iter();
    went.filter(|written| written.state.is_none())
        .map(|written| written.id.1.name.to_string())
        .collect()
}

#[test]
fn background_owners_go_before_their_dependents() {
    let mut world = tree();
    delete(&mut world, Propagation::Background);
    let went = settle(&mut world);
    assert_eq!(went, ["web-1", "web-1-a", "web-1-b", "web-1-c"]);
    assert_eq!(world.objects().count(), 0);
}

#[test]
fn foreground_owners_go_after_their_dependents() {
    let mut world = tree();
    delete(&mut world, Propagation::Foreground);
    let went = settle(&mut world);
    assert_eq!(went, ["web-1-a", "web-1-b", "web-1-c", "web-1", "web"]);
}

#[test]
fn orphans_stay_and_keep_what_is_theirs() {
    let mut world = tree();
    delete(&mut world, Propagation::Orphan);
    assert_eq!(settle(&mut world), ["web"]);
    let set = world.get::<ReplicaSet>("default", "web-1").unwrap();
    assert!(set.metadata.owner_references.is_empty());
    let pods = world.list::<Pod>("");
    assert!(pods.iter().all(|pod| pod.metadata.controller().is_some()) && pods.len() == 3);
}

#[test]
fn more_dependents_than_fit_are_set_free_in_turns() {
    let mut world = prepared(World::default());
    world.put(replica_set("web").json());
    for i in 0..1_203 {
        world.put(
            pod(&format!("web-{i}"))
                .controlled_by("ReplicaSet", "web")
                .json(),
        );
    }
    let set = world.get::<ReplicaSet>("default", "web").unwrap();
    let delete = Write::delete(ReplicaSet::KIND, &set.metadata).propagating(Propagation::Orphan);
    world.apply(&delete.into());
    assert_eq!(settle(&mut world), ["web"]);
    let pods = world.list::<Pod>("");
    assert!(
        pods.iter()
            .all(|pod| pod.metadata.owner_references.is_empty())
    );
}

#[test]
fn many_dependents_of_one_absent_owner_ask_for_it_once() {
    let mut world = prepared(World::default());
    for i in 0..400 {
        world.put(
            pod(&format!("web-{i}"))
                .controlled_by("ReplicaSet", "web")
                .json(),
        );
    }
    let mut asked = 0;
    let mut runner = Runner::new(GarbageCollector, &world);
    let mut witness = |moment: Moment<'_>| {
        if let Moment::Before { action, .. } = moment {
            let asks = |read: &Read| matches!(read.question, Question::Exists { .. });
            asked += usize::from(action.read().is_some_and(asks));
        }
        Ok(())
    };
    runner.converge(&mut world, |_| (), &mut witness).unwrap();
    assert_eq!((asked, world.objects().count()), (1, 0));
}

#[test]
fn a_huge_list_of_owners_is_judged_in_turns_and_found_dead() {
    let owner = |i: usize| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": format!("m{i}"), "uid": format!("u{i}")});
    let mut world = prepared(World::default());
    let owners: Vec<Value> = (0..1_700).map(owner).collect();
    world.put(json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "ownerReferences": owners}}));
    assert_eq!(settle(&mut world), ["w"]);
}

#[test]
fn a_huge_list_of_owners_with_one_alive_is_stripped_and_stays() {
    let owner = |i: usize| json!({"apiVersion": "v1", "kind": "ConfigMap", "name": format!("m{i}"), "uid": format!("u{i}")});
    let mut world = prepared(World::default());
    let owners: Vec<Value> = (0..1_200).map(owner).collect();
    world.put(json!({"apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "ownerReferences": owners}}));
    world.put(json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "m1100", "uid": "u1100"}}));
    assert!(settle(&mut world).is_empty());
    let left = &world.json(WIDGET, "default", "w").unwrap()["metadata"]["ownerReferences"];
    let left: Vec<&Value> = left
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["uid"])
        .collect();
    assert_eq!(left, ["u1100"]);
}

#[test]
fn a_circle_in_which_all_live_stays() {
    let of = |name: &str| json!([{"apiVersion": "example.com/v1", "kind": "Widget", "name": name, "uid": format!("widget-{name}")}]);
    let mut world = prepared(World::default());
    for (name, owner) in [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")] {
        world.put(json!({"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": name, "ownerReferences": of(owner)}}));
    }
    assert!(settle(&mut world).is_empty());
}

#[test]
fn the_graph_shows_who_belongs_to_whom_and_who_is_missing() {
    let mut world = prepared(World::default());
    world.put(replica_set("web").uid("u-set").json());
    world.put(
        pod("web-a")
            .uid("u-pod")
            .controlled_by_uid("ReplicaSet", "web", "u-set")
            .json(),
    );
    world.put(
        pod("lost")
            .uid("u-lost")
            .controlled_by_uid("ReplicaSet", "x", "u-x")
            .json(),
    );
    world.put(pod("free").uid("u-free").json());
    let mut caches = flyball_testkit::Caches::watched_by::<GarbageCollector>(&world);
    caches.catch_up(&world);
    let text = graph(&caches.snapshot(), &[]);
    assert!(
        text.starts_with("strict digraph full {\n  // Node definitions.\n"),
        "{text}"
    );
    assert!(
        text.contains("\"u-pod\" -> \"u-set\";") && !text.contains("u-free"),
        "{text}"
    );
    assert!(
        text.contains("kind=\"ReplicaSet\"") && text.contains("missing=\"true\""),
        "{text}"
    );
    let one = graph(&caches.snapshot(), &["u-set".into()]);
    assert!(one.contains("u-pod") && !one.contains("u-lost"), "{one}");
    assert_eq!(
        graph(&caches.snapshot(), &["nobody".into()]),
        "strict digraph full {\n}\n"
    );
}

#[test]
fn its_names_are_upstreams() {
    let names = GarbageCollector::DESCRIPTOR;
    assert_eq!(names.client, "generic-garbage-collector");
    assert_eq!(names.component, "garbage-collector-controller");
}
