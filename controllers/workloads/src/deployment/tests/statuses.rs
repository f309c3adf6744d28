//! Counts, conditions, pausing and the history. After upstream's
//! `TestGetTerminatingReplicaCountForReplicaSets`, `TestSetCondition`, `cleanupDeployment` tables.

use super::super::cleanup::surplus;
use super::super::conditions;
use super::*;

#[test]
fn the_counts_are_sums_over_the_sets() {
    let numbers = |replicas: i32, ready: i32, up: i32, going: i32| {
        json!({"status": {"replicas": replicas, "readyReplicas": ready, "availableReplicas": up,
            "terminatingReplicas": going}})
    };
    let sets = [
        set("v1", 4, merged(sized(10, 13), numbers(5, 4, 3, 2))),
        set("v2", 9, merged(sized(10, 13), numbers(7, 6, 5, 1))),
    ];
    let change = json!({"status": {"collisionCount": 4}});
    let status = run(&store(deployment(10, change), sets)).status_body()["status"].clone();
    let want = json!({"observedGeneration": 2, "replicas": 12, "updatedReplicas": 7,
        "readyReplicas": 10, "availableReplicas": 8, "unavailableReplicas": 5,
        "terminatingReplicas": 3, "collisionCount": 4});
    for (field, value) in want.as_object().unwrap() {
        assert_eq!(status[field], *value, "{field}");
    }
}

#[test]
fn terminating_pods_are_unknown_if_a_synced_set_does_not_count_them() {
    let terminating = |observed: i64, count: Value| {
        let status =
            json!({"status": {"observedGeneration": observed, "terminatingReplicas": count}});
        let sets = [
            set("v1", 0, status),
            set("v2", 3, merged(sized(3, 4), available(1))),
        ];
        run(&store(deployment(3, json!({})), sets)).status_body()["status"]["terminatingReplicas"]
            .clone()
    };
    assert_eq!(terminating(1, json!(2)), json!(2));
    assert_eq!(terminating(0, json!(null)), json!(0));
    assert_eq!(terminating(1, json!(null)), json!(null));

    let off = DeploymentController::new(DeploymentSettings {
        terminating_replicas: false,
    });
    let store = store(deployment(3, json!({})), [set("v2", 3, sized(3, 4))]);
    let seen = off.observe(&key(), &store, &()).unwrap();
    let Step::Do(actions) = off.step(&seen, &Answers::none(), Now::at(NOW)) else {
        panic!()
    };
    assert!(
        body(&actions.items[0])["status"]
            .get("terminatingReplicas")
            .is_none()
    );
}

#[test]
fn available_means_no_more_missing_than_allowed() {
    let said = |up: i32| {
        let sets = [set("v2", 10, merged(sized(10, 13), available(up)))];
        run(&store(deployment(10, json!({})), sets)).conditions()
    };
    assert!(said(8).contains(&"Available=True MinimumReplicasAvailable".to_owned()));
    assert!(said(7).contains(&"Available=False MinimumReplicasUnavailable".to_owned()));
}

#[test]
fn trouble_of_the_new_set_is_told_before_that_of_old_ones_and_taken_back() {
    let trouble = |message: &str| {
        json!({"status": {"conditions": [{"type": "ReplicaFailure", "status": "True",
            "reason": "FailedCreate", "message": message, "lastTransitionTime": ago(9)}]}})
    };
    let sets = [
        set("v1", 1, merged(sized(3, 4), trouble("old"))),
        set("v2", 3, merged(sized(3, 4), trouble("new"))),
    ];
    let run = run(&store(deployment(3, json!({})), sets));
    let body = run.status_body();
    let failure = body["status"]["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|condition| condition["type"] == "ReplicaFailure")
        .unwrap();
    assert_eq!(failure["message"], "new");
    assert_eq!(failure["lastUpdateTime"], ago(9));

    let change = json!({"status": body["status"].clone()});
    let healed = super::run(&store(deployment(3, change), [set("v2", 3, sized(3, 4))]));
    assert!(
        !healed
            .conditions()
            .iter()
            .any(|c| c.starts_with("ReplicaFailure"))
    );
}

#[test]
fn a_condition_is_said_again_only_for_another_status_or_reason() {
    use flyball_api::ConditionStatus::{False, True};
    let earlier = Timestamp::from_unix_seconds(NOW.unix_seconds() - 60);
    let mut status = flyball_api::views::DeploymentStatus::default();
    let say = |holds, reason: &str, message: &str, at| {
        conditions::condition("Available", holds, reason, message, at)
    };
    conditions::set(&mut status, say(True, "A", "first", earlier));
    conditions::set(&mut status, say(True, "A", "second", NOW));
    assert_eq!(status.conditions[0].message, "first");
    conditions::set(&mut status, say(True, "B", "third", NOW));
    let kept = &status.conditions[0];
    assert_eq!(kept.last_transition_time, Some(earlier));
    assert_eq!(kept.last_update_time, Some(NOW));
    conditions::set(&mut status, say(False, "B", "fourth", NOW));
    assert_eq!(status.conditions[0].last_transition_time, Some(NOW));
    assert_eq!(status.conditions.len(), 1);
}

#[test]
fn the_history_is_cut_from_the_lowest_revision() {
    let names = |limit: Value, sets: &[Set]| -> Vec<String> {
        let deployment = deployment(3, json!({"spec": {"revisionHistoryLimit": limit}}));
        surplus(&deployment, sets)
            .iter()
            .map(|set| set.name().to_owned())
            .collect()
    };
    let empty = |image: &str| member(image, 0, json!({}));
    let three = [empty("v1"), empty("v2"), empty("v3")];
    assert_eq!(names(json!(1), &three), ["web-v1", "web-v2"]);
    assert_eq!(names(json!(0), &three).len(), 3);
    assert_eq!(names(json!(3), &three).len(), 0);
    assert_eq!(names(json!(null), &three).len(), 0);
    assert_eq!(names(json!(i32::MAX), &three).len(), 0);
    // By revision, not by age.
    let renumbered =
        json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "9"}}});
    let reused = [member("v1", 0, renumbered), empty("v2")];
    assert_eq!(names(json!(1), &reused), ["web-v2"]);
    // Those in use count towards the limit, but stay.
    let busy = [
        member("v1", 1, json!({})),
        member("v2", 0, json!({"status": {"replicas": 1}})),
        member("v3", 0, json!({"metadata": {"generation": 2}})),
        member("v4", 0, json!({"metadata": {"deletionTimestamp": ago(1)}})),
        empty("v5"),
    ];
    assert_eq!(names(json!(0), &busy), ["web-v5"]);
}

fn complete(replicas: i32) -> Value {
    json!({"spec": {"revisionHistoryLimit": 0},
        "status": {"observedGeneration": 2, "replicas": replicas, "updatedReplicas": replicas,
            "readyReplicas": replicas, "availableReplicas": replicas}})
}

#[test]
fn the_history_is_cleaned_up_once_the_roll_out_is_complete() {
    let sets = || [set("v1", 0, json!({})), set("v2", 3, sized(3, 4))];
    let done = run(&store(deployment(3, complete(3)), sets()));
    assert_eq!(
        done.writes(),
        ["delete replicasets web-v1", "update deployments/status web"]
    );
    let Action::Write(Write {
        verb: Verb::Delete { .. },
        precondition,
        ..
    }) = &done.stages[0].items[0]
    else {
        panic!()
    };
    assert_eq!(precondition.resource_version.as_deref(), Some("5"));

    let going = run(&store(deployment(3, complete(2)), sets()));
    assert_eq!(going.writes(), ["update deployments/status web"]);
}

#[test]
fn a_deletion_that_comes_too_late_is_no_failure_of_the_status() {
    let sets = || {
        [
            set("v0", 0, json!({})),
            set("v1", 0, json!({})),
            set("v2", 3, sized(3, 4)),
        ]
    };
    for (code, reason, stages) in [
        (404, "NotFound", vec!["clean-up", "status"]),
        (409, "Conflict", vec!["clean-up", "status"]),
        (500, "InternalError", vec!["clean-up"]),
    ] {
        let store = store(deployment(3, complete(3)), sets());
        let run = run_with(&store, |action| match action {
            Action::Write(Write {
                verb: Verb::Delete { .. },
                ..
            }) => refused(code, reason),
            other => granted(other),
        });
        assert_eq!(run.stage_names(), stages, "{reason}");
        assert!(run.failed_with().is_some());
    }
}

#[test]
fn pausing_stops_the_roll_out_but_not_the_scaling() {
    let paused = json!({"spec": {"paused": true}});
    // The template is new, but no set is created for it.
    let still = run(&store(
        deployment(3, paused.clone()),
        [set("v1", 3, sized(3, 4))],
    ));
    assert_eq!(still.writes(), ["update deployments/status web"]);
    assert!(
        still
            .conditions()
            .contains(&"Progressing=Unknown DeploymentPaused".to_owned())
    );
    assert_eq!(
        still
            .rest
            .report
            .waits_for
            .as_ref()
            .map(ToString::to_string)
            .as_deref(),
        Some("a change of spec.paused of Deployment shop/web")
    );

    let scaled = run(&store(
        deployment(5, paused.clone()),
        [set("v1", 3, sized(3, 4))],
    ));
    assert_eq!(
        scaled.writes(),
        [
            "patch replicasets web-v1 to 5",
            "update deployments/status web"
        ]
    );

    let limit = merged(paused, json!({"spec": {"revisionHistoryLimit": 0}}));
    let sets = [set("v0", 0, json!({})), set("v1", 3, sized(3, 4))];
    let cleaned = run(&store(deployment(3, limit), sets));
    assert_eq!(cleaned.writes()[0], "delete replicasets web-v0");
}

#[test]
fn a_failed_roll_out_stays_failed_when_paused() {
    let failed = json!({"spec": {"paused": true}, "status": {"conditions": [
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]}});
    let run = run(&store(deployment(3, failed), [set("v1", 3, sized(3, 4))]));
    assert!(
        run.conditions()
            .contains(&"Progressing=False ProgressDeadlineExceeded".to_owned())
    );
}

#[test]
fn resuming_is_written_first_and_the_roll_out_goes_on_from_that_write() {
    let paused = json!({"status": {"replicas": 3, "readyReplicas": 3, "availableReplicas": 3,
        "conditions": [{"type": "Progressing", "status": "Unknown",
        "reason": "DeploymentPaused", "lastUpdateTime": ago(9000),
        "lastTransitionTime": ago(9000)}]}});
    let run = run(&store(deployment(3, paused), [set("v1", 3, sized(3, 4))]));
    assert_eq!(run.stage_names(), ["resume", "create", "status"]);
    let resumed = body(&run.stages[0].items[0]);
    assert_eq!(
        conditions_of(&resumed),
        ["Progressing=Unknown DeploymentResumed"]
    );
    assert_eq!(
        resumed["status"]["conditions"][0]["lastTransitionTime"],
        ago(9000)
    );
    assert_eq!(resumed["metadata"]["resourceVersion"], "7");
    // The second write is on top of the first.
    assert_eq!(run.status_body()["metadata"]["resourceVersion"], "100");
    assert!(
        run.conditions()
            .contains(&"Progressing=True NewReplicaSetCreated".to_owned())
    );
}

#[test]
fn an_unknown_strategy_fails_the_sync() {
    let change = json!({"spec": {"strategy": {"type": "BlueGreen"}}});
    let run = run(&store(deployment(3, change), [set("v2", 3, sized(3, 4))]));
    assert_eq!(
        run.failed_with(),
        Some("unexpected deployment strategy type: BlueGreen")
    );
}
