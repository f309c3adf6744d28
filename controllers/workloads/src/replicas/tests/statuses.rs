//! What is written about the pods, and when.

use std::time::Duration;

use flyball_plan::{Precondition, Subresource};

use super::*;

#[test]
fn counts_the_pods_as_they_were_before_this_sync() {
    let slow = json!({"spec": {"minReadySeconds": 600}});
    let pods = [
        pod("a"),
        pod_with(
            "b",
            json!({"status": {"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": ago(30)}]}}),
        ),
        unready("c"),
        pod_with("d", json!({"metadata": {"deletionTimestamp": ago(1)}})),
        pod_with(
            "e",
            json!({"metadata": {"deletionTimestamp": ago(1)}, "status": {"phase": "Failed"}}),
        ),
        pod_with(
            "f",
            json!({"metadata": {"deletionTimestamp": ago(1), "labels": {"app": "x"}}}),
        ),
    ];
    let change = merged(
        slow,
        json!({"spec": {"template":
        {"metadata": {"labels": {"tier": "front"}}}}}),
    );
    let played = sync(&store(set(5, change), pods));
    assert_eq!(played.stage("create").items.len(), 2);
    assert_eq!(
        played.status().unwrap(),
        json!({"replicas": 3, "readyReplicas": 2, "availableReplicas": 1,
            "terminatingReplicas": 1, "observedGeneration": 3})
    );
}

#[test]
fn counts_pods_with_all_labels_of_the_template() {
    let change = json!({"spec": {"template": {"metadata": {"labels": {"tier": "front"}}}}});
    let full = pod_with(
        "a",
        json!({"metadata": {"labels": {"tier": "front", "more": "x"}}}),
    );
    let played = sync(&store(set(2, change), [full, pod("b")]));
    assert_eq!(played.status().unwrap()["fullyLabeledReplicas"], 1);
}

#[test]
fn a_status_is_written_with_all_metadata_and_only_onto_the_state_that_was_seen() {
    let played = sync(&store(
        set(1, json!({"status": {"replicas": 9}})),
        [pod("a")],
    ));
    assert_eq!(played.stages(), ["tell"]);
    let [
        Action::Write(Write {
            verb: Verb::Update,
            target,
            subresource,
            precondition,
            body,
            ..
        }),
    ] = &played.stage("tell").items[..]
    else {
        panic!("{:?}", played.stages);
    };
    assert_eq!((target.kind, &target.name), (ReplicaSet::KIND, &key()));
    assert_eq!(*subresource, Subresource::STATUS);
    let unchanged = Precondition {
        uid: Some("set-1".into()),
        resource_version: Some("7".into()),
    };
    assert_eq!(*precondition, unchanged);
    let body = json_of(body.json());
    assert_eq!(
        (&body["apiVersion"], &body["kind"]),
        (&json!("apps/v1"), &json!("ReplicaSet"))
    );
    assert_eq!(body["metadata"]["labels"], json!({"app": "web"}));
    assert_eq!(body["metadata"]["annotations"], json!({"note": "kept"}));
    assert_eq!(body.get("spec"), None);
}

#[test]
fn each_number_and_the_generation_are_worth_a_write() {
    let metadata = json!({"metadata": {"generation": 4}});
    let field = |name: &str| json!({"status": {name: 9}});
    for change in [
        field("replicas"),
        field("fullyLabeledReplicas"),
        field("readyReplicas"),
        field("availableReplicas"),
        field("terminatingReplicas"),
        json!({"status": {"terminatingReplicas": null}}),
        metadata,
    ] {
        let played = sync(&store(set(1, change.clone()), [pod("a")]));
        assert_eq!(played.stages(), ["tell"], "{change}");
    }
}

#[test]
fn terminating_pods_are_not_counted_where_nobody_wants_to_know() {
    let going = pod_with("b", json!({"metadata": {"deletionTimestamp": ago(1)}}));
    let settings = ReplicasSettings {
        terminating_replicas: false,
        ..Default::default()
    };
    let sets = store(set(1, json!({})), [pod("a"), going]);
    let played = play_with::<ReplicaSetKind>(settings, &sets, |_, a| granted(a)).unwrap();
    assert_eq!(played.status().unwrap().get("terminatingReplicas"), None);

    let own = |name, change| pod_of("ReplicationController", "rc-1", name, change);
    let going = own("b", json!({"metadata": {"deletionTimestamp": ago(1)}}));
    let controllers = store(controller(1, json!({})), [own("a", json!({})), going]);
    let settings = ReplicasSettings::default();
    let played = play_with::<ReplicationControllerKind>(settings, &controllers, |_, a| granted(a));
    assert!(played.unwrap().stages.is_empty());
}

fn failing(reason: &str) -> Value {
    json!({"status": {"conditions": [
        {"type": "Other", "status": "True"},
        {"type": "ReplicaFailure", "status": "True", "reason": reason, "message": "first",
            "lastTransitionTime": ago(60)}]}})
}

#[test]
fn the_first_failure_stands_while_others_follow() {
    let store = store(
        set(
            1,
            merged(
                failing("FailedDelete"),
                json!({"status":
        {"replicas": 0, "fullyLabeledReplicas": 0, "readyReplicas": 0, "availableReplicas": 0}}),
            ),
        ),
        [],
    );
    let played = play(&store, |stage, action| match stage {
        "create" => failed(403, "Forbidden", "second"),
        _ => granted(action),
    });
    assert_eq!(played.status(), None);
    assert_eq!(played.told(), ["FailedCreate Error creating: second"]);
    assert_eq!(played.error(), Some("second"));
}

#[test]
fn a_failure_is_taken_back_when_all_goes_well() {
    let played = sync(&store(set(1, failing("FailedCreate")), [pod("a")]));
    let conditions = played.status().unwrap()["conditions"].clone();
    assert_eq!(conditions, json!([{"type": "Other", "status": "True"}]));
}

#[test]
fn a_failed_write_is_done_once_more_onto_the_newest_state() {
    let store = store(set(1, json!({"status": {"replicas": 9}})), [pod("a")]);
    let played = play(&store, |stage, action| match stage {
        "tell" => failed(409, "Conflict", "changed"),
        _ => granted(action),
    });
    assert_eq!(played.stages(), ["tell", "refresh", "tell-again"]);
    let Action::Write(Write {
        verb: Verb::Update,
        precondition,
        body,
        ..
    }) = &played.stage("tell-again").items[0]
    else {
        panic!("no update");
    };
    assert_eq!(precondition.resource_version.as_deref(), Some("9"));
    let body = json_of(body.json());
    assert_eq!(body["metadata"]["resourceVersion"], "9");
    // The generation that was acted on, not the one found later.
    assert_eq!(body["status"]["observedGeneration"], 3);
    assert_eq!(played.rest.revisit, Revisit::OnChange);
}

#[test]
fn a_write_that_fails_twice_is_tried_again_later() {
    let store = store(set(1, json!({"status": {"replicas": 9}})), [pod("a")]);
    let played = play(&store, |stage, action| match stage {
        "tell" => failed(409, "Conflict", "changed"),
        "tell-again" => failed(409, "Conflict", "changed again"),
        _ => granted(action),
    });
    assert_eq!(played.error(), Some("changed again"));
}

#[test]
fn an_owner_that_is_gone_or_another_needs_no_status() {
    let owner = || store(set(1, json!({"status": {"replicas": 9}})), [pod("a")]);
    let gone = Answer::Failed(ApiError::not_found(ReplicaSet::KIND, "web"));
    let played = play(&owner(), |_, _| gone.clone());
    assert_eq!(played.stages(), ["tell"]);
    assert_eq!(played.rest.revisit, Revisit::OnChange);

    let reborn = live(json!({"metadata": {"uid": "set-2"}}));
    let reborn = Answer::Read(Opaque::new(&reborn.to_string()).unwrap());
    for answer in [reborn, failed(404, "NotFound", "gone")] {
        let played = play(&owner(), |stage, _| match stage {
            "refresh" => answer.clone(),
            _ => failed(409, "Conflict", "changed"),
        });
        assert_eq!(played.stages(), ["tell", "refresh"]);
        assert_eq!(played.rest.revisit, Revisit::OnChange);
    }

    let played = play(&owner(), |stage, _| match stage {
        "refresh" => failed(500, "InternalError", "broken"),
        _ => failed(409, "Conflict", "changed"),
    });
    assert_eq!(played.error(), Some("broken"));
}

#[test]
fn a_failed_status_write_goes_before_a_failure_to_create() {
    let store = store(set(1, json!({})), []);
    let played = play(&store, |stage, action| match (stage, action) {
        ("create", _) => failed(403, "Forbidden", "quota"),
        (_, Action::Record(_)) => granted(action),
        _ => failed(500, "InternalError", "broken"),
    });
    assert_eq!(played.error(), Some("broken"));
}

#[test]
fn looks_again_when_the_next_pod_has_been_ready_for_long_enough() {
    let ready_for = |name: &str, seconds: i64| {
        pod_with(
            name,
            json!({"status": {"conditions": [
            {"type": "Ready", "status": "True", "lastTransitionTime": ago(seconds)}]}}),
        )
    };
    let owner = || set(3, json!({"spec": {"minReadySeconds": 60}}));
    let played = sync(&store(
        owner(),
        [ready_for("a", 10), ready_for("b", 45), ready_for("c", 60)],
    ));
    assert_eq!(played.status().unwrap()["availableReplicas"], 1);
    assert_eq!(played.rest.revisit, Revisit::After(Duration::from_secs(15)));
    let waits_for = played.rest.report.waits_for.map(|it| it.to_string());
    let waits_for = waits_for.as_deref();
    assert_eq!(
        waits_for,
        Some("Pod shop/a and 1 other to have been ready for 60 s")
    );

    let undated = json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}});
    let played = sync(&store(
        owner(),
        [
            ready_for("a", 90),
            ready_for("b", 90),
            pod_with("c", undated),
        ],
    ));
    assert_eq!(played.rest.revisit, Revisit::After(Duration::from_secs(60)));

    let played = sync(&store(
        owner(),
        [ready_for("a", 90), ready_for("b", 90), unready("c")],
    ));
    assert_eq!(played.rest.revisit, Revisit::OnChange);
    assert_eq!(
        played
            .rest
            .report
            .waits_for
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("Pod shop/c to become ready")
    );
}
