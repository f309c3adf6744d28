use flyball_api::{Class, LeanMeta};
use flyball_plan::rules::claim;
use flyball_plan::{Action, Answer, Body, Precondition, Propagation, Subresource, Write};

use super::*;
use crate::builders::{deployment, namespace, pod, replica_set};

fn create(name: &str) -> Action {
    let body =
        Body::of(&json!({"metadata": {"generateName": name}, "status": {"phase": "Failed"}}));
    Write::create(Pod::KIND, "default", body).into()
}

fn error(answer: &Answer) -> (Class, String) {
    let error = answer.error().unwrap();
    (error.class(), error.to_string())
}

fn written(answer: Answer) -> flyball_plan::Written {
    match answer {
        Answer::Done(written) => written,
        other => panic!("{other:?}"),
    }
}

/// A patch of a view, preconditions as given.
fn patch<T: Object>(meta: &LeanMeta, precondition: Precondition, patch: Value) -> Action {
    Write::patch(Target::of(T::kind(), meta), precondition, patch).into()
}

fn delete<T: Object>(meta: &LeanMeta) -> Action {
    Write::delete(T::kind(), meta).into()
}

#[test]
fn creates_get_names_identities_versions_and_no_status() {
    let mut world = World::of([pod("web-00001")]);
    let one = written(world.apply(&create("web-")));
    let two = written(world.apply(&create("web-")));
    assert_eq!(
        (&*one.name, &*two.name),
        ("web-00002", "web-00003"),
        "taken names are passed over"
    );
    assert_eq!((&*one.resource_version, &*two.resource_version), ("2", "3"));
    assert_eq!(one.uid.to_string(), "pod-web-00002");
    let made = world.json(Pod::KIND, "default", "web-00002").unwrap();
    assert_eq!(made["status"]["phase"], "Pending");
    assert_eq!(made["metadata"]["creationTimestamp"], json!(world.now()));
}

#[test]
fn a_second_incarnation_has_another_identity() {
    let mut world = World::of([pod("a")]);
    let target = Target {
        kind: Pod::KIND,
        name: ObjectName::new("default", "a"),
    };
    world.remove(&target);
    world.put(pod("a"));
    assert_eq!(
        world
            .get::<Pod>("default", "a")
            .unwrap()
            .metadata
            .uid
            .to_string(),
        "pod-a-2"
    );
}

#[test]
fn refuses_creates_that_upstream_refuses() {
    let mut world =
        World::of([namespace("default").with(json!({"status": {"phase": "Terminating"}}))]);
    let (class, message) = error(&world.apply(&create("web-")));
    assert_eq!(class, Class::NamespaceTerminating);
    assert_eq!(
        message,
        "pods \"web-\" is forbidden: unable to create new content in namespace default because it \
         is being terminated"
    );
    let mut world = World::of([replica_set("a")]);
    let body = Body::of(&json!({"metadata": {"name": "a"}}));
    let twice = Write::create(ReplicaSet::KIND, "default", body).into();
    let (class, message) = error(&world.apply(&twice));
    assert_eq!(class, Class::AlreadyExists);
    assert_eq!(message, "replicasets.apps \"a\" already exists");
}

#[test]
fn writes_by_a_stale_view_fail() {
    let mut world = World::of([replica_set("a")]);
    let seen: ReplicaSet = world.get("default", "a").unwrap();
    let target = Target::of(ReplicaSet::KIND, &seen.metadata);
    world.edit(&target, |set| set["metadata"]["labels"]["x"] = "y".into());
    let scale = json!({"spec": {"replicas": 5}});

    let unchanged = Precondition::unchanged(&seen.metadata);
    let (class, message) = error(&world.apply(&patch::<ReplicaSet>(
        &seen.metadata,
        unchanged.clone(),
        scale.clone(),
    )));
    assert_eq!(class, Class::Conflict);
    assert_eq!(
        message,
        "Operation cannot be fulfilled on replicasets.apps \"a\": the object has been modified; \
         please apply your changes to the latest version and try again"
    );
    let body = Body::of(&json!({"metadata": seen.metadata, "status": {"replicas": 1}}));
    let update = Write::update(target.clone(), unchanged, body)
        .to_subresource(Subresource::STATUS)
        .into();
    assert_eq!(error(&world.apply(&update)).0, Class::Conflict);

    world.remove(&target);
    world.put(replica_set("a"));
    let incarnation = Precondition::incarnation(&seen.metadata);
    let by_uid = patch::<ReplicaSet>(&seen.metadata, incarnation, scale);
    assert_eq!(error(&world.apply(&by_uid)).0, Class::Invalid);
    let (class, message) = error(&world.apply(&delete::<ReplicaSet>(&seen.metadata)));
    assert_eq!(class, Class::Conflict);
    assert!(
        message.contains("The object might have been deleted and then recreated"),
        "{message}"
    );
    assert_eq!(error(&world.apply(&update)).0, Class::Conflict);
}

#[test]
fn generation_counts_changes_of_the_desired_state_only() {
    let mut world = World::of([deployment("a"), replica_set("a")]);
    let generation = |world: &World, kind| {
        world.json(kind, "default", "a").unwrap()["metadata"]["generation"]
            .as_i64()
            .unwrap()
    };
    let note = json!({"metadata": {"annotations": {"x": "y"}}});
    for (kind, after) in [(Deployment::KIND, 2), (ReplicaSet::KIND, 1)] {
        let meta = match kind == Deployment::KIND {
            true => world.get::<Deployment>("default", "a").unwrap().metadata,
            false => world.get::<ReplicaSet>("default", "a").unwrap().metadata,
        };
        let precondition = Precondition::unchanged(&meta);
        let patch = Write::patch(Target::of(kind, &meta), precondition, note.clone());
        written(world.apply(&patch.into()));
        assert_eq!(
            generation(&world, kind),
            after,
            "annotations count for Deployments alone"
        );
    }
    let set: ReplicaSet = world.get("default", "a").unwrap();
    let scale = json!({"spec": {"replicas": 7}});
    let precondition = Precondition::unchanged(&set.metadata);
    written(world.apply(&patch::<ReplicaSet>(&set.metadata, precondition, scale)));
    assert_eq!(generation(&world, ReplicaSet::KIND), 2);
}

#[test]
fn status_writes_keep_the_spec_and_take_the_labels_but_of_deployments() {
    for kind in [Deployment::KIND, ReplicaSet::KIND] {
        let mut world = World::of([deployment("a"), replica_set("a")]);
        let mut body = world.json(kind, "default", "a").unwrap().clone();
        body["metadata"]["labels"] = json!({"new": "label"});
        body["metadata"]["annotations"] = json!({"new": "note"});
        body["status"] = json!({"replicas": 4});
        body.as_object_mut().unwrap().remove("spec");
        let meta = flyball_api::Meta::default();
        let target = Target {
            kind,
            name: ObjectName::new("default", "a"),
        };
        let update = Write::update(target, Precondition::unchanged(&meta), Body::of(&body))
            .to_subresource(Subresource::STATUS);
        written(world.apply(&update.into()));
        let after = world.json(kind, "default", "a").unwrap();
        assert_eq!(after["status"]["replicas"], 4);
        assert_eq!(after["spec"]["replicas"], 1);
        assert_eq!(after["metadata"]["annotations"]["new"], "note");
        assert_eq!(after["metadata"]["generation"], 1);
        assert_eq!(
            after["metadata"]["labels"]["new"] == "label",
            kind == ReplicaSet::KIND
        );
    }
}

#[test]
fn a_write_that_changes_nothing_makes_no_version() {
    let mut world = World::of([replica_set("a")]);
    let set: ReplicaSet = world.get("default", "a").unwrap();
    let same = json!({"spec": {"replicas": 1}});
    let precondition = Precondition::unchanged(&set.metadata);
    written(world.apply(&patch::<ReplicaSet>(&set.metadata, precondition, same)));
    assert_eq!(world.revision(), 1);
}

#[test]
fn adoption_and_release_change_one_owner_and_two_controllers_are_refused() {
    let mut world = World::of([replica_set("a"), replica_set("b"), pod("x")]);
    let owner = |world: &World, name| world.get::<ReplicaSet>("default", name).unwrap().metadata;
    let pod_meta = |world: &World| world.get::<Pod>("default", "x").unwrap().metadata;
    let (a, b) = (owner(&world, "a"), owner(&world, "b"));
    let adopt = |world: &World, owner: &LeanMeta| {
        let pod = pod_meta(world);
        let incarnation = Precondition::incarnation(&pod);
        claim::adopt(ReplicaSet::KIND, owner, Pod::KIND, &pod, incarnation)
    };
    let release = |world: &World, owner: &LeanMeta| {
        let pod = pod_meta(world);
        let incarnation = Precondition::incarnation(&pod);
        claim::release(&owner.uid, Pod::KIND, &pod, incarnation)
    };
    let adopted = adopt(&world, &a);
    written(world.apply(&adopted));
    assert!(pod_meta(&world).is_controlled_by(&a.uid));
    let steal = adopt(&world, &b);
    let (class, message) = error(&world.apply(&steal));
    assert_eq!(class, Class::Invalid);
    assert!(
        message.contains("references for ReplicaSet/a and ReplicaSet/b"),
        "{message}"
    );
    let released = release(&world, &b);
    written(world.apply(&released));
    assert!(
        pod_meta(&world).is_controlled_by(&a.uid),
        "releasing another's is no change"
    );
    let released = release(&world, &a);
    written(world.apply(&released));
    assert_eq!(pod_meta(&world).owner_references.len(), 0);
}

#[test]
fn running_pods_linger_and_others_go() {
    let mut world = World::of([
        pod("runs").ready(),
        pod("waits"),
        pod("ended").phase("Failed"),
        pod("held").finalizer("x/y"),
    ]);
    for pod in world.list::<Pod>("") {
        written(world.apply(&delete::<Pod>(&pod.metadata)));
    }
    let left: Vec<_> = world
        .list::<Pod>("")
        .iter()
        .map(|pod| pod.metadata.name.clone())
        .collect();
    assert_eq!(left, ["held", "runs"]);
    assert!(
        world
            .list::<Pod>("")
            .iter()
            .all(|pod| pod.metadata.is_deleting())
    );
    let held: Pod = world.get("default", "held").unwrap();
    let free = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/y"]}});
    let precondition = Precondition::incarnation(&held.metadata);
    written(world.apply(&patch::<Pod>(&held.metadata, precondition, free)));
    assert!(
        world.get::<Pod>("default", "held").is_none(),
        "its last finalizer is gone"
    );
    crate::kubelet::step(&mut world);
    assert_eq!(world.list::<Pod>("").len(), 0);
}

#[test]
fn a_deletion_may_be_hastened_but_not_slowed() {
    let mut world = World::of([pod("a").ready(), pod("held").ready().finalizer("x/y")]);
    let delete = |world: &mut World, name, grace_seconds| {
        let meta = world.get::<Pod>("default", name).unwrap().metadata;
        let delete = Write::delete(Pod::KIND, &meta);
        let delete = match grace_seconds {
            Some(seconds) => delete.within(seconds),
            None => delete,
        };
        written(world.apply(&delete.into()));
        let meta = |name| {
            world
                .json(Pod::KIND, "default", name)
                .map(|pod| &pod["metadata"])
        };
        let grace = |meta: &serde_json::Value| meta["deletionGracePeriodSeconds"].as_i64();
        meta(name).map(|meta| (grace(meta), meta["generation"].as_i64()))
    };
    // (asked for, left behind): the generation counts that it is going, not how fast.
    let going = |seconds| Some((Some(seconds), Some(2)));
    assert_eq!(delete(&mut world, "a", Some(20)), going(20));
    assert_eq!(delete(&mut world, "a", Some(25)), going(20));
    assert_eq!(delete(&mut world, "a", None), going(20));
    assert_eq!(delete(&mut world, "a", Some(5)), going(5));
    assert_eq!(delete(&mut world, "a", Some(0)), None);
    assert_eq!(delete(&mut world, "held", Some(0)), going(0));
    assert_eq!(delete(&mut world, "held", Some(0)), going(0));
}

#[test]
fn a_binding_assigns_a_pod_once() {
    let mut world = World::of([pod("a"), pod("going").finalizer("x/y")]);
    let meta = |world: &World, name| world.get::<Pod>("default", name).unwrap().metadata;
    let seen = meta(&world, "a");
    let bind = |meta: &LeanMeta, node| -> Action {
        Write::bind(
            Target::of(Pod::KIND, meta),
            Precondition::unchanged(meta),
            node,
        )
        .into()
    };
    let answer = written(world.apply(&bind(&seen, "node-1")));
    assert_eq!(answer.resource_version, "", "a Status has none");
    let bound = world.json(Pod::KIND, "default", "a").unwrap();
    assert_eq!(bound["spec"]["nodeName"], "node-1");
    assert_eq!(bound["status"]["conditions"][0]["type"], "PodScheduled");
    assert_eq!(bound["metadata"]["generation"], 1);
    // (pod, why not): seen before it was bound, bound already, another one, on its way out, gone.
    let bound = meta(&world, "a");
    let mut other = bound.clone();
    other.uid = "other".into();
    written(world.apply(&delete::<Pod>(&meta(&world, "going"))));
    let mut gone = bound.clone();
    gone.name = "gone".into();
    let refusals = [
        (seen, Class::Conflict, "ResourceVersion in precondition"),
        (
            bound,
            Class::Conflict,
            "pod a is already assigned to node \"node-1\"",
        ),
        (other, Class::Conflict, "UID in precondition"),
        (
            meta(&world, "going"),
            Class::Conflict,
            "is being deleted, cannot be assigned to a host",
        ),
        (gone, Class::NotFound, "not found"),
    ];
    for (meta, expected, why) in refusals {
        let (class, message) = error(&world.apply(&bind(&meta, "node-2")));
        assert_eq!(class, expected, "{message}");
        assert!(message.contains(why), "{message}");
    }
}

#[test]
fn orphaning_holds_the_object_until_someone_has_let_its_dependents_go() {
    let mut world = World::of([replica_set("a")]);
    let set: ReplicaSet = world.get("default", "a").unwrap();
    let delete = Write::delete(ReplicaSet::KIND, &set.metadata).propagating(Propagation::Orphan);
    written(world.apply(&delete.into()));
    let held: ReplicaSet = world.get("default", "a").unwrap();
    assert!(held.metadata.is_deleting() && *held.metadata.finalizers == ["orphan"]);
}

#[test]
fn faults_hit_the_request_they_were_planned_for() {
    let mut world = World::default();
    world.fail(1, Fault::Refused(flyball_api::ApiError::transport("no")));
    world.fail(2, Fault::AnswerLost);
    let answers: Vec<_> = (0..4).map(|_| world.apply(&create("a-"))).collect();
    let failed: Vec<_> = answers
        .iter()
        .map(|answer| answer.error().is_some())
        .collect();
    assert_eq!(failed, [false, true, true, false]);
    assert_eq!(
        world.list::<Pod>("").len(),
        3,
        "a lost answer is no lost effect"
    );
}

#[test]
fn the_past_can_be_seen_again() {
    let mut world = World::of([pod("a")]);
    let before = world.revision();
    world.apply(&create("b-"));
    let a = Target {
        kind: Pod::KIND,
        name: ObjectName::new("default", "a"),
    };
    world.remove(&a);
    let past = world.snapshot_at(before);
    assert!(past.get::<Pod>("default", "a").is_some());
    assert_eq!(past.list::<Pod>("").count(), 1);
    assert_eq!(world.snapshot().list::<Pod>("").count(), 1);
    assert_eq!(past.seen::<Pod>(), Some("1"));
    assert_eq!(world.at(before).list::<Pod>("").len(), 1);
    assert_eq!(world.states::<Pod>("default", "a").len(), 1);
}
