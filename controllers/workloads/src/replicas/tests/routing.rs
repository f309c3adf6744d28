//! Which keys a change asks to be synced.

use std::sync::Arc;

use flyball_informer::Change;

use super::*;

fn routed(change: &Change, store: &Snapshot) -> Vec<String> {
    let mut keys: Vec<String> = ReplicaSetController::default()
        .route(change, store)
        .iter()
        .map(ToString::to_string)
        .collect();
    keys.sort();
    keys
}

fn added(pod: Pod) -> Change {
    Change::added(Arc::new(pod))
}

fn updated(old: Pod, new: Pod) -> Change {
    Change::updated(Arc::new(old), Arc::new(new))
}

/// `web` and two more sets, one of which also selects `app=web`.
fn sets() -> Snapshot {
    let other = |name: &str, app: &str| {
        set(
            1,
            json!({"metadata": {"name": name, "uid": format!("set-{name}")},
            "spec": {"selector": {"matchLabels": {"app": app}}}}),
        )
    };
    SnapshotBuilder::new()
        .add(set(1, json!({})))
        .add(other("rival", "web"))
        .add(other("api", "api"))
        .kind::<Pod>()
        .build()
}

fn at_version(version: &str, pod: Pod) -> Pod {
    let mut pod = pod;
    pod.metadata.resource_version = version.into();
    pod
}

#[test]
fn every_change_of_an_owner_concerns_it() {
    let [old, new] = [1, 2].map(|replicas| Arc::new(set(replicas, json!({}))));
    let reborn = Arc::new(set(1, json!({"metadata": {"uid": "set-2"}})));
    for change in [
        Change::added(old.clone()),
        Change::updated(old.clone(), new),
        Change::updated(old.clone(), reborn),
        Change::deleted(old.clone()),
        Change::resynced(old),
    ] {
        assert_eq!(routed(&change, &sets()), ["shop/web"]);
    }
}

#[test]
fn an_owner_of_the_other_kind_concerns_nobody() {
    let change = Change::added(Arc::new(controller(1, json!({}))));
    assert!(routed(&change, &sets()).is_empty());
}

#[test]
fn a_pod_concerns_the_owner_it_refers_to() {
    for change in [
        added(pod("a")),
        updated(pod("a"), at_version("6", pod("a"))),
        Change::deleted(Arc::new(pod("a"))),
        added(pod_with(
            "a",
            json!({"metadata": {"deletionTimestamp": ago(1)}}),
        )),
    ] {
        assert_eq!(routed(&change, &sets()), ["shop/web"]);
    }
}

#[test]
fn a_pod_delivered_again_concerns_nobody() {
    assert!(routed(&Change::resynced(Arc::new(pod("a"))), &sets()).is_empty());
    assert!(routed(&updated(orphan("a"), orphan("a")), &sets()).is_empty());
}

#[test]
fn a_reference_must_fit_in_kind_name_and_uid() {
    for pod in [
        pod_of("ReplicationController", "set-1", "a", json!({})),
        pod_of("ReplicaSet", "set-0", "a", json!({})),
    ] {
        assert!(routed(&added(pod), &sets()).is_empty());
    }
    let renamed = json!([{"apiVersion": "v1", "kind": "ReplicaSet", "name": "gone",
        "uid": "set-1", "controller": true}]);
    let pod = pod_with("a", json!({"metadata": {"ownerReferences": renamed}}));
    assert!(routed(&added(pod), &sets()).is_empty());
}

#[test]
fn a_pod_that_changes_hands_concerns_both() {
    let now_of_api = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "api",
        "uid": "set-api", "controller": true}]);
    let new = pod_with("a", json!({"metadata": {"ownerReferences": now_of_api}}));
    let change = updated(pod("a"), at_version("6", new));
    assert_eq!(routed(&change, &sets()), ["shop/api", "shop/web"]);
}

#[test]
fn an_orphan_concerns_all_who_select_it() {
    let relabelled = pod_with(
        "a",
        json!({"metadata": {"ownerReferences": null, "labels": {"app": "other"}}}),
    );
    for change in [
        added(orphan("a")),
        updated(relabelled.clone(), at_version("6", orphan("a"))),
        updated(pod("a"), at_version("6", orphan("a"))),
    ] {
        assert_eq!(routed(&change, &sets()), ["shop/rival", "shop/web"]);
    }
    assert!(routed(&added(relabelled), &sets()).is_empty());
}

#[test]
fn an_orphan_that_looks_the_same_to_selectors_concerns_nobody() {
    assert!(routed(&updated(orphan("a"), at_version("6", orphan("a"))), &sets()).is_empty());
}

#[test]
fn an_orphan_on_its_way_out_concerns_nobody() {
    let going = pod_with(
        "a",
        json!({"metadata": {"ownerReferences": null, "deletionTimestamp": ago(1)}}),
    );
    assert!(routed(&added(going), &sets()).is_empty());
    assert!(routed(&Change::deleted(Arc::new(orphan("a"))), &sets()).is_empty());
}

#[test]
fn an_orphan_made_anew_under_its_name_concerns_those_who_select_it() {
    let reborn = pod_with(
        "a",
        json!({"metadata": {"ownerReferences": null, "uid": "pod-a2"}}),
    );
    assert_eq!(
        routed(&updated(orphan("a"), reborn), &sets()),
        ["shop/rival", "shop/web"]
    );
}

#[test]
fn no_orphan_concerns_an_owner_without_a_usable_selector() {
    for selector in [
        json!(null),
        json!({}),
        json!({"matchExpressions": [{"key": "a", "operator": "?"}]}),
    ] {
        let mut owner = set(1, json!({}));
        owner.spec.selector = serde_json::from_value(selector).unwrap();
        let store = store(owner, []);
        assert!(routed(&added(orphan("a")), &store).is_empty());
    }
}

#[test]
fn a_replication_controller_hears_of_its_pods() {
    let store = store(controller(1, json!({})), []);
    let own = pod_of("ReplicationController", "rc-1", "a", json!({}));
    for pod in [own, orphan("b")] {
        let keys = ReplicationControllerController::default().route(&added(pod), &store);
        assert_eq!(keys, [key()]);
    }
}
