//! Which changes wake which Deployments.

use flyball_informer::Change;

use super::*;

fn names(change: &Change, store: &Snapshot) -> Vec<String> {
    controller()
        .route(change, store)
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn shared<T>(object: T) -> Arc<T> {
    Arc::new(object)
}

fn other(name: &str, uid: &str, selector: Value) -> Deployment {
    deployment(
        1,
        json!({"metadata": {"name": name, "uid": uid}, "spec": {"selector": selector}}),
    )
}

fn cluster() -> Snapshot {
    SnapshotBuilder::new()
        .add(deployment(3, json!({})))
        .add(other("same", "d-2", json!({"matchLabels": {"app": "web"}})))
        .add(other("else", "d-3", json!({"matchLabels": {"app": "db"}})))
        .add(other("empty", "d-4", json!({"matchLabels": null})))
        .add(other("absent", "d-5", Value::Null))
        .kind::<ReplicaSet>()
        .kind::<Pod>()
        .build()
}

fn orphan(change: Value) -> Arc<ReplicaSet> {
    shared(set(
        "v1",
        1,
        merged(json!({"metadata": {"ownerReferences": null}}), change),
    ))
}

#[test]
fn every_change_of_a_deployment_concerns_it() {
    let web = shared(deployment(3, json!({})));
    for change in [
        Change::added(web.clone()),
        Change::updated(web.clone(), web.clone()),
        Change::deleted(web.clone()),
        Change::resynced(web),
    ] {
        assert_eq!(names(&change, &cluster()), ["shop/web"]);
    }
}

#[test]
fn a_set_concerns_its_owner_and_the_owner_before() {
    let ours = shared(set("v1", 1, json!({})));
    let theirs = json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1",
        "kind": "Deployment", "name": "same", "uid": "d-2", "controller": true}]}});
    let theirs = shared(set("v1", 1, theirs));
    let cluster = cluster();
    assert_eq!(names(&Change::added(ours.clone()), &cluster), ["shop/web"]);
    assert_eq!(
        names(&Change::deleted(ours.clone()), &cluster),
        ["shop/web"]
    );
    assert_eq!(
        names(&Change::updated(ours.clone(), ours.clone()), &cluster),
        ["shop/web"]
    );
    let moved = Change::updated(ours.clone(), theirs);
    assert_eq!(names(&moved, &cluster), ["shop/web", "shop/same"]);
    assert_eq!(names(&Change::resynced(ours), &cluster), [""; 0]);
}

#[test]
fn an_owner_of_another_incarnation_or_kind_is_nobody() {
    for owner in [
        json!({"uid": "d-0"}),
        json!({"kind": "Rollout"}),
        json!({"name": "gone"}),
    ] {
        let owner = merged(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d-1",
                "controller": true}),
            owner,
        );
        let set = set("v1", 1, json!({"metadata": {"ownerReferences": [owner]}}));
        assert_eq!(names(&Change::added(shared(set)), &cluster()), [""; 0]);
    }
}

#[test]
fn an_orphan_concerns_whoever_could_adopt_it() {
    let cluster = cluster();
    let matching = ["shop/same", "shop/web"];
    assert_eq!(names(&Change::added(orphan(json!({}))), &cluster), matching);
    let strange = orphan(json!({"metadata": {"labels": {"app": "none"}}}));
    assert_eq!(
        names(
            &Change::updated(strange.clone(), orphan(json!({}))),
            &cluster
        ),
        matching
    );
    let released = Change::updated(shared(set("v1", 1, json!({}))), orphan(json!({})));
    assert_eq!(
        names(&released, &cluster),
        ["shop/web", "shop/same", "shop/web"]
    );
    // No news: what it matches is what it matched before.
    let grown = orphan(json!({"spec": {"replicas": 5}}));
    assert_eq!(
        names(&Change::updated(orphan(json!({})), grown), &cluster),
        [""; 0]
    );
    // Nobody cares for one that is going or gone, or has no labels.
    assert_eq!(
        names(&Change::deleted(orphan(json!({}))), &cluster),
        [""; 0]
    );
    let going = orphan(json!({"metadata": {"deletionTimestamp": ago(1)}}));
    assert_eq!(names(&Change::added(going), &cluster), [""; 0]);
    let bare = orphan(json!({"metadata": {"labels": null}}));
    assert_eq!(names(&Change::added(bare), &cluster), [""; 0]);
}

#[test]
fn the_last_pod_that_goes_wakes_a_recreation() {
    let recreate = json!({"spec": {"strategy": {"type": "Recreate"}}});
    let with = |strategy: Value, pods: Vec<Pod>| {
        SnapshotBuilder::new()
            .add(deployment(3, strategy))
            .add(set("v1", 0, json!({})))
            .add(set("v2", 3, json!({})))
            .add_all(pods)
            .build()
    };
    let last = shared(pod("last", "v1", json!({})));
    let gone = Change::deleted(last.clone());
    assert_eq!(names(&gone, &with(recreate.clone(), vec![])), ["shop/web"]);
    assert_eq!(names(&gone, &with(json!({}), vec![])), [""; 0]);
    let sibling = pod("sibling", "v2", json!({}));
    assert_eq!(
        names(&gone, &with(recreate.clone(), vec![sibling])),
        [""; 0]
    );
    let here = Change::added(last.clone());
    assert_eq!(names(&here, &with(recreate.clone(), vec![])), [""; 0]);
    let loner = shared(pod(
        "loner",
        "v1",
        json!({"metadata": {"ownerReferences": null}}),
    ));
    assert_eq!(
        names(&Change::deleted(loner), &with(recreate, vec![])),
        [""; 0]
    );
}
