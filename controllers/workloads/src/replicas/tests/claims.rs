//! Adoption and release.

use super::*;

fn stray(name: &str) -> Pod {
    pod_with(name, json!({"metadata": {"labels": {"app": "moved"}}}))
}

/// The patches of the claim stage, by pod.
fn patches(played: &Played) -> Vec<(String, Value)> {
    let patch = |action: &Action| match action {
        Action::Write(Write {
            verb: Verb::StrategicPatch,
            target,
            body,
            ..
        }) => (target.name.to_string(), json_of(body.json())),
        other => panic!("{other:?}"),
    };
    played.stage("claim").items.iter().map(patch).collect()
}

#[test]
fn adopts_a_matching_orphan_after_asking_whether_the_owner_lives() {
    let played = sync(&store(set(1, json!({})), [orphan("a")]));
    assert_eq!(played.stages(), ["recheck", "claim"]);
    let owner = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
        "uid": "set-1", "controller": true, "blockOwnerDeletion": true});
    let patch = json!({"metadata": {"uid": "pod-a", "ownerReferences": [owner]}});
    assert_eq!(patches(&played), [("shop/a".to_owned(), patch)]);
    assert_eq!(played.rest.revisit, Revisit::OnChange);
}

#[test]
fn releases_an_own_pod_that_no_longer_matches_and_replaces_it() {
    let played = sync(&store(set(1, json!({})), [stray("a")]));
    assert_eq!(played.stages(), ["claim", "create", "tell"]);
    let gone = json!({"$patch": "delete", "uid": "set-1"});
    let patch = json!({"metadata": {"uid": "pod-a", "ownerReferences": [gone]}});
    assert_eq!(patches(&played), [("shop/a".to_owned(), patch)]);
    assert_eq!(played.stage("create").items.len(), 1);
}

#[test]
fn releases_and_adopts_in_one_go() {
    let played = sync(&store(set(1, json!({})), [orphan("b"), stray("a")]));
    assert_eq!(played.stages(), ["recheck", "claim"]);
    assert_eq!(played.stage("claim").pace, Pace::Together);
    let names: Vec<String> = patches(&played).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["shop/a", "shop/b"]);
}

#[test]
fn leaves_alone_what_is_not_its_own() {
    let others = pod_of("ReplicaSet", "set-2", "a", json!({}));
    let unlike = pod_with(
        "b",
        json!({"metadata": {"ownerReferences": null, "labels": {"app": "other"}}}),
    );
    let ended = pod_with(
        "c",
        json!({"metadata": {"ownerReferences": null}, "status": {"phase": "Failed"}}),
    );
    let going = pod_with(
        "d",
        json!({"metadata": {"ownerReferences": null, "deletionTimestamp": ago(1)}}),
    );
    let elsewhere = pod_with(
        "e",
        json!({"metadata": {"ownerReferences": null, "namespace": "lab"}}),
    );
    let ended_stray = pod_with(
        "f",
        json!({"metadata": {"labels": {"app": "moved"}}, "status": {"phase": "Succeeded"}}),
    );
    let pods = [others, unlike, ended, going, elsewhere, ended_stray];
    assert!(sync(&store(set(0, json!({})), pods)).stages.is_empty());
}

#[test]
fn an_owner_being_deleted_neither_adopts_nor_releases() {
    let owner = set(1, json!({"metadata": {"deletionTimestamp": ago(1)}}));
    let played = sync(&store(owner, [pod("a"), orphan("b"), stray("c")]));
    assert!(played.stages.is_empty());
}

#[test]
fn adopts_nothing_if_the_owner_turns_out_to_be_another_or_deleted_or_gone() {
    let reborn = live(json!({"metadata": {"uid": "set-2"}}));
    let deleted = live(json!({"metadata": {"deletionTimestamp": ago(1)}}));
    let read = |object: Value| Answer::Read(Opaque::new(&object.to_string()).unwrap());
    for (answer, why) in [
        (
            read(reborn),
            "can't adopt Pod shop/a (pod-a): original ReplicaSet shop/web is gone",
        ),
        (
            read(deleted),
            "can't adopt Pod shop/a (pod-a): shop/web has just been deleted",
        ),
        (
            failed(404, "NotFound", "not there"),
            "can't adopt Pod shop/a (pod-a): not there",
        ),
    ] {
        let store = store(set(1, json!({})), [orphan("a")]);
        let played = play(&store, |_, _| answer.clone());
        assert_eq!(played.stages(), ["recheck"]);
        assert!(
            played.error().unwrap().starts_with(why),
            "{:?}",
            played.error()
        );
    }
}

#[test]
fn releases_even_if_adopting_is_not_allowed_and_then_fails() {
    let store = store(set(2, json!({})), [orphan("a"), orphan("b"), stray("c")]);
    let played = play(&store, |stage, action| match stage {
        "recheck" => failed(500, "InternalError", "broken"),
        _ => granted(action),
    });
    assert_eq!(played.stages(), ["recheck", "claim"]);
    assert_eq!(patches(&played).len(), 1);
    assert_eq!(
        played.error(),
        Some("can't adopt Pod shop/a (pod-a): broken (and 1 more)")
    );
}

#[test]
fn a_failed_adoption_is_tried_again_before_anything_else() {
    let store = store(set(3, json!({})), [orphan("a")]);
    let played = play(&store, |stage, action| match stage {
        "claim" => failed(409, "Conflict", "changed"),
        _ => granted(action),
    });
    assert_eq!(played.stages(), ["recheck", "claim"]);
    assert_eq!(played.error(), Some("changed"));
}

#[test]
fn an_orphan_that_is_gone_is_not_counted() {
    let store = store(set(1, json!({})), [orphan("a")]);
    let played = play(&store, |stage, action| match stage {
        "claim" => failed(404, "NotFound", "gone"),
        _ => granted(action),
    });
    assert_eq!(played.stage("create").items.len(), 1);
    assert_eq!(played.error(), None);
}

#[test]
fn a_release_of_what_is_gone_or_nobodys_counts_as_done() {
    for (code, reason, error) in [
        (404, "NotFound", None),
        (422, "Invalid", None),
        (409, "Conflict", Some("no")),
        (500, "InternalError", Some("no")),
    ] {
        let store = store(set(0, json!({})), [stray("a")]);
        let played = play(&store, |_, _| failed(code, reason, "no"));
        assert_eq!(played.error(), error, "{reason}");
    }
}

#[test]
fn more_orphans_than_a_plan_may_hold_are_adopted_in_portions_before_anything_else() {
    let orphans = (0..BURST + 3).map(|i| orphan(&format!("p{i:04}")));
    let played = sync(&store(set(1000, json!({})), orphans));
    assert_eq!(played.stages(), ["recheck", "claim"]);
    assert_eq!(patches(&played).len(), BURST);
    assert_eq!(
        played.rest.revisit,
        Revisit::After(std::time::Duration::ZERO)
    );
    assert_eq!(
        played
            .rest
            .report
            .waits_for
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("the next batch")
    );
}

#[test]
fn a_replication_controller_adopts_in_its_own_name() {
    let store = store(controller(1, json!({})), [orphan("a")]);
    let played =
        play_with::<ReplicationControllerKind>(ReplicasSettings::default(), &store, |_, action| {
            match action {
                Action::Read(read) if is_get(read) => {
                    let live = live(json!({"metadata": {"uid": "rc-1"}}));
                    Answer::Read(Opaque::new(&live.to_string()).unwrap())
                }
                _ => granted(action),
            }
        })
        .unwrap();
    let owner = &patches(&played)[0].1["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["apiVersion"], &owner["kind"]),
        (&json!("v1"), &json!("ReplicationController"))
    );
}
