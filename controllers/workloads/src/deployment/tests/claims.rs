//! Adoption and release.

use super::*;

fn orphan(image: &str, replicas: i32) -> ReplicaSet {
    set(
        image,
        replicas,
        merged(sized(3, 4), json!({"metadata": {"ownerReferences": null}})),
    )
}

fn stray() -> ReplicaSet {
    let labels = json!({"labels": {"app": "other", "pod-template-hash": null}});
    set("v1", 2, json!({"metadata": labels}))
}

#[test]
fn an_orphan_that_matches_is_adopted_after_the_server_was_asked() {
    let run = run(&store(deployment(3, json!({})), [orphan("v2", 3)]));
    assert_eq!(run.stage_names(), ["recheck", "claim", "status"]);
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d-1",
        "controller": true, "blockOwnerDeletion": true});
    let want =
        json!({"metadata": {"uid": "rs-v2", "resourceVersion": "5", "ownerReferences": [owner]}});
    assert_eq!(body(&run.stages[1].items[0]), want);
    assert_eq!(run.status_body()["status"]["updatedReplicas"], 3);
    assert_eq!(
        run.conditions()[1],
        "Progressing=True NewReplicaSetAvailable"
    );
}

#[test]
fn what_was_adopted_is_written_on_top_of_the_adoption() {
    let run = run(&store(
        deployment(3, json!({})),
        [orphan("v1", 3), set("v2", 1, sized(3, 4))],
    ));
    let patch = run
        .actions()
        .find(|action| short_is(action, "patch replicasets web-v1 to 2"));
    assert_eq!(body(patch.unwrap())["metadata"]["resourceVersion"], "100");
}

fn short_is(action: &Action, text: &str) -> bool {
    action.is_write() && short(action) == text
}

#[test]
fn a_deployment_that_was_replaced_or_deleted_adopts_nothing_but_still_releases() {
    for live in [
        json!({"metadata": {"uid": "d-2"}}),
        json!({"metadata": {"deletionTimestamp": ago(1)}}),
    ] {
        let store = store(deployment(3, json!({})), [orphan("v2", 3), stray()]);
        let run = run_with(&store, |action| match action {
            Action::Read(read) if is_get(read) => {
                let json = deployment_json(3, live.clone()).to_string();
                Answer::Read(Opaque::new(&json).unwrap())
            }
            other => granted(other),
        });
        assert_eq!(run.stage_names(), ["recheck", "claim"]);
        assert_eq!(run.writes(), ["patch replicasets web-v1"]);
        assert!(run.failed_with().is_some());
    }
}

#[test]
fn a_set_that_no_longer_matches_is_released() {
    let store = store(
        deployment(3, json!({})),
        [set("v2", 3, sized(3, 4)), stray()],
    );
    let run = run(&store);
    assert_eq!(
        run.writes(),
        ["patch replicasets web-v1", "update deployments/status web"]
    );
    let gone = json!({"$patch": "delete", "uid": "d-1"});
    let want =
        json!({"metadata": {"uid": "rs-v1", "resourceVersion": "5", "ownerReferences": [gone]}});
    assert_eq!(body(&run.stages[0].items[0]), want);
    assert_eq!(run.status_body()["status"]["replicas"], 3);
}

#[test]
fn what_is_gone_is_neither_adopted_nor_released_and_no_error() {
    for (code, reason, fails) in [
        (404, "NotFound", false),
        (422, "Invalid", false),
        (409, "Conflict", true),
    ] {
        let store = store(
            deployment(3, json!({})),
            [set("v2", 3, sized(3, 4)), stray()],
        );
        let run = run_with(&store, |action| match action {
            Action::Write(write) if write.verb == Verb::StrategicPatch => refused(code, reason),
            other => granted(other),
        });
        assert_eq!(run.failed_with().is_some(), fails, "release {reason}");
    }
    // The orphan that was to be the new one is gone: its younger twin takes its place.
    let twin = merged(
        sized(3, 4),
        json!({"metadata": {"name": "web-twin", "uid": "rs-twin",
        "creationTimestamp": ago(9)}}),
    );
    let store = store(
        deployment(3, json!({})),
        [orphan("v2", 3), set("v2", 1, twin)],
    );
    let run = run_with(&store, |action| match action {
        Action::Write(Write {
            verb: Verb::StrategicPatch,
            target,
            ..
        }) if target.name.name == "web-v2" => refused(404, "NotFound"),
        other => granted(other),
    });
    assert_eq!(run.failed_with(), None);
    assert!(
        run.writes()
            .contains(&"patch replicasets web-twin to 3".to_owned())
    );
}

#[test]
fn sets_of_others_and_orphans_that_do_not_match_are_ignored() {
    let other = json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1",
        "kind": "Deployment", "name": "x", "uid": "d-9", "controller": true}]}});
    let loner = json!({"metadata": {"ownerReferences": null, "labels": {"app": "x"}}});
    let going = json!({"metadata": {"ownerReferences": null, "deletionTimestamp": ago(1)}});
    let sets = [
        set("v1", 3, other),
        set("v3", 3, loner),
        set("v4", 1, going),
    ];
    let run = run(&store(deployment(3, json!({})), sets));
    assert_eq!(run.stage_names(), ["create", "status"]);
}

#[test]
fn a_deployment_on_its_way_out_only_counts() {
    let going =
        json!({"metadata": {"deletionTimestamp": ago(5), "finalizers": ["foregroundDeletion"]}});
    let sets = [set("v1", 2, json!({})), orphan("v2", 1)];
    let run = run(&store(deployment(3, going), sets));
    assert_eq!(run.writes(), ["update deployments/status web"]);
    let body = run.status_body();
    assert_eq!(body["status"]["replicas"], 2);
    assert_eq!(
        body["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
}

#[test]
fn an_empty_selector_is_refused_and_an_absent_one_selects_nothing() {
    let empty = json!({"spec": {"selector": {"matchLabels": null}}});
    let run = run(&store(deployment(3, empty), [orphan("v2", 3)]));
    assert_eq!(run.stage_names(), ["refuse"]);
    assert_eq!(
        run.messages(),
        ["SelectingAll: This deployment is selecting all pods. A non-empty selector is required."]
    );
    assert_eq!(
        run.status_body()["status"],
        json!({"observedGeneration": 2})
    );

    let observed = json!({"spec": {"selector": {"matchLabels": null}},
        "status": {"observedGeneration": 2}});
    assert_eq!(
        super::run(&store(deployment(3, observed), [])).writes(),
        [""; 0]
    );

    let absent = json!({"spec": {"selector": null}});
    let run = super::run(&store(deployment(3, absent), [orphan("v2", 3)]));
    assert_eq!(run.stage_names(), ["create", "status"]);
}

#[test]
fn a_selector_that_makes_no_sense_fails_the_sync_and_touches_nothing() {
    let nonsense = json!({"spec": {"selector": {"matchExpressions": [
        {"key": "app", "operator": "Resembles", "values": ["web"]}]}}});
    let run = run(&store(deployment(3, nonsense), [orphan("v2", 3)]));
    assert_eq!(run.writes(), [""; 0]);
    let error = run.failed_with().unwrap();
    assert!(
        error.starts_with("deployment shop/web has invalid label selector"),
        "{error}"
    );
}
